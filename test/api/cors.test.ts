// Websites in a browser: none may read an answer, unless the administrator names their origin.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { originsFault } from '../../src/http/endpoint/cors.ts'
import { runJson } from '../support/company.ts'
import { type Answer, CACHED, ENDPOINTS, OPEN, openApp, send } from './support.ts'

const ERP = 'https://erp.example.com'
const OTHER = 'https://evil.example.com'
const off = await openApp()
const some = await openApp({ listen: { corsOrigins: [ERP, 'http://localhost:5173'] } })
const any = await openApp({ listen: { corsOrigins: ['*'] } })
await some.sync()

const LATEST = '/api/v1/rates/latest?base=USD&quote=CRC'
const DOCUMENTS = ['/api/v1/documents/create', '/api/v1/agent/get_by_company', '/api/v1/documents/1/content']
const KNOWN = [...ENDPOINTS, ...OPEN, ...DOCUMENTS]
const PREFLIGHT = { 'Access-Control-Request-Method': 'GET', 'Access-Control-Request-Headers': 'x-api-key' }

type Where = typeof some
type Described = {
  paths: Record<string, Record<string, { parameters: { name: string; in: string }[] }>>
  components: { headers: Record<string, unknown> }
}
const ask = ({ app, key }: Where, path: string, origin?: string, more: Record<string, string> = {}) =>
  send(app.url + path, { headers: { 'X-API-Key': key, ...(origin && { Origin: origin }), ...more } })
const preflight = ({ app }: Where, path: string, origin: string) =>
  send(app.url + path, { method: 'OPTIONS', headers: { Origin: origin, ...PREFLIGHT } })
const corsHeaders = ({ headers }: Answer) =>
  Object.keys(headers).filter((name) => name.startsWith('access-control'))
const allowedOrigin = ({ headers }: Answer) => headers['access-control-allow-origin']

test('without CORS settings no answer mentions origins, and a preflight is a 401 or 405', async () => {
  for (const path of KNOWN) {
    const answer = await ask(off, path, ERP)
    assert.deepEqual(corsHeaders(answer), [], path)
    assert.doesNotMatch(answer.headers.vary ?? '', /origin/i)
    const response = await preflight(off, path, ERP)
    assert.ok([401, 405].includes(response.status), path)
    assert.deepEqual(corsHeaders(response), [], path)
  }
})

test('a named origin may read every answer, errors and 304 among them', async () => {
  const etag = String((await ask(some, '/api/v1/rates')).headers.etag)
  const answers: [status: number, answer: Answer][] = [
    [200, await ask(some, '/api/v1/rates', ERP)],
    [200, await ask(some, '/api/v1/rates', 'http://localhost:5173')],
    [304, await ask(some, '/api/v1/rates', ERP, { 'If-None-Match': etag })],
    [401, await ask(some, '/api/v1/rates', ERP, { 'X-API-Key': 'x' })],
    [401, await ask(some, '/api/v1/documents', ERP)],
    [404, await ask(some, '/nothing', ERP)],
    [404, await ask(some, '/%zz', ERP)],
    [422, await ask(some, '/api/v1/rates?on=x', ERP)],
    [405, await send(`${some.app.url}/healthz`, { method: 'DELETE', headers: { Origin: ERP } })],
  ]
  for (const [status, answer] of answers) {
    assert.equal(answer.status, status)
    assert.ok([ERP, 'http://localhost:5173'].includes(String(allowedOrigin(answer))), String(status))
    assert.match(String(answer.headers.vary), /\bOrigin\b/)
    const exposed = String(answer.headers['access-control-expose-headers'])
    for (const name of ['ETag', 'X-Request-Id', 'Content-Disposition'])
      assert.ok(exposed.includes(name), name)
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
  }
})

for (const origin of [
  OTHER,
  undefined,
  'null',
  `${ERP}:8443`,
  `${ERP}.evil.com`,
  'http://erp.example.com',
  '*',
  '',
]) {
  test(`the origin ${origin} gets the plain answer, with Vary: Origin`, async () => {
    for (const path of ['/api/v1/rates', '/healthz', '/nothing', '/api/v1/rates?on=x']) {
      const answer = await ask(some, path, origin)
      assert.equal(answer.status, (await ask(off, path)).status)
      assert.deepEqual(corsHeaders(answer), [], path)
      assert.match(String(answer.headers.vary), /\bOrigin\b/, path)
    }
  })
}

test('Vary has Origin beside the other headers', async () => {
  for (const path of CACHED) {
    assert.equal((await ask(some, path, ERP)).headers.vary, 'Accept, Accept-Encoding, Origin', path)
    assert.equal((await ask(any, '/api/v1/providers', ERP)).headers.vary, 'Accept, Accept-Encoding')
  }
})

