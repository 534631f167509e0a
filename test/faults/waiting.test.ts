// Clients that wait for documents, against the program as a process. While it is restarted and killed they miss
// nothing and handle nothing twice. The most waiting clients are cheap, and an answer follows a new document at once.

import assert from 'node:assert/strict'
import { Agent, type ClientRequest, get } from 'node:http'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { CREATE, fillDatabase, TOKENS } from '../support/directory.ts'
import { ownAddress, type Program, startProgram } from '../support/program.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { readMemory } from '../support/resources.ts'
import { SEED } from '../support/seed.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'
import { figure, PROGRAM, scaled } from './scale.ts'

const INTERLEAVINGS = scaled({ short: 4, long: 100 })
const ROUNDS = scaled({ short: 6, long: 101 })
const MAX_WAITS = 256
const MAX_MB = 13
const MAX_DELAY_MS = 50
const LIST = '/api/v1/documents'
const headers = { authorization: `Bearer ${TOKENS.all}` }
/** Runs the sources, so that a signal can collect garbage. */
const COLLECTING_PROGRAM: readonly [string, ...string[]] = [
  process.execPath,
  '--expose-gc',
  '--import',
  'data:text/javascript,process.on("SIGUSR2",()=>{gc();gc();console.log("collected")})',
  new URL('../support/cambista.ts', import.meta.url).pathname,
]

type RunningServer = { server: Program; url: string }
type Row = { id: number; agent_id: number; company_id: number }

async function serve(t: TestContext, dataDir: string, program = PROGRAM): Promise<RunningServer> {
  const address = ['--host', ownAddress(), '--port', '0']
  const flags = ['--data-dir', dataDir, ...address, '--no-scheduler', '--min-free', '0', '--metrics']
  const server = startProgram(t, ['serve', ...flags], {}, program)
  const [, url = ''] = await server.waitForOutput(/listening url=(\S+)/)
  return { server, url }
}

const PARTIES = [
  { company_id: 1, agent_id: 1, owner_id: 1 },
  { company_id: 2, agent_id: 3, owner_id: 2 },
] as const

/** Uploads `count` documents; throws if the connection breaks. */
async function upload(url: string, party: (typeof PARTIES)[number], count: number, key: string) {
  const documents = Array.from({ length: count }, () => ({
    ...{ name: 'a.txt', mimetype: 'text/plain', base64: 'aG9sYQ==' },
  }))
  const response = await fetch(url + CREATE, {
    method: 'POST',
    headers: { ...headers, 'idempotency-key': key },
    body: JSON.stringify({ ...party, documents }),
  })
  assert.equal(response.status, 200, await response.clone().text())
  return ((await response.json()) as { created_documents: { id: number }[] }).created_documents.map(
    ({ id }) => id,
  )
}

test(`${INTERLEAVINGS} random interleavings of uploads, waits, ends and kills: clients get each document once`, async (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const world = { ...(await serve(t, dataDir)), isOver: false, stored: [] as Row[] }
  const counts = { kills: 0, ends: 0, broken: 0, empty: 0 }
  const clients = [undefined, PARTIES[0], PARTIES[1]].map((party) => ({
    ...{ party, cursor: 0, handled: [] as number[] },
  }))
  const loops = clients.map(async (client) => {
    const filter = client.party
      ? `&company_id=${client.party.company_id}&agent_id=${client.party.agent_id}`
      : ''
    while (!world.isOver) {
      const query = `?after=${client.cursor}&limit=${random.int(1, 4)}&wait=${random.int(0, 1) * 50}${filter}`
      try {
        const response = await fetch(world.url + LIST + query, { headers })
        assert.equal(response.status, 200)
        const { documents, next_after } = (await response.json()) as { documents: Row[]; next_after: number }
        if (documents.length === 0) counts.empty++
        client.handled.push(...documents.map(({ id }) => id))
        client.cursor = next_after
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        counts.broken++ // the server has ended: the client repeats the query
      }
      await wait(random.int(0, 5))
    }
  })
  const uploads = uploadAndKill(t, dataDir, world, random, counts)
  await Promise.race([uploads, Promise.all(loops)]) // a loop ends first only on a failure
  const expectedIds = ({ party }: (typeof clients)[number]) =>
    world.stored.filter((row) => !party || row.agent_id === party.agent_id).map(({ id }) => id)
  await until(() => clients.every((client) => client.handled.length >= expectedIds(client).length)).catch(
    () => {},
  )
  world.isOver = true
  world.server.child.kill('SIGTERM')
  assert.equal(await world.server.waitForExit(), 0)
  await Promise.all(loops)
  for (const client of clients) assert.deepEqual(client.handled, expectedIds(client))
  figure(t, 'documents', world.stored.length)
  figure(t, 'counts', JSON.stringify(counts))
})

