// Requests that no HTTP library sends. The answer has the API's own error format, and the server continues to
// serve.

import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { afterEach, test } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { serverEnd, untilRead } from '../support/events/server-ends.ts'
import { until } from '../support/terminal.ts'
import { exchange, openApp } from './support.ts'

const { app, key, logLines } = await openApp()
const KEY = `X-API-Key: ${key}`
const HEALTH = '/api/v1/health'

afterEach(async () => {
  assert.equal((await fetch(`${app.url}/healthz`)).status, 200)
  assert.deepEqual(
    logLines.filter((line) => line.includes('"level":"error"')),
    [],
  )
})

const ask = (first: string, ...headers: string[]) =>
  exchange(app.url, `${[first, ...headers].join('\r\n')}\r\n\r\n`)

async function hasDetail(first: string, headers: string[], status: number): Promise<void> {
  const { status: responseStatus, headers: responseHeaders, body } = await ask(first, ...headers)
  assert.equal(responseStatus, status, body)
  assert.equal(responseHeaders['content-type'], 'application/json; charset=utf-8')
  assert.equal(responseHeaders['x-content-type-options'], 'nosniff')
  assert.equal(responseHeaders['cache-control'], 'no-store')
  assert.match(String(responseHeaders['x-request-id']), /^[\w-]+$/)
  const { detail, hint, ...rest } = JSON.parse(body)
  assert.ok(typeof detail === 'string' && detail !== '')
  assert.deepEqual(rest, {})
  if (status === 404 && hint !== undefined) assert.equal(hint, `did you mean ${HEALTH}?`)
  else assert.equal(hint, undefined)
}

const malformed: [title: string, first: string, ...headers: string[]][] = [
  ['something else than HTTP', 'GARBAGE'],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an unknown version', 'GET /api/v1/health HTTP/9.9', 'Host: a'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM'],
  ['a method in lower case', 'get /api/v1/health HTTP/1.1', 'Host: a'],
  ['a method that does not exist', 'BREW /api/v1/health HTTP/1.1', 'Host: a'],
  ['a target without a slash', 'GET api/v1/health HTTP/1.1', 'Host: a'],
  ['raw bytes in a target', 'GET /api/v1/rates?base=\xc3\xb1 HTTP/1.1', 'Host: a'],
  ['a header name with a space', 'GET /api/v1/health HTTP/1.1', 'Host: a', 'X y: 1'],
  ['a zero byte in a header', 'GET /api/v1/health HTTP/1.1', 'Host: a', 'X: a\0b'],
  [
    'two lengths of one body',
    'POST /api/v1/health HTTP/1.1',
    'Content-Length: 3',
    'Transfer-Encoding: chunked\r\n\r\n0',
  ],
  ['a length that is no number', 'POST /api/v1/health HTTP/1.1', 'Host: a', 'Content-Length: zz'],
]
for (const [title, first, ...headers] of malformed) {
  test(`${title} is a 400`, () => hasDetail(first, headers, 400))
}

test('headers over the size limit are a 431', async () => {
  await hasDetail(`GET ${HEALTH} HTTP/1.1`, ['Host: a', `X: ${'a'.repeat(20_000)}`], 431)
  await hasDetail(`GET ${HEALTH}?${'a'.repeat(20_000)} HTTP/1.1`, ['Host: a'], 431)
})

test('CONNECT is a 405', async () => {
  await hasDetail('CONNECT example.org:443 HTTP/1.1', ['Host: a', KEY], 405)
  const { headers } = await ask('CONNECT example.org:443 HTTP/1.1', 'Host: a')
  assert.equal(headers.allow, 'GET, HEAD')
})

for (const first of ['CONNECT a:1 HTTP/1.1', 'GARBAGE', `GET ${HEALTH} HTTP/1.1`]) {
  test(`the server survives a client that disconnects after ${first}`, async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(app.url).port) })
    await new Promise<void>((resolve) => socket.once('connect', resolve))
    const end = await serverEnd(socket)
    socket.write(`${first}\r\n${KEY}\r\nHost: a\r\n\r\n`)
    await untilRead(socket)
    socket.resetAndDestroy()
    await until(() => end.destroyed)
  })
}

