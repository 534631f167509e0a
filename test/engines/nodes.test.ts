// Two nodes over one PostgreSQL and one folder of contents: what one of them was told, the other one knows, and what both
// are told at once happens once. Where one process was right because it was alone, these are the tests.

import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp } = await import('../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post, read } = await import('../support/directory.ts')
const { runCommand, until } = await import('../support/terminal.ts')
const { temporaryDirectory } = await import('../support/temporary.ts')

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

test('one Idempotency-Key that both get at once is kept once, and both answer alike', async () => {
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
  assert.equal((await idsAfter(nodes[0], 0)).length, 50)
})

test('a reader of a company that pages beside uploads to both nodes misses nothing, and sees nothing twice', async () => {
  const [last = 0] = (await idsAfter(nodes[0], 0)).slice(-1)
  const made: number[] = []
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
        made.push(...((await answer.json()) as Created).created_documents.map(({ id }) => id))
      }
    }),
  ).finally(() => {
    uploading = false
  })
  const seen: number[] = []
  const page = async () => {
    const found = await idsAfter(nodes[seen.length % 2] ?? nodes[0], seen.at(-1) ?? last)
    seen.push(...found)
    return found.length
  }
  while (uploading) await page()
  await uploaders
  while ((await page()) > 0);
  assert.deepEqual(
    seen,
    made.sort((one, other) => one - other),
  )
})

test('what one node commits the other one answers with within seconds, and a tag is that of one text', async () => {
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

test('of many syncs at once on two nodes one runs, and the others are told where', async () => {
  const ends = await Promise.allSettled(
    Array.from({ length: 50 }, (_, at) =>
      (nodes[at % 2] ?? nodes[0]).sync({ from: '2026-02-01', to: '2026-03-20' }),
    ),
  )
  const refused = ends.filter((end) => end.status === 'rejected')
  assert.ok(refused.length > 0 && refused.length < 50)
  for (const { reason } of refused) assert.match(String(reason), /already running on (host .+, pid|a node)/)
  const runs = await nodes[0].json<{ started_at: string; finished_at: string }[]>(
    '/api/v1/sync/runs?limit=100',
  )
  assert.ok(runs.every(({ finished_at }) => finished_at !== null))
})

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
    const made = (await (await post(node, CREATE, batch(pdf(`of ${at}`)))).json()) as Created
    const content = await read(
      nodes[1 - at] ?? node,
      `/api/v1/documents/${made.created_documents[0]?.id}/content`,
    )
    assert.equal(await content.text(), `of ${at}`)
  }
})

async function idsAfter(node: TestApp, after: number): Promise<number[]> {
  const answer = await read(node, `/api/v1/documents?company_id=1&after=${after}&limit=200`)
  const body = await answer.text()
  assert.equal(answer.status, 200, body)
  const parsed = JSON.parse(body) as { documents?: { id: number }[] } | { id: number }[]
  return (Array.isArray(parsed) ? parsed : (parsed.documents ?? [])).map(({ id }) => id)
}
