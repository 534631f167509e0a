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

const SYNCS = 50
const COMMANDS = 6 // the part of SYNCS that the command line runs

type TestApp = Awaited<ReturnType<typeof startTestApp>>
type Created = { created_documents: { id: number }[] }

let nodes: [TestApp, TestApp]
before(async (t) => {
  const dataDir = temporaryDirectory(t as TestContext)
  const start = () => startTestApp(t as TestContext, { dataDir })
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
  const [{ dataDir, bank }] = nodes
  const gate = Promise.withResolvers<undefined>()
  let ended = 0
  for (const node of nodes) node.bank.faults = () => gate.promise // the one that runs runs until all others ended
  const range = { from: '2026-02-01', to: '2026-03-20' }
  const env = {
    CAMBISTA_DATABASE: await postgresAddress(dataDir),
    ...{ CAMBISTA_BCCR_URL: bank.url, CAMBISTA_BCCR_TOKEN: 'test-token', CAMBISTA_BCCR_PACE: '0' },
    HOME: dataDir,
  }
  const before = await fetchRuns(nodes[0])
  const attempt = async (at: number): Promise<{ pid: number; refusal: string | undefined }> => {
    if (at < COMMANDS) {
      const { child, printed, waitForExit } = startProgram(
        t,
        ['sync', '--from', range.from, '--to', range.to],
        env,
      )
      const code = await waitForExit()
      assert.ok(code === 0 || code === 1, printed.err)
      return { pid: child.pid ?? 0, refusal: code === 0 ? undefined : printed.err }
    }
    const refused = (await nodes[at % 2]?.sync(range).then(() => undefined, String)) as string | undefined
    return { pid: process.pid, refusal: refused }
  }
  const attempts = Array.from({ length: SYNCS }, (_, at) => attempt(at).finally(() => ended++))
  await until(() => ended === SYNCS - 1, 120_000).finally(() => gate.resolve(undefined))
  const ends = await Promise.all(attempts)

  const ran = ends.filter(({ refusal }) => refusal === undefined)
  assert.equal(ran.length, 1)
  const [lease] = await ask(env.CAMBISTA_DATABASE, `select taken_at from leases where name = 'sync'`)
  const since = `${new Date(Number(lease?.taken_at)).toISOString().slice(0, 19)}Z`
  const where = `a sync is already running on host ${hostname()}, pid ${ran[0]?.pid}, since ${since}`
  const refused = ends.filter(({ refusal }) => refusal?.includes(where))
  assert.equal(refused.length, SYNCS - 1, `${where}: ${ends.map(({ refusal }) => refusal)}`)
  const runs = await fetchRuns(nodes[0])
  assert.equal(runs.length, before.length + 1)
  assert.deepEqual([runs[0]?.status, runs[0]?.date_from], ['ok', range.from])
})

async function fetchRuns(node: TestApp) {
  return node.json<{ status: string; date_from: string }[]>('/api/v1/sync/runs?limit=100')
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
