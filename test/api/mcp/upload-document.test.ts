// The tool `upload_document`: a short text is stored at once, and anything else by a PUT to a link. A link is valid for
// ten minutes and one document (decisions#mcp-uploads).

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { before, type TestContext, test } from 'node:test'
import type { Client } from '@modelcontextprotocol/client'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { revokeToken } from '../../../src/store/access/tokens.ts'
import { fixedClock, startTestApp, type TestApp } from '../../support/app.ts'
import { fillDirectory, post, read, TOKENS, tokenName } from '../../support/directory.ts'
import { openTestDatabase } from '../../support/temporary.ts'
import { until } from '../../support/terminal.ts'
import { callForError, callForValue, connect, type Json, listToolNames } from './support.ts'

const MINUTE = 60_000
const NOW = '2026-03-24T12:00:00.000Z'
const PARTIES = { company_id: 1, agent_id: 1, owner_id: 1 }
const FILE = { ...PARTIES, name: 'factura.pdf', mimetype: 'application/pdf' }

let app: TestApp
const clock = fixedClock(NOW)
before(async (t) => {
  app = await startTestApp(t as TestContext, { clock, limits: { maxBody: 4096 } })
  await fillDirectory(app)
})

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const open = (t: TestContext, secret: string = TOKENS.all) =>
  connect(t, 'modern', { app, headers: bearer(secret) })

type Link = { url: string; method: string; headers: Record<string, string>; max_bytes: number }
const makeLink = async (client: Client, more: Json = {}) =>
  (await callForValue(client, 'upload_document', { ...FILE, ...more })) as Link & { expires_at: string }

type Told = { status: number; body: { message?: string; total_created?: number; created_documents?: Row[] } }
type Row = { id: number; name: string }

async function put(
  { url, headers }: Pick<Link, 'url' | 'headers'>,
  body: string | Uint8Array,
  more: Record<string, string> = {},
): Promise<Told> {
  const response = await fetch(url, { method: 'PUT', headers: { ...headers, ...more }, body: body as string })
  assert.equal(response.headers.get('access-control-allow-origin'), null)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  return { status: response.status, body: (await response.json()) as Told['body'] }
}

async function countDocuments(): Promise<number> {
  const answer = await read(app, '/api/v1/documents?order=desc&limit=1')
  return ((await answer.json()) as { documents: Row[] }).documents[0]?.id ?? 0
}

/** Runs `work` and checks that no document was stored. */
async function withoutDocument(work: () => Promise<unknown>): Promise<void> {
  const before = await countDocuments()
  await work()
  assert.equal(await countDocuments(), before)
}

test('a token with documents:POST has the tool, within the size of its list', async (t) => {
  assert.ok((await listToolNames(await open(t))).includes('upload_document'))
  assert.ok(!(await listToolNames(await open(t, TOKENS.work))).includes('upload_document'))
})

test('a short text is stored at once, byte for byte', async (t) => {
  const client = await open(t)
  const text = 'línea 1\r\n"dos" \u{1f4c4}\n'
  const value = await callForValue(client, 'upload_document', { ...PARTIES, name: 'nota.txt', text })
  assert.deepEqual(value, {
    id: value.id,
    name: 'nota.txt',
    mimetype: 'text/plain; charset=utf-8',
    size: Buffer.byteLength(text),
  })
  const content = await read(app, `/api/v1/documents/${value.id}/content`)
  assert.equal(await content.text(), text)
  assert.equal(content.headers.get('content-type'), 'text/plain; charset=utf-8')
  const csv = { ...PARTIES, name: 'a.csv', mimetype: 'text/csv', text: 'a;b' }
  assert.equal((await callForValue(client, 'upload_document', csv)).mimetype, 'text/csv')
  const utf8 = { ...csv, mimetype: 'text/csv; charset=UTF-8' }
  assert.equal((await callForValue(client, 'upload_document', utf8)).mimetype, utf8.mimetype)
  const own = await callForValue(await open(t, TOKENS.ofAgent), 'upload_document', {
    ...{ owner_id: 1, name: 'nota.txt', text },
  })
  assert.equal(own.size, Buffer.byteLength(text), 'a token of one agent needs neither company nor agent')
})

test('a link stores one document of its name and type; the same bytes again are answered alike', async (t) => {
  const link = await makeLink(await open(t))
  const { url, ...rest } = link
  assert.match(url, new RegExp(`^${RegExp.escape(app.app.url)}/u/[\\w-]{32}$`))
  assert.deepEqual(rest, {
    method: 'PUT',
    headers: { 'content-type': 'application/pdf' },
    max_bytes: 4096,
    expires_at: new Date(Date.parse(NOW) + 10 * MINUTE).toISOString(),
  })
  const bytes = randomBytes(4096)
  const first = await put(link, bytes)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const [row] = first.body.created_documents ?? []
  assert.equal(row?.name, 'factura.pdf')
  const content = await read(app, `/api/v1/documents/${row?.id}/content`)
  assert.deepEqual(Buffer.from(await content.arrayBuffer()), bytes)
  assert.equal(content.headers.get('content-type'), 'application/pdf')
  await withoutDocument(async () => {
    assert.deepEqual(await put(link, bytes), first)
    const others = await put(link, 'other bytes')
    assert.deepEqual(
      [others.status, others.body.message],
      [409, 'The link was used for other bytes: request another'],
    )
  })
})

