// Two nodes over one PostgreSQL and one blob folder. Each knows what the other one stored, and parallel requests to
// both take effect once.

import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { before, type TestContext, test } from 'node:test'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post, read } = await import('../support/directory.ts')
const { postgresAddress } = await import('../support/postgres/database.ts')
const { queryOnce: ask } = await import('../support/postgres/server.ts')
const { startProgram } = await import('../support/program.ts')
const { runCommand, until } = await import('../support/terminal.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')
const { scaled } = await import('../faults/scale.ts')
const { startBank } = await import('../../src/demo/bank.ts')
const { currentDay } = await import('../../src/values/dates.ts')

const NODE_SYNCS = scaled({ short: 10, long: 44 })
const COMMANDS = scaled({ short: 2, long: 6 })
const SYNCS = NODE_SYNCS + COMMANDS
/** Leases that outlast a stall of this process, in which both nodes and all their syncs run. */
const leaseTimes = { ttlMs: 600_000, renewMs: 5000 }
/** Errors of a slow database, after which a client repeats its attempt. */
const BUSY = /try again in a moment|cannot open the database/

type TestApp = Awaited<ReturnType<typeof startTestApp>>
type Created = { created_documents: { id: number }[] }

let nodes: [TestApp, TestApp]
/** The bank of commands has their clock: a run that reads another day at its bank ends with 3. */
let commandBank: Awaited<ReturnType<typeof startBank>>
before(async (t) => {
  commandBank = await startBank({ token: 'test-token', today: () => currentDay(() => new Date()) })
  ;(t as TestContext).after(() => commandBank.close())
  const dataDir = temporaryDirectory(t as TestContext)
  const start = () => startTestApp(t as TestContext, { dataDir, leaseTimes })
  nodes = (await Promise.all([start(), start()])) as [TestApp, TestApp]
  for (const node of nodes) {
    if (node === nodes[0]) await fillDirectory(node)
    else await until(async () => (await read(node, '/api/v1/documents')).status === 200)
  }
})

test('an Idempotency-Key at both nodes stores one document, with equal answers', async () => {
  for (let at = 0; at < 50; at++) {
    const headers = { 'idempotency-key': `key ${at}` }
    const answers = await Promise.all(
      nodes.map(async (node) => {
        const answer = await post(node, CREATE, batch(pdf(`content ${at}`)), headers)
        return [answer.status, await answer.text()]
      }),
    )
    assert.equal(answers[0]?.[0], 200, String(answers[0]?.[1]))
    assert.deepEqual(answers[0], answers[1])
  }
  assert.equal((await listIds(nodes[0], 0)).length, 50)
})

test('a reader of a company that pages beside uploads to both nodes misses nothing, and sees nothing twice', async () => {
  const [last = 0] = (await listIds(nodes[0], 0)).slice(-1)
  const createdIds: number[] = []
  let uploading = true
  const uploaders = Promise.all(
    Array.from({ length: 8 }, async (_, uploader) => {
      for (let at = 0; at < 15; at++) {
        const node = nodes[(uploader + at) % 2] ?? nodes[0]
        const answer = await post(
          node,
          CREATE,
          batch(pdf(`${uploader} ${at}`), pdf(`more ${uploader} ${at}`)),
        )
        assert.equal(answer.status, 200)
        createdIds.push(...((await answer.json()) as Created).created_documents.map(({ id }) => id))
      }
    }),
  ).finally(() => {
    uploading = false
  })
  const readIds: number[] = []
  const page = async () => {
    const ids = await listIds(nodes[readIds.length % 2] ?? nodes[0], readIds.at(-1) ?? last)
    readIds.push(...ids)
    return ids.length
  }
  while (uploading) await page()
  await uploaders
  while ((await page()) > 0);
  assert.deepEqual(
    readIds,
    createdIds.sort((one, other) => one - other),
  )
})

test('a commit of one node reaches the other, and an ETag has one text', async () => {
  const [one, other] = nodes
  const texts = new Map<string, string>()
  for (let day = 1; day <= 5; day++) {
    const range = { from: `2026-03-0${day}`, to: `2026-03-0${day}` }
    await one.sync(range)
    const path = `/api/v1/rates?date=2026-03-0${day}`
    await until(async () => {
      for (const node of nodes) {
        const answer = await node.get('/api/v1/series')
        const tag = answer.headers.get('etag') ?? ''
        const text = await answer.text()
        assert.equal(texts.get(tag) ?? text, text, 'one tag, two texts')
        texts.set(tag, text)
      }
      return (await one.get(path)).status === (await other.get(path)).status
    })
  }
  assert.ok(texts.size > 1)
})

test(`only one of ${SYNCS} parallel syncs of nodes and commands runs, and the errors of the others name it`, async (t) => {
  const openBank = closeBank()
  const range = { from: '2026-02-01', to: '2026-03-20' }
  const before = await countRuns()
  let ended = 0
  const count = async (sync: Promise<string | undefined>) => sync.finally(() => ended++)
  const ofNodes = Array.from({ length: NODE_SYNCS }, (_, at) => count(syncNode(at % 2, range)))
  // A command has the short lease of the program, and the others may take a minute to start. So a node runs.
  await until(async () => (await countRuns()) > before, 120_000)
  const ofCommands = Array.from({ length: COMMANDS }, () =>
    count(repeatWhileBusy(async () => (await startSync(t, range)).end())),
  )
  await until(() => ended === SYNCS - 1, 240_000).finally(openBank)
  const refusals = await Promise.all([...ofNodes, ...ofCommands])

  assert.equal(refusals.filter((refusal) => refusal === undefined).length, 1, String(refusals))
  const where = await describeHolder(process.pid)
  const naming = refusals.filter((refusal) => refusal?.includes(where))
  assert.equal(naming.length, SYNCS - 1, `${where}: ${refusals}`)
  await checkLastRun(range.from, before + 1)
})