/** Uploads a few documents per interleaving, and ends or kills the server among them. */
async function uploadAndKill(
  t: TestContext,
  dataDir: string,
  world: RunningServer & { stored: Row[] },
  random: Random,
  counts: { kills: number; ends: number },
): Promise<void> {
  for (let at = 0; at < INTERLEAVINGS; at++) {
    for (let uploads = random.int(1, 4); uploads > 0; uploads--) {
      const party = PARTIES[random.int(0, 1)] ?? PARTIES[0]
      const [count, key] = [random.int(1, 3), `${at} ${uploads}`]
      const pendingUpload = upload(world.url, party, count, key).catch(() => undefined)
      const isLast = uploads === 1 && random.chance(0.8)
      if (isLast) {
        if (random.chance(0.5)) await pendingUpload
        else await wait(random.int(0, 20))
        const isKill = random.chance(0.5)
        counts[isKill ? 'kills' : 'ends']++
        world.server.child.kill(isKill ? 'SIGKILL' : 'SIGTERM')
        await world.server.waitForExit()
        Object.assign(world, await serve(t, dataDir))
      }
      // A broken upload is repeated under its key, as a good client does.
      const ids = (await pendingUpload) ?? (await upload(world.url, party, count, key))
      world.stored.push(...ids.map((id) => ({ id, ...party })))
      await wait(random.int(0, 10))
    }
  }
}

test(`${MAX_WAITS} waiting clients cost at most ${MAX_MB} MB, and the next one gets 503`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { server, url } = await serve(t, dataDir, COLLECTING_PROGRAM)
  const memory = async () => {
    const before = server.printed.out.split('collected').length
    server.child.kill('SIGUSR2')
    await until(() => server.printed.out.split('collected').length > before)
    return readMemory(server.child.pid) / 2 ** 20
  }
  await withWaits(url, 16, async () => {}) // the first requests load modules
  const before = await memory()
  const cost = await withWaits(url, MAX_WAITS, async () => {
    const rejection = await fetch(`${url}${LIST}?wait=50`, { headers })
    assert.deepEqual([rejection.status, rejection.headers.get('retry-after')], [503, '5'])
    return (await memory()) - before
  })
  figure(t, `memory of ${MAX_WAITS} waits, MB`, Math.round(cost * 10) / 10)
  assert.ok(cost <= MAX_MB, `${cost} MB`)
  await until(async () => (await countWaits(url)) === 0)
})

test(`a wait is answered within ${MAX_DELAY_MS} ms of the commit, beside 200 other waits`, async (t) => {
  const dataDir = temporaryDirectory(t)
  await fillDatabase(dataDir)
  const { url } = await serve(t, dataDir)
  const delays: number[] = []
  let after = (await upload(url, PARTIES[0], 1, 'first'))[0] ?? 0
  await withWaits(
    `${url}`,
    200,
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const openWaits = await countWaits(url)
        const answer = fetch(`${url}${LIST}?after=${after}&agent_id=1&wait=30`, { headers }).then(
          async (response) => {
            const { documents } = (await response.json()) as { documents: Row[] }
            return { at: performance.now(), ids: documents.map(({ id }) => id) }
          },
        )
        await until(async () => (await countWaits(url)) === openWaits + 1)
        const ids = await upload(url, PARTIES[0], 1, `round ${round}`)
        const acknowledged = performance.now() // the commit was before
        const { at, ids: answeredIds } = await answer
        assert.deepEqual(answeredIds, ids)
        delays.push(at - acknowledged)
        after = ids[0] ?? after
      }
    },
    '&agent_id=2',
  )
  const median = delays.sort((one, other) => one - other)[ROUNDS >> 1] ?? Number.NaN
  figure(t, 'median after the commit was acknowledged, ms', Math.round(median * 10) / 10)
  assert.ok(median < MAX_DELAY_MS, `${median} ms`)
})

async function countWaits(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^cambista_document_waits (\d+)$/m.exec(text)?.[1])
}

/** Calls `work` while `count` clients wait, each on its own connection; then disconnects them. */
async function withWaits<T>(url: string, count: number, work: () => Promise<T>, filter = ''): Promise<T> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const requests: ClientRequest[] = []
  for (let at = 0; at < count; at++) {
    const request = get(`${url}${LIST}?after=1&wait=50${filter}`, { headers, agent }, (res) => res.resume())
    request.on('error', () => {})
    requests.push(request)
  }
  await until(async () => (await countWaits(url)) === count)
  try {
    return await work()
  } finally {
    for (const request of requests) request.destroy()
    await until(async () => (await countWaits(url)) === 0)
    agent.destroy()
  }
}