test('a link takes the headers of uploads, and no parameters', async (t) => {
  const link = await makeLink(await open(t))
  await withoutDocument(async () => {
    const { status, body } = await put({ ...link, url: `${link.url}?duplicates=refuse&priority=9` }, 'bytes')
    assert.equal(status, 422)
    assert.match(JSON.stringify(body), /there is no parameter duplicates.*there is no parameter priority/)
    const wrong = await put(link, 'bytes', { 'x-cambista-priority': 'zz' })
    assert.deepEqual(
      [wrong.status, wrong.body.message],
      [400, 'X-Cambista-Priority must be a digit from 0 to 9'],
    )
  })
  const answer = await put(link, 'bytes', { 'x-cambista-priority': '9' })
  const [row] = answer.body.created_documents ?? []
  const document = await (await read(app, `/api/v1/documents/${row?.id}`)).json()
  assert.equal((document as { priority: number }).priority, 9)
})

test('two equal uploads to a link at once store one document', async (t) => {
  const link = await makeLink(await open(t))
  const before = await countDocuments()
  const answers = await Promise.all(Array.from({ length: 4 }, () => put(link, 'the same')))
  assert.ok(answers.some(({ status }) => status === 200))
  for (const { status } of answers) assert.ok(status === 200 || status === 409, String(status))
  assert.equal(await countDocuments(), before + 1)
})

test('a link takes no other type, nothing longer or empty, and no compressed body; a later try is stored', async (t) => {
  const link = await makeLink(await open(t))
  await withoutDocument(async () => {
    const wrongType = await put({ ...link, headers: { 'content-type': 'image/png' } }, 'bytes')
    assert.deepEqual(
      [wrongType.status, wrongType.body.message],
      [415, 'Content-Type must be application/pdf, as the link was made for'],
    )
    assert.equal((await put(link, randomBytes(4097))).status, 413)
    assert.equal((await put(link, '')).status, 400)
    assert.equal((await put(link, 'bytes', { 'content-encoding': 'gzip' })).status, 415)
    assert.equal((await put(link, 'bytes', { 'content-digest': `sha-256=:${'A'.repeat(43)}=:` })).status, 400)
    assert.equal(await cutOff(link), 'cut')
  })
  // The server may not have noticed the disconnect yet: the link is in use.
  let last: Told | undefined
  await until(async () => {
    last = await put(link, 'bytes')
    return last.status !== 409
  })
  assert.equal(last?.status, 200)
})

test('a link ends after ten minutes, and with its token', async (t) => {
  const client = await open(t)
  const link = await makeLink(client)
  const usedLink = await makeLink(client)
  assert.equal((await put(usedLink, 'bytes')).status, 200)
  const start = clock.now.getTime()
  clock.now = new Date(start + 10 * MINUTE - 1)
  assert.equal((await put(usedLink, 'bytes')).status, 200)
  clock.now = new Date(start + 10 * MINUTE)
  await withoutDocument(async () => {
    for (const one of [link, usedLink]) assert.equal((await put(one, 'bytes')).status, 404)
  })
  const others = await makeLink(await open(t, TOKENS.upload))
  const db = openTestDatabase(app.dataDir)
  const { id } = await db
    .selectFrom('tokens')
    .select('id')
    .where('name', '=', tokenName(TOKENS.upload))
    .executeTakeFirstOrThrow()
  await revokeToken(db, id, clock.read().toISOString())
  await db.destroy()
  await withoutDocument(async () => {
    while ((await post(app, '/api/v1/documents/create', {}, bearer(TOKENS.upload))).status !== 401);
    const { status, body } = await put(others, 'bytes')
    assert.deepEqual([status, body.message], [404, 'The link has ended, or never was: request another'])
  })
})

test('a link works at a name of this server alone, with PUT alone, and for no website', async (t) => {
  const link = await makeLink(await open(t))
  await withoutDocument(async () => {
    assert.equal(await statusAtHost(link, 'rates.example.com'), 421)
    assert.equal((await put(link, 'bytes', { origin: 'https://a.example' })).status, 403)
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
      const { status, headers } = await fetch(link.url, { method })
      assert.deepEqual([status, headers.get('allow')], [405, 'PUT'], method)
    }
    assert.equal((await fetch(`${link.url}x`, { method: 'PUT', body: 'a' })).status, 404)
    assert.equal(
      (await fetch(`${app.app.url}/u/${'a'.repeat(32)}`, { method: 'PUT', body: 'a' })).status,
      404,
    )
  })
})