test('a sync of the command line runs alone, and the errors of both nodes name its process', async (t) => {
  const openBank = closeBank()
  const range = { from: '2026-01-01', to: '2026-01-31' }
  const before = await countRuns()
  let pid = 0
  const run = repeatWhileBusy(async () => {
    const started = await startSync(t, range)
    pid = started.pid
    return started.end()
  })
  let hasEnded = false
  const end = run.finally(() => {
    hasEnded = true
  })
  await until(async () => hasEnded || (await countRuns()) > before, 240_000)
  const refusals = await Promise.all([syncNode(0, range), syncNode(1, range)]).finally(openBank)
  assert.equal(await end, undefined)
  const where = await describeHolder(pid)
  for (const text of refusals) assert.ok(text?.includes(where), `${where}: ${text}`)
  await checkLastRun(range.from, before + 1)
})

/** Delays the answers of all banks until the returned function is called. */
function closeBank(): () => void {
  const gate = Promise.withResolvers<undefined>()
  for (const bank of [commandBank, ...nodes.map((node) => node.bank)]) bank.faults = () => gate.promise
  return () => gate.resolve(undefined)
}

/** Syncs a node. Returns its error, or undefined after a run. */
function syncNode(at: number, range: { from: string; to: string }): Promise<string | undefined> {
  return repeatWhileBusy(async () => nodes[at]?.sync(range).then(() => undefined, String))
}

/** Starts `cambista sync`. `end` is its error, or undefined after a run. */
async function startSync(t: TestContext, { from, to }: { from: string; to: string }) {
  const [{ dataDir }] = nodes
  const env = {
    CAMBISTA_DATABASE: await postgresAddress(dataDir),
    ...{ CAMBISTA_BCCR_URL: commandBank.url, CAMBISTA_BCCR_TOKEN: 'test-token', CAMBISTA_BCCR_PACE: '0' },
    HOME: dataDir,
  }
  const { child, printed, waitForExit } = startProgram(t, ['sync', '--from', from, '--to', to], env)
  const end = waitForExit().then((code) => {
    assert.ok(code === 0 || code === 1, `it ended with ${code}: ${printed.out}${printed.err}`)
    return code === 0 ? undefined : printed.err
  })
  return { pid: child.pid ?? 0, end: () => end }
}

/** Repeats a sync as its error advises. Returns another error, or undefined after a run. */
async function repeatWhileBusy(sync: () => Promise<string | undefined>): Promise<string | undefined> {
  while (true) {
    const refusal = await sync()
    if (refusal === undefined || !BUSY.test(refusal)) return refusal
  }
}

/** Returns the text by which an error names the last process that took the lock of a sync. */
async function describeHolder(pid: number): Promise<string> {
  const [{ dataDir }] = nodes
  const [lease] = await ask(await postgresAddress(dataDir), `select taken_at from leases where name = 'sync'`)
  const since = `${new Date(Number(lease?.taken_at)).toISOString().slice(0, 19)}Z`
  return `a sync is already running on host ${hostname()}, pid ${pid}, since ${since}`
}

async function countRuns(): Promise<number> {
  const [{ dataDir }] = nodes
  const [row] = await ask(await postgresAddress(dataDir), 'select count(*)::int as runs from sync_runs')
  return Number(row?.runs)
}

async function checkLastRun(from: string, count: number): Promise<void> {
  const path = '/api/v1/sync/runs?limit=100'
  const runs = await nodes[0].json<{ status: string; date_from: string; message: string | null }[]>(path)
  assert.equal(runs.length, count)
  assert.deepEqual([runs[0]?.status, runs[0]?.date_from], ['ok', from], String(runs[0]?.message))
}

test('an id that was chosen is not given again', async () => {
  const [{ dataDir }] = nodes
  const create = async (...more: string[]) => {
    const end = await runCommand(['company', 'create', ...more, '--data-dir', dataDir, '--json'])
    assert.equal(end.code, 0, end.err)
    return (JSON.parse(end.out) as { id: number }).id
  }
  assert.equal(await create('--name', 'A', '--code', 'A', '--id', '900'), 900)
  assert.equal(await create('--name', 'B', '--code', 'B'), 901)
})

test('both are ready, and the documents of each are read from the other', async () => {
  for (const [at, node] of nodes.entries()) {
    assert.equal((await fetch(`${node.app.url}/readyz`)).status, 200)
    const reply = (await (await post(node, CREATE, batch(pdf(`of ${at}`)))).json()) as Created
    const content = await read(
      nodes[1 - at] ?? node,
      `/api/v1/documents/${reply.created_documents[0]?.id}/content`,
    )
    assert.equal(await content.text(), `of ${at}`)
  }
})

async function listIds(node: TestApp, after: number): Promise<number[]> {
  const answer = await read(node, `/api/v1/documents?company_id=1&after=${after}&limit=200`)
  const body = await answer.text()
  assert.equal(answer.status, 200, body)
  const page = JSON.parse(body) as { documents?: { id: number }[] } | { id: number }[]
  return (Array.isArray(page) ? page : (page.documents ?? [])).map(({ id }) => id)
}