const fine: [title: string, first: string, ...headers: string[]][] = [
  ['HTTP/1.1 without a Host', 'GET /api/v1/health HTTP/1.1'],
  ['HTTP/1.0', 'GET /api/v1/health HTTP/1.0'],
  ['an empty Host', 'GET /api/v1/health HTTP/1.1', 'Host: '],
  ['two Hosts', 'GET /api/v1/health HTTP/1.1', 'Host: a', 'Host: b'],
  ['a Host with an impossible port', 'GET /api/v1/health HTTP/1.1', 'Host: a:99999'],
  ['such a Host and a query to be read anew', 'GET /api/v1/health?_q=" HTTP/1.1', 'Host: a:99999'],
  ['such a Host and a path to be read anew', 'GET /api/v1/x/../health HTTP/1.1', 'Host: a:99999'],
  ['a Host of odd characters', "GET /api/v1/health?_q=' HTTP/1.1", 'Host: [::1/?#@<>"'],
  ['the target in absolute form', 'GET http://rates.example/api/v1/health HTTP/1.1', 'Host: a'],
  ['escaped letters in the path', 'GET /api/v1/%68ealth HTTP/1.1', 'Host: a'],
  ['a bare question mark', 'GET /api/v1/health? HTTP/1.1', 'Host: a'],
  ['empty parts in the query', 'GET /api/v1/health?&&=&_a&=&_=b HTTP/1.1', 'Host: a'],
  ['an unknown expectation', 'GET /api/v1/health HTTP/1.1', 'Host: a', 'Expect: a-miracle'],
  [
    'a wish to continue with a body',
    'GET /api/v1/health HTTP/1.1',
    'Expect: 100-continue',
    'Content-Length: 2\r\n\r\n{}',
  ],
  ['a GET with a body', 'GET /api/v1/health HTTP/1.1', 'Host: a', 'Content-Length: 2\r\n\r\n{}'],
  [
    'a GET with a chunked body',
    'GET /api/v1/health HTTP/1.1',
    'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0',
  ],
  ['a wish to upgrade', 'GET /api/v1/health HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket'],
]
for (const [title, first, ...headers] of fine) {
  test(`${title} is answered normally`, async () => {
    const { status, body } = await ask(first, KEY, ...headers)
    assert.equal(status, 200, body)
    assert.equal(JSON.parse(body).database, 'ok')
    const refused = await ask(first, ...headers)
    assert.equal(refused.status, 401, refused.body)
  })
}

const unknown = [
  '//api/v1/health',
  '/api//v1/health',
  '//evil.example/api/v1/health',
  '/API/v1/health',
  '/api/v1%2fhealth',
  '/api/v1/%2568ealth',
  '/api/v1/health%',
  '/api/v1/health%ff',
  '/api/v1/%00',
  '/%zz',
  '/x/../api/v1/health',
  '/api/v1/../../healthz',
  '/x/%2E%2e/healthz',
  '/./healthz',
  '/k/../healthz',
  '/x\\..\\healthz',
  'http://rates.example/x/../healthz',
  '*',
  'http://a$b:99999/api/v1/health',
]
for (const target of unknown) {
  test(`the path ${target} is a 404`, () => hasDetail(`GET ${target} HTTP/1.1`, ['Host: a'], 404))
}

test('two keys are a 401', () => hasDetail(`GET ${HEALTH} HTTP/1.1`, [KEY, KEY], 401))

test('close() does not wait for a rejected client that leaves its side open', async (t) => {
  const own = await startTestApp(t)
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(own.app.url).port), allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await new Promise((resolve) => socket.once('data', resolve))
  let isClosed = false
  own.app.close().then(() => {
    isClosed = true
  })
  await until(() => isClosed)
})
