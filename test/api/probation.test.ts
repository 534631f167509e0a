// A server after an upgrade that is not confirmed yet: it reads, and writes nothing.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { sql } from 'kysely'
import { hashOfSecret } from '../../src/domain/access/secrets.ts'
import { startTestApp, type TestApp, temporaryDirectory } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, read, TOKENS } from '../support/directory.ts'
import { openTestDatabase, postgres } from '../support/temporary.ts'
import { until } from '../support/terminal.ts'

const PATH = '/api/v1/documents'
const RANGE = { from: '2026-03-20', to: '2026-03-24' } as const
const REFUSAL = /just upgraded and does not write yet: try again in a moment/
/** Operations of the API description that are no GET, and write nothing. */
const READING_POSTS = [
  'post /api/v1/agent/get_by_company',
  'post /api/v1/convert/batch',
  'post /mcp', // some of its tools write
  'post /session/code',
]
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const origin = ({ app }: TestApp) => ({
  origin: app.url,
  'content-type': 'application/json',
  'sec-fetch-site': 'same-origin',
})

type Claimed = { documents: { id: number; claim_id: string }[] }

test('on probation a server answers reads, and refuses each write until the upgrade is confirmed', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = await startTestApp(t, { dataDir })
  await fillDirectory(first)
  await first.sync(RANGE)
  await post(first, CREATE, batch(pdf('stored'), pdf('claimed'), pdf('unwanted')))
  const order = { agent_id: 1, limit: 1, lease_seconds: 3600 }
  const claims = await readJson<Claimed>(await post(first, `${PATH}/claim`, order, bearer(TOKENS.work)))
  const link = await makeLink(first)
  const sessionAnswer = await post(first, '/session', { secret: first.key }, origin(first))
  const session = {
    secret: /=([^;]+)/.exec(sessionAnswer.headers.get('set-cookie') ?? '')?.[1],
    page: (await readJson<{ page: string }>(sessionAnswer)).page,
  }
  await allowRetry(dataDir)
  await first.app.close()

  const confirmed = Promise.withResolvers<void>()
  const app = await startTestApp(t, { dataDir, probation: confirmed.promise, clock: first.clock })
  const ready = await fetch(`${app.app.url}/readyz`)
  assert.equal(ready.status, 200)
  assert.deepEqual(await ready.json(), {
    status: 'ok',
    detail: [
      'on probation after an upgrade, it only reads: it has read rates up to 2026-03-24 and document 3',
    ],
  })
  const rates = '/api/v1/convert?amount=100&from=USD&to=CRC'
  assert.equal((await app.get(rates)).status, 200)
  const batchOfRates = [{ amount: '1', from: 'USD', to: 'CRC' }]
  const converted = await fetch(`${app.app.url}/api/v1/convert/batch`, {
    method: 'POST',
    headers: { 'x-api-key': app.key, 'content-type': 'application/json' },
    body: JSON.stringify(batchOfRates),
  })
  assert.equal(converted.status, 200, await converted.clone().text())
  assert.equal(await (await read(app, `${PATH}/1/content`)).text(), 'stored')

  const before = await dump(dataDir)
  const cookie = {
    ...origin(app),
    cookie: `cambista-${new URL(app.app.url).port}=${session.secret}`,
    'x-cambista-page': session.page,
  }
  const work = bearer(TOKENS.work)
  const claim = { agent_id: 1, limit: 1, lease_seconds: 60 }
  const [{ id, claim_id } = assert.fail()] = claims.documents
  const claimPath = `${PATH}/${id}`
  const remove = (path: string, headers: Record<string, string>) =>
    fetch(app.app.url + path, { method: 'DELETE', headers })
  const writes: Record<string, () => Promise<Response>> = {
    'post /api/v1/documents/create': () => post(app, CREATE, batch(pdf('new')), { 'idempotency-key': 'one' }),
    'post /api/v1/documents': () =>
      post(app, `${PATH}?owner_id=1&company_id=1&agent_id=1&name=a.txt`, Buffer.from('raw'), {
        'content-type': 'text/plain',
      }),
    'post /api/v1/documents/claim': () => post(app, `${PATH}/claim`, claim, work),
    'post /api/v1/documents/{id}/extend': () =>
      post(app, `${claimPath}/extend`, { claim_id, lease_seconds: 90 }, work),
    'post /api/v1/documents/{id}/release': () => post(app, `${claimPath}/release`, { claim_id }, work),
    'post /api/v1/documents/{id}/finish': () =>
      post(app, `${claimPath}/finish`, { claim_id, outcome: 'done' }, work),
    'post /api/v1/documents/{id}/retry': () => post(app, `${claimPath}/retry`, '', bearer(TOKENS.remove)),
    'delete /api/v1/documents/{id}': () => remove(`${PATH}/3`, bearer(TOKENS.remove)),
    'post /session': () => post(app, '/session', { secret: app.key }, origin(app)),
    'post /session/ticket': () => post(app, '/session/ticket', { export: 'csv' }, cookie),
    'delete /session': () => remove('/session', cookie),
    'put /u/{link}': () =>
      fetch(app.app.url + link, { method: 'PUT', headers: { 'content-type': 'a/b' }, body: 'linked' }),
  }
  const operations = await readOperations(app)
  assert.deepEqual([...Object.keys(writes), ...READING_POSTS].sort(), operations)
  for (const [name, write] of Object.entries(writes)) {
    const answer = await write()
    const text = await answer.text()
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [503, '5'], `${name}: ${text}`)
    assert.match(text, REFUSAL, name)
  }
  const tools = {
    claim_documents: { agent_id: 1 },
    finish_document: { id, claim_id, outcome: 'done' },
    extend_document: { id, claim_id },
    release_document: { id, claim_id },
  }
  for (const [name, args] of Object.entries(tools))
    assert.match(await (await callTool(app, name, args, TOKENS.work)).text(), REFUSAL, name)
  for (const more of [{ text: 'a' }, { mimetype: 'a/b' }])
    assert.match(await (await callTool(app, 'upload_document', { ...FILE, ...more })).text(), REFUSAL)
  assert.deepEqual(await dump(dataDir), before)

  confirmed.resolve()
  await until(async () => (await writes['post /api/v1/documents/create']?.())?.status === 200)
  const after = await (await fetch(`${app.app.url}/readyz`)).json()
  assert.deepEqual(after, { status: 'ok' })
  const statuses: Record<string, number> = {}
  for (const [name, write] of Object.entries(writes)) statuses[name] = (await write()).status
  const ofClaim = '/api/v1/documents/{id}'
  const { [`post ${ofClaim}/finish`]: afterRelease, [`post ${ofClaim}/retry`]: ofNew, ...others } = statuses
  assert.deepEqual([afterRelease, ofNew], [409, 409], 'its claim is released before, and it is new')
  assert.ok(
    Object.values(others).every((status) => status < 300),
    JSON.stringify(others),
  )
})

