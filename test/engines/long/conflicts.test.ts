// A database with serializable transactions that aborts a tenth of all statements as conflicts. Clients get no error,
// and nothing is lost or duplicated.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startProxy } from '../../support/postgres/proxy.ts'

process.env.CAMBISTA_TEST_ENGINE = 'postgres' // before the modules that look at it are loaded
const { startTestApp, temporaryDirectory } = await import('../../support/app.ts')
const { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } = await import('../../support/directory.ts')
const { startReceiver } = await import('../../support/hooks/receiver.ts')
const { postgresAddress } = await import('../../support/postgres/database.ts')
const { runJson } = await import('../../support/company.ts')
const { until } = await import('../../support/terminal.ts')
const { connect } = await import('../../api/mcp/support.ts')
const { signIn } = await import('../../api/web/support.ts')

type TestApp = Awaited<ReturnType<typeof startTestApp>>
type Created = { created_documents: { id: number }[] }
type Claimed = { id: number; claim_id: string }

const SERIALIZABLE = '%20-c%20default_transaction_isolation%3Dserializable'
const RATES = [
  '/api/v1/rates/latest',
  '/api/v1/rates/latest?as_of=2026-03-24T12:00:01Z',
  '/api/v1/convert?amount=1&from=EUR&to=CRC',
  '/api/v1/series/1/history',
  '/api/v1/export.csv',
  '/api/v1/revisions',
  '/api/v1/sync/runs',
  '/api/v1/scheduler',
  '/api/v1/status',
  '/api/v1/health',
]
const OF_DOCUMENTS = ['/api/v1/documents', '/api/v1/companies', '/api/v1/documents?state=done']
let busy = 0

test('each route retries conflicts of the database, and takes effect once', async (t) => {
  const { app, conflicts } = await startWithConflicts(t)
  const receiver = await startReceiver(t)
  await runJson(
    app.dataDir,
    'hook',
    'create',
    '--url',
    receiver.url,
    '--event',
    'document.created,rates.published',
  )
  const before = conflicts()
  const sync = app.sync({ from: '2026-02-01', to: '2026-03-24' })

  const ids: number[] = []
  await Promise.all(
    Array.from({ length: 4 }, async (_, uploader) => {
      for (let at = 0; at < 8; at++) {
        const headers = { 'idempotency-key': `${uploader} ${at}` }
        const answer = await requestUntilOk(() =>
          post(app, CREATE, batch(pdf(`a ${uploader} ${at}`), pdf('b')), headers),
        )
        ids.push(...((await answer.json()) as Created).created_documents.map(({ id }) => id))
      }
    }),
  )
  const { run } = await sync
  // A window is one transaction of many statements: a run that could not store one reports it, and is repeated.
  if (run.status !== 'ok') assert.match(run.message ?? '', /The database is in use/)
  const url = `/api/v1/documents?company_id=1&agent_id=1&owner_id=1&name=x.txt`
  await requestUntilOk(() => post(app, url, 'as it is', { 'content-type': 'text/plain' }))

  const finished: number[] = []
  await Promise.all(
    [TOKENS.work, TOKENS.other].map(async (secret) => {
      const headers = { authorization: `Bearer ${secret}` }
      while (finished.length < ids.length + 1) {
        const claim = { agent_id: 1, limit: 9, lease_seconds: 600 }
        const answer = await requestUntilOk(() => post(app, '/api/v1/documents/claim', claim, headers))
        const { documents } = (await answer.json()) as { documents: Claimed[] }
        for (const [at, { id, claim_id }] of documents.entries()) {
          const work = (what: string, more: object = {}) =>
            requestUntilOk(() => post(app, `/api/v1/documents/${id}/${what}`, { claim_id, ...more }, headers))
          if (at === 0) await work('extend', { lease_seconds: 700 })
          if (at === 8) await work('release')
          else {
            await work('finish', { outcome: 'done' })
            finished.push(id)
          }
        }
      }
    }),
  )
  assert.equal(new Set(finished).size, ids.length + 1, 'each is finished once')

  app.clock.now = new Date(app.clock.now.getTime() + 1000) // as_of is after the commits of the sync
  for (const path of RATES) await requestUntilOk(() => app.get(path))
  for (const path of OF_DOCUMENTS) await requestUntilOk(() => read(app, path))
  const [first = 0, second = 0] = ids
  await requestUntilOk(() => read(app, `/api/v1/documents/${first}/content`))
  const remove = { method: 'DELETE', headers: { authorization: `Bearer ${TOKENS.remove}` } }
  await requestUntilOk(() => fetch(`${app.app.url}/api/v1/documents/${second}`, remove))

  const client = await connect(t, 'modern', {
    app,
    headers: { 'x-api-key': app.key, authorization: `Bearer ${TOKENS.ofAgent}` },
  })
  for (const [name, args] of [
    ['get_rate', { base: 'USD', quote: 'CRC' }],
    ['freshness', {}],
    ['list_documents', {}],
    ['read_document', { id: first }],
    ['claim_documents', { agent_id: 1 }],
  ] as const) {
    const { isError, content } = await client.callTool({ name, arguments: args })
    assert.ok(!isError, `${name}: ${JSON.stringify(content)}`)
  }
  const browser = await signIn(app.app.url, app.key)
  for (const path of ['/session', '/api/v1/rates/latest']) {
    const { status, body } = await browser.ask(path)
    assert.equal(status, 200, `${path}: ${body}`)
  }
  assert.equal((await fetch(`${app.app.url}/metrics`)).status, 200)
  assert.equal((await fetch(`${app.app.url}/readyz`)).status, 200)

  const reportedIds = () =>
    receiver.received.flatMap(({ body }) => (body.data as { document_ids?: number[] }).document_ids ?? [])
  await until(() => new Set(reportedIds()).size === ids.length + 1)
  const storedIds = await listIds(app)
  assert.deepEqual(
    storedIds,
    [...new Set(finished)].filter((id) => id !== second).sort((a, b) => a - b),
  )
  t.diagnostic(`${conflicts() - before} statements were given up; ${busy} answers were busy`)
  assert.ok(conflicts() - before > 100)
  const failureLines = app.logLines
    .join('')
    .split('\n')
    .filter((line) => /"event":"(request failed|response failed)"/.test(line))
  assert.deepEqual(failureLines, [])
})