test('arguments that no document can have are refused before there is a link', async (t) => {
  const client = await open(t)
  const error = (more: Json) => callForError(client, 'upload_document', { ...FILE, ...more })
  assert.match(await error({ name: 'a\u0007b' }), /^name must not have control characters/)
  assert.match(await error({ mimetype: 'pdf' }), /^mimetype must be of the form type\/subtype/)
  assert.match(await error({ mimetype: null }), /^mimetype is required without text/)
  assert.match(await error({ company_id: null }), /^company_id is required/)
  assert.match(await error({ agent_id: null }), /^agent_id is required/)
  assert.match(await error({ agent_id: 2 }), /^Agent not found/)
  assert.equal(await error({ owner_id: 2 }), 'Owner not found. Ask for its id')
  const textError = (more: Json) => error({ text: 'café', mimetype: 'text/plain', ...more })
  assert.equal(await textError({ owner_id: 2 }), 'Owner not found. Ask for its id')
  assert.equal(await textError({ name: ' ' }), 'name must not be blank. Correct it and call again')
  assert.match(await textError({ mimetype: 'pdf' }), /^mimetype must be of the form type\/subtype/)
  const charset = 'mimetype must have the charset utf-8 or none, because text is stored as UTF-8'
  for (const mimetype of ['text/plain; charset=iso-8859-1', 'text/csv;Charset="windows-1252"'])
    assert.equal(await textError({ mimetype }), `${charset}. Correct it and call again`)
  assert.match(await error({ text: '' }), /^text must be 1 to 32768 bytes/)
  assert.match(await error({ text: 'ñ'.repeat(16_385) }), /^text must be 1 to 32768 bytes/)
  const ofAgent = await open(t, TOKENS.ofAgent)
  const foreign = { ...FILE, company_id: 2, agent_id: 3, owner_id: 2 }
  assert.match(await callForError(ofAgent, 'upload_document', foreign), /not found/)
})

test('the log has the name of the token and neither the link nor its secret', async (t) => {
  const { url, ...link } = await makeLink(await open(t))
  const secret = url.split('/').at(-1) ?? ''
  const isLogged = (line: string) => line.includes('/u/{link}') && line.includes(tokenName(TOKENS.all))
  const before = app.logLines.length
  await put({ ...link, url }, 'bytes')
  await until(async () => app.logLines.slice(before).some(isLogged))
  assert.ok(!app.logLines.join('\n').includes(secret))
  const db = openTestDatabase(app.dataDir)
  const rows = await db.selectFrom('upload_links').selectAll().execute()
  await db.destroy()
  assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(secret))
})

/** Sends half of a body and disconnects. */
function cutOff({ url, headers }: Pick<Link, 'url' | 'headers'>): Promise<'cut'> {
  const { hostname, port, pathname } = new URL(url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const head = [`PUT ${pathname} HTTP/1.1`, `host: ${hostname}:${port}`, 'content-length: 100', ...lines]
  return new Promise((resolve) => {
    const socket = connectSocket(Number(port), hostname, () => {
      socket.write(`${head.join('\r\n')}\r\n\r\nhalf`, () => socket.destroy())
    })
    socket.on('close', () => resolve('cut'))
  })
}

function statusAtHost({ url, headers }: Pick<Link, 'url' | 'headers'>, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const client = request(url, { method: 'PUT', headers: { ...headers, host } }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    client.on('error', reject)
    client.end('bytes')
  })
}

test('a link has the path of X-Forwarded-Prefix of a trusted proxy, else none', async (t) => {
  const start = async (listen: Parameters<typeof startTestApp>[1] & object) => {
    const one = await startTestApp(t, { clock, ...listen })
    await fillDirectory(one)
    return async (headers: Record<string, string>) => {
      const client = await connect(t, 'modern', { app: one, headers: { ...bearer(TOKENS.all), ...headers } })
      return (await makeLink(client)).url.replace(one.app.url, '').replace(/[^/]*$/, '')
    }
  }
  const proxies = parseNetworks('127.0.0.1/32')
  const trusting = await start({ listen: { proxies } })
  const longest = `/${'p'.repeat(99)}`
  for (const [prefix, path] of [
    ['/cambista', '/cambista/u/'],
    ['/a/b/', '/a/b/u/'],
    ['/', '/u/'],
    [longest, `${longest}/u/`],
    [`${longest}p`, '/u/'],
    ['cambista', '/u/'],
    ['//evil.example', '/u/'],
    ['/a/../b', '/u/'],
    ['/a b', '/u/'],
    ['/a?b', '/u/'],
    ['/a%2fb', '/u/'],
    ['/a, /b', '/u/'],
  ] as const) {
    assert.equal(await trusting({ 'x-forwarded-prefix': prefix }), path, prefix)
  }
  const forwarded = {
    ...{ 'x-forwarded-prefix': '/cambista', 'x-forwarded-proto': 'https' },
    'x-forwarded-host': 'localhost:8443',
  }
  assert.equal(await trusting(forwarded), 'https://localhost:8443/cambista/u/')
  const untrusting = await start({})
  assert.equal(await untrusting({ 'x-forwarded-prefix': '/cambista' }), '/u/')
  const withUrl = await start({ listen: { proxies, publicUrl: 'https://example.com/rates/' } })
  assert.equal(await withUrl(forwarded), 'https://example.com/rates/u/')
})