const FILE = { company_id: 1, agent_id: 1, owner_id: 1, name: 'a' }

function callTool(app: TestApp, name: string, args: object, secret: string = TOKENS.all): Promise<Response> {
  return post(
    app,
    '/mcp',
    { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
    {
      ...bearer(secret),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
    },
  )
}

/** Makes a link for an upload, and returns its path. */
async function makeLink(app: TestApp): Promise<string> {
  const answer = await callTool(app, 'upload_document', { ...FILE, mimetype: 'a/b' })
  const { result } = await readJson<{ result: { structuredContent: { url: string } } }>(answer)
  return new URL(result.structuredContent.url).pathname
}

test('a server that is closed on probation has written nothing', async (t) => {
  const dataDir = temporaryDirectory(t)
  await (await startTestApp(t, { dataDir })).app.close()
  const app = await startTestApp(t, { dataDir, probation: new Promise(() => {}) })
  const before = await dump(dataDir)
  assert.equal((await app.get('/api/v1/series')).status, 200) // the use of the key is not stored
  await app.app.close()
  assert.deepEqual(await dump(dataDir), before)
  assert.doesNotMatch(app.logLines.join(''), /"level":"error"/)
})

async function readJson<T>(response: Response): Promise<T> {
  assert.ok(response.ok, `${response.status}`)
  return (await response.json()) as T
}

/** Returns the operations of the API description that are no GET. */
async function readOperations({ app }: TestApp): Promise<string[]> {
  const { paths } = await readJson<{ paths: Record<string, object> }>(await fetch(`${app.url}/openapi.json`))
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  return operations.filter((name) => /^(post|put|patch|delete) /.test(name)).sort()
}

/** Returns all rows of the database, and the names of the contents. */
async function dump(dataDir: string): Promise<unknown> {
  const db = openTestDatabase(dataDir)
  const tables = await db.introspection.getTables()
  const own = postgres && (await sql<{ name: string }>`select current_schema() as name`.execute(db)).rows[0]
  const rows: Record<string, unknown> = {}
  for (const { name } of tables.filter(({ schema }) => !own || schema === own.name)) // others have other tests
    rows[name] = await db
      .selectFrom(name as 'meta')
      .selectAll()
      .execute()
  await db.destroy()
  return { rows, files: readdirSync(join(dataDir, 'blobs'), { recursive: true }).sort() }
}

async function allowRetry(dataDir: string): Promise<void> {
  const db = openTestDatabase(dataDir)
  const allow = 'documents:DELETE documents:RETRY'
  await db.updateTable('tokens').set({ allow }).where('hash', '=', hashOfSecret(TOKENS.remove)).execute()
  await db.destroy()
}