async function startWithConflicts(t: TestContext): Promise<{ app: TestApp; conflicts: () => number }> {
  const dataDir = temporaryDirectory(t)
  const proxy = await startProxy(t, await postgresAddress(dataDir))
  const app = await startTestApp(t, {
    dataDir,
    database: `${proxy.url}${SERIALIZABLE}`,
    listen: { metrics: 'local' },
  })
  await fillDirectory(app)
  await app.sync({ from: '2026-03-01', to: '2026-03-24' })
  // Random, since every tenth statement would hit each transaction of ten statements or more.
  let random = 17
  let conflicts = 0
  proxy.decide((text) => {
    if (text === 'rollback' || text.startsWith('show ')) return 'pass'
    random = (random * 16_807) % 2_147_483_647
    if (random % 10 !== 0) return 'pass'
    conflicts += 1
    return 'conflict'
  })
  return { app, conflicts: () => conflicts }
}

/** Repeats a request that is busy after five seconds, as `Retry-After` requires. */
async function requestUntilOk(ask: () => Promise<Response>): Promise<Response> {
  for (let tries = 0; ; tries++) {
    const answer = await ask()
    if (answer.status === 200) return answer
    const body = await answer.text()
    assert.ok(answer.status === 503 && tries < 5, `${answer.url}: ${answer.status} ${body}`)
    assert.ok(answer.headers.get('retry-after'), body)
    busy += 1
  }
}

async function listIds(app: TestApp): Promise<number[]> {
  const answer = await requestUntilOk(() => read(app, '/api/v1/documents?limit=200'))
  const { documents } = (await answer.json()) as { documents: { id: number }[] }
  return documents.map(({ id }) => id).sort((a, b) => a - b)
}
