// Credentials over MCP: keys and tokens in either header, their permissions together, and origins of
// requests.

import assert from 'node:assert/strict'
import { request } from 'node:http'
import { before, type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { startTestApp, type TestApp } from '../../support/app.ts'
import { fillDirectory, TOKENS } from '../../support/directory.ts'
import { asOtherProcess } from '../support.ts'
import {
  connect,
  type Json,
  legacy,
  listToolNames,
  modern,
  RATE_TOOLS,
  READ_TOOLS,
  send,
  WAIT_TOOLS,
} from './support.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext, {
    listen: { hostNames: ['rates.example.com'], corsOrigins: ['https://erp.example.com'] },
  })
  await fillDirectory(app)
  await asOtherProcess(app, async (db) => {
    const creationTime = '2026-03-01T00:00:00.000Z'
    const add = (name: string, kind: 'url' | 'bank') =>
      insertApiKey(db, {
        name,
        kind,
        hash: hashOfSecret(`cbk_${name}`),
        createdAt: creationTime,
        network: '127.0.0.0/8',
      })
    await add('url', 'url')
    await add('bank', 'bank')
  })
})

const LIST = legacy('tools/list')

/** A POST of tools/list with `headers` alone: `fetch` cannot set Host. */
function ask(headers: Record<string, string>, { method = 'POST', path = '/mcp' } = {}) {
  return new Promise<{ status: number; headers: NodeJS.Dict<string | string[]>; body: Json }>(
    (resolve, reject) => {
      const body = JSON.stringify(LIST)
      const outgoing = request(`${app.app.url}${path}`, { method, agent: false, headers }, (answer) => {
        let text = ''
        answer.on('data', (data) => {
          text += data
        })
        answer.on('end', () => {
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: text ? JSON.parse(text) : {},
          })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(method === 'POST' ? body : undefined)
    },
  )
}

const json = { 'content-type': 'application/json' }

test('a key and a token open their own tools, in either header, and together all of them', async (t) => {
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
  const documents = [...READ_TOOLS, ...WAIT_TOOLS]
  const cases: [Record<string, string>, string[]][] = [
    [{ 'x-api-key': app.key }, RATE_TOOLS],
    [bearer(app.key), RATE_TOOLS],
    [bearer(TOKENS.read), documents],
    [{ 'x-api-key': TOKENS.read }, documents],
    [{ ...bearer(TOKENS.read), 'x-api-key': app.key }, [...RATE_TOOLS, ...documents]],
    [{ ...bearer(app.key), 'x-api-key': TOKENS.read }, [...RATE_TOOLS, ...documents]],
  ]
  for (const [headers, tools] of cases) {
    assert.deepEqual(await listToolNames(await connect(t, 'modern', { app, headers })), tools)
    assert.deepEqual(await listToolNames(await connect(t, 'legacy', { app, headers })), tools)
  }
})

test('the list of all tools is at most 20 KB, and that of a token alone 9 KB', async () => {
  const limits: [Record<string, string>, number][] = [
    [{ 'x-api-key': app.key, authorization: `Bearer ${TOKENS.work}` }, 20 * 1024],
    [{ 'x-api-key': TOKENS.work }, 9 * 1024],
  ]
  for (const [headers, limit] of limits) {
    const { text, body } = await send(app, LIST, headers)
    assert.ok(body.result.tools.length > 0)
    assert.ok(Buffer.byteLength(text) <= limit, `${Buffer.byteLength(text)} bytes`)
  }
})

test('a tool without permission is rejected like an unknown one', async () => {
  const calls = [
    modern('tools/call', { name: 'read_document', arguments: { id: 1 } }),
    modern('tools/call', { name: 'no' }),
  ]
  const [hidden, unknown] = await Promise.all(calls.map(([body, headers]) => send(app, body, headers)))
  assert.deepEqual([hidden?.status, hidden?.body.error.code], [200, -32602])
  assert.equal(hidden?.body.error.message.replace('read_document', 'no'), unknown?.body.error.message)
})

test('without a valid secret the answer is a 401 that names Bearer and no sign-in', async () => {
  const secrets: Record<string, string>[] = [
    {},
    { 'x-api-key': 'cbk_wrong' },
    { authorization: 'Bearer cbt_wrong' },
    { authorization: 'Basic YTpi' },
    { authorization: app.key },
    { authorization: `Bearer ${TOKENS.revoked}` },
    { authorization: `Bearer ${TOKENS.expired}` },
    { 'x-api-key': app.key, authorization: 'Bearer cbt_wrong' },
    { 'x-api-key': 'cbk_wrong', authorization: `Bearer ${TOKENS.read}` },
    { 'x-api-key': 'cbk_url' },
    { authorization: 'Bearer cbk_bank' },
    { 'x-api-key': '' },
  ]
  for (const headers of secrets) {
    const { status, headers: responseHeaders, body } = await ask({ ...json, ...headers })
    assert.deepEqual([status, responseHeaders['www-authenticate']], [401, 'Bearer'], JSON.stringify(headers))
    assert.deepEqual([body.jsonrpc, body.id, body.error.code], ['2.0', null, 401])
  }
  for (const path of [`/mcp?key=cbk_url`, `/mcp?api_key=${app.key}`, `/mcp?access_key=${app.key}`]) {
    assert.equal((await ask(json, { path })).status, 401)
  }
  const metadata = await fetch(`${app.app.url}/.well-known/oauth-protected-resource`)
  assert.equal(metadata.status, 404)
})

test('a secret is never logged, its name always', async () => {
  await send(app, LIST)
  await send(app, LIST, { 'x-api-key': TOKENS.read })
  const lines = app.logLines.filter((line) => line.includes('"/mcp"'))
  assert.ok(lines.some((line) => line.includes('"token":"test-read"')))
  assert.ok(!lines.some((line) => line.includes(app.key) || line.includes(TOKENS.read)))
})

test('another host is a 421, another origin a 403, with any credentials', async () => {
  const key = { ...json, 'x-api-key': app.key }
  const { host, port } = new URL(app.app.url)
  for (const own of [host, `localhost:${port}`, `rates.example.com:${port}`, '[::1]']) {
    assert.equal((await ask({ ...key, host: own })).status, 200, own)
  }
  for (const foreign of ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', 'a b']) {
    const { status, headers } = await ask({ ...key, host: foreign })
    assert.deepEqual([status, headers['access-control-allow-origin']], [421, undefined], foreign)
  }
  const origins = ['https://evil.example', 'null', 'https://erp.example.com', 'http://localhost:1', 'file://']
  for (const origin of origins) {
    const { status, headers } = await ask({ ...key, host, origin })
    assert.deepEqual([status, headers['access-control-allow-origin']], [403, undefined], origin)
  }
  assert.equal((await ask({ ...key, host, 'sec-fetch-site': 'cross-site' })).status, 403)
  assert.equal((await ask({ ...key, host, origin: `http://${host}` })).status, 200)
  const preflight = await ask({ origin: 'https://erp.example.com', host }, { method: 'OPTIONS' })
  assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [403, undefined])
})

test('GET and DELETE are a 405, with a valid key', async () => {
  for (const path of ['/mcp', '/mcp/']) {
    for (const method of ['GET', 'DELETE', 'PUT', 'HEAD']) {
      const key = { 'x-api-key': app.key, accept: 'text/event-stream' }
      const { status, headers } = await ask(key, { method, path })
      assert.deepEqual([status, headers.allow], [405, 'POST'], method)
      assert.equal((await ask({}, { method, path })).status, 401)
    }
  }
})

test('`/mcp/` answers as `/mcp`, and no path below it is served', async () => {
  const key = { ...json, 'x-api-key': app.key }
  const { body } = await ask(key)
  for (const path of ['/mcp/', '/mcp/?a=1', '/%6dcp/']) {
    assert.deepEqual((await ask(key, { path })).body, body, path)
    assert.equal((await ask(json, { path })).status, 401)
    assert.equal((await ask({ ...key, host: 'evil.example.com' }, { path })).status, 421)
    assert.equal((await ask({ ...key, origin: 'https://erp.example.com' }, { path })).status, 403)
  }
  for (const path of ['/mcp//', '/mcp/a', '/mcp/a/']) {
    assert.equal((await ask(key, { path })).status, 404, path)
  }
})

test('a session of the page does not open MCP', async () => {
  assert.equal((await ask({ ...json, 'x-cambista-page': 'x', cookie: 'cambista=x' })).status, 401)
})

test('an extra address for compat APIs does not serve MCP', async (t) => {
  const other = await startTestApp(t, {
    listen: {
      also: [{ scheme: 'http', host: '127.0.0.1', port: 0 }],
      compat: { open: undefined, serveRounded: false },
    },
  })
  const [also = ''] = other.app.alsoUrls
  const headers = { ...json, 'x-api-key': other.key }
  const listTools = (url: string) =>
    fetch(`${url}/mcp`, { method: 'POST', headers, body: JSON.stringify(LIST) })
  assert.deepEqual([(await listTools(other.app.url)).status, (await listTools(also)).status], [200, 404])
  assert.equal((await listTools(also)).status, 404)
})