test('the preflight of a named origin is answered on every known path, without a key', async () => {
  for (const path of KNOWN) {
    const answer = await preflight(some, path, ERP)
    assert.equal(answer.status, 204, path)
    assert.equal(answer.body, '')
    assert.equal(allowedOrigin(answer), ERP)
    assert.equal(answer.headers.vary, 'Origin')
    assert.equal(answer.headers['content-type'], undefined)
    assert.equal(answer.headers['content-length'], undefined)
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    const methods = /create$|company$/.test(path) ? 'POST' : 'GET, HEAD'
    assert.equal(answer.headers['access-control-allow-methods'], methods, path)
    const allowedHeaders = String(answer.headers['access-control-allow-headers']).toLowerCase().split(', ')
    const needed = 'x-api-key authorization content-type if-none-match idempotency-key range'
    for (const name of needed.split(' ')) assert.ok(allowedHeaders.includes(name), name)
  }
})

test('CORS allows each described request header and `apikey`, and exposes each described X- header', async () => {
  const app = await openApp({ listen: { corsOrigins: [ERP], compat: { open: 'any', serveRounded: false } } })
  const answer = await preflight(app, '/v1/latest', ERP)
  const allowed = String(answer.headers['access-control-allow-headers']).toLowerCase().split(', ')
  const exposed = String((await ask(app, '/v1/latest', ERP)).headers['access-control-expose-headers'])
  assert.ok(allowed.includes('apikey'))
  const read = new Set<string>()
  for (const path of ['/openapi.json', '/openapi-compat.json']) {
    const { paths, components } = JSON.parse((await ask(app, path)).body) as Described
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
    for (const { parameters } of operations)
      for (const one of parameters) if (one.in === 'header') read.add(one.name.toLowerCase())
    const names = Object.keys(components.headers).filter((name) => name.startsWith('X-'))
    assert.deepEqual(
      names.filter((name) => !exposed.split(', ').includes(name)),
      [],
      path,
    )
  }
  assert.ok(read.has('content-digest'))
  assert.deepEqual(
    [...read].filter((name) => !allowed.includes(name)),
    [],
  )
})

test('a preflight does not replace the key', async () => {
  for (const path of [...ENDPOINTS, ...DOCUMENTS]) {
    assert.equal((await preflight(some, path, OTHER)).status, 401, 'another origin')
    const plain = { method: 'OPTIONS', headers: { Origin: ERP } }
    assert.equal((await send(some.app.url + path, plain)).status, 401, 'an OPTIONS that asks for nothing')
    const without = { method: 'OPTIONS', headers: PREFLIGHT }
    assert.equal((await send(some.app.url + path, without)).status, 401, 'a question of no origin')
    const get = { method: 'GET', headers: { Origin: ERP, ...PREFLIGHT } }
    if (!path.includes('create')) assert.notEqual((await send(some.app.url + path, get)).status, 204)
  }
  assert.equal((await preflight(some, '/nothing', ERP)).status, 404)
})

test('with * every origin may read, without Vary: Origin', async () => {
  for (const origin of [ERP, OTHER, 'null', undefined]) {
    const answer = await ask(any, '/healthz', origin)
    assert.equal(allowedOrigin(answer), '*')
    assert.equal(answer.headers.vary, undefined)
  }
  const answer = await preflight(any, '/api/v1/rates', OTHER)
  assert.deepEqual([answer.status, allowedOrigin(answer)], [204, '*'])
  assert.equal((await ask(any, '/api/v1/rates', OTHER, { 'X-API-Key': 'x' })).status, 401)
})

test('the parser of origins accepts a scheme, a host and perhaps a port, as a browser writes them', () => {
  const good = [
    '*',
    ERP,
    'http://localhost:5173',
    `${ERP}, https://b.example`,
    'capacitor://localhost',
    'http://[::1]:1',
  ]
  for (const text of good) assert.equal(originsFault(text), undefined, text)
  const bad = [
    '',
    'null',
    'erp.example.com',
    `${ERP}/`,
    `${ERP}:443`,
    'https://ERP.example.com',
    `${ERP},`,
    `*,${ERP}`,
  ]
  for (const text of [
    ...bad,
    'https://*.example.com',
    `${ERP}/x`,
    'https://a@b',
    'https://',
    'https://a b',
  ]) {
    assert.match(originsFault(text) ?? '', /is none$/, text)
  }
})

test('a key with --allow-origin is for the pages of its websites alone', async () => {
  const SHOP = 'https://tienda.example.com'
  for (const [name, { app, dataDir }] of Object.entries({ off, some, any })) {
    const words = ['key', 'create', `shop ${name}`, '--in-url', '--allow-origin', `${SHOP},${ERP}:8443`]
    const { key } = await runJson<{ key: string }>(dataDir, ...words)
    const ask = (origin: string | undefined, path: string) =>
      send(`${app.url}${path}&key=${key}`, { headers: origin ? { Origin: origin } : {} })
    for (const origin of [SHOP, `${ERP}:8443`]) {
      const answer = await ask(origin, LATEST)
      assert.equal(allowedOrigin(answer), origin, name)
      assert.match(String(answer.headers.vary), /\bOrigin\b/)
      assert.equal(allowedOrigin(await ask(origin, `${LATEST}&on=x`)), origin, 'errors too')
    }
    for (const origin of [ERP, OTHER, undefined]) {
      const answer = await ask(origin, LATEST)
      assert.deepEqual(corsHeaders(answer), [], `${name} ${origin}`)
      assert.match(String(answer.headers.vary), /\bOrigin\b/)
    }
  }
})
