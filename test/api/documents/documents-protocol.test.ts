// Rules of every path of the documents API (decisions#paths, #unknown-names, #key-first, #headers, #tokens and #body).
// Headers, methods, unknown paths, tokens, and bodies that only a raw socket sends.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../../support/directory.ts'
import { type Answer, exchange, openApp, send } from '../support.ts'

const app = await openApp()
await fillDirectory(app)
assert.equal((await post(app, CREATE, batch(pdf()))).status, 200)
const { url } = app.app

const AGENTS = '/api/v1/agent/get_by_company'
const POSTS = [CREATE, AGENTS]
const GETS = ['/api/v1/documents', '/api/v1/documents/1', '/api/v1/documents/1/content']
const UNKNOWN = ['/api/v1/documents/1/x', '/api/v1/documents/1/content/x', '/api/v1/documents//content']
UNKNOWN.push('/api/v1/documents/create/x')
UNKNOWN.push('/api/v1/agent', '/api/v1/agent/', '/api/v1/agent/x', '/api/v1/agent/get_by_company/x')

const AUTH = `Bearer ${TOKENS.all}`
const ask = (path: string, method: string, headers: Record<string, string> = { authorization: AUTH }) =>
  send(url + path, { method, headers })

after(() => {
  const secrets = [...Object.values(TOKENS), 'cbt_', 'aG9sYQ']
  const leaks = app.logLines.filter((line) => secrets.some((secret) => line.includes(secret)))
  assert.deepEqual(leaks, [], 'a token or a content in the log')
  // A poll of the database may fail on a machine that stalls.
  const errors = app.logLines.filter((line) => /"level":"error"(?!.*database)/.test(line))
  assert.deepEqual(errors, [])
})

/** Checks the headers of every answer, and the error format of this API. */
function checkAnswer({ status, headers, body }: Answer, expected: number, message?: string): void {
  assert.equal(status, expected, body)
  assert.match(String(headers['x-request-id']), /^[\w-]+$/)
  assert.equal(headers['x-content-type-options'], 'nosniff')
  assert.equal(headers['www-authenticate'], expected === 401 ? 'Bearer' : undefined)
  if (expected < 400) return
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['content-type'], 'application/json; charset=utf-8')
  if (body === '') return // HEAD has no body
  const answer = JSON.parse(body)
  const hasHint = [401, 404].includes(expected) && 'hint' in answer
  assert.deepEqual(Object.keys(answer), hasHint ? ['status', 'message', 'hint'] : ['status', 'message'])
  assert.equal(answer.status, expected === 404 ? 'not found' : 'error')
  if (message) assert.equal(answer.message, message)
  else assert.ok(answer.message.length > 5)
}

test('an unknown path is a 404 in the format of this API, with and without a token', async () => {
  for (const path of UNKNOWN) {
    for (const method of ['GET', 'POST', 'HEAD', 'DELETE']) {
      checkAnswer(await ask(path, method), 404)
      checkAnswer(await ask(path, method, {}), 404)
    }
  }
})

test('a malformed escape in an id is a 404, with a token', async () => {
  for (const path of ['/api/v1/documents/%zz', '/api/v1/documents/%ff/content']) {
    checkAnswer(await ask(path, 'GET'), 404)
    checkAnswer(await ask(path, 'GET', {}), 401)
  }
})

test('another method is a 405 with Allow, with a token only', async () => {
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND']
  const isDocument = (path: string) => /\/\d+$/.test(path)
  const isList = (path: string) => path === '/api/v1/documents'
  for (const [paths, allow] of [
    [POSTS, 'POST'],
    [GETS.filter((path) => !isDocument(path) && !isList(path)), 'GET, HEAD'],
    [GETS.filter(isList), 'POST, GET, HEAD'],
    [GETS.filter(isDocument), 'GET, HEAD, DELETE'],
  ] as const) {
    for (const path of paths) {
      for (const method of others.filter((one) => !allow.split(', ').includes(one))) {
        const answer = await ask(path, method)
        checkAnswer(answer, 405, 'Method not allowed')
        assert.equal(answer.headers.allow, allow)
        checkAnswer(await ask(path, method, {}), 401, 'Invalid Authorization header format')
      }
    }
  }
})

test('without a token every path, parameter and body is the same 401', async () => {
  const bad = ['?limit=0', '/999', '/abc', '/999/content', '/1/content?x=%zz'].map(
    (end) => `/api/v1/documents${end}`,
  )
  for (const path of bad) checkAnswer(await ask(path, 'GET', {}), 401)
  for (const path of POSTS) {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\n`
    for (const more of [
      'Content-Length: 99999999999\r\n',
      'Content-Encoding: gzip\r\nContent-Length: 0\r\n',
    ]) {
      checkAnswer(await exchange(url, `${head}${more}\r\n`), 401)
    }
  }
})

test('HEAD has the headers of GET and no body', async () => {
  for (const path of GETS) {
    const [got, head] = [await ask(path, 'GET'), await ask(path, 'HEAD')]
    assert.equal(head.body, '')
    for (const headers of [got.headers, head.headers]) {
      delete headers.date
      delete headers['x-request-id']
    }
    assert.deepEqual(head.headers, got.headers, path)
  }
})

test('the request id of the client is returned on every answer, unless it is malformed', async () => {
  const id = randomUUID()
  for (const path of [...GETS, ...POSTS, ...UNKNOWN]) {
    for (const authorization of ['', AUTH]) {
      const answer = await ask(path, 'GET', { authorization, 'x-request-id': id })
      assert.equal(answer.headers['x-request-id'], id)
      const other = await ask(path, 'GET', { authorization, 'x-request-id': 'a b<script>' })
      checkAnswer(other, other.status)
    }
  }
})

const FORMAT = 'Invalid Authorization header format'
const UNKNOWN_TOKEN = 'Invalid or expired token'
const all = TOKENS.all
const authorizations: [string, string, number, string?][] = [
  ['in lower case', `authorization: bearer ${all}`, 200],
  ['in upper case', `AUTHORIZATION: BEARER ${all}`, 200],
  ['with several spaces', `Authorization:   Bearer    ${all}   `, 200],
  ['with a tab', `Authorization: Bearer\t${all}`, 401, FORMAT],
  ['twice', `Authorization: Bearer ${all}\r\nAuthorization: Bearer ${all}`, 401, FORMAT],
  ['and another one', `Authorization: Bearer ${all}\r\nAuthorization: Bearer ${TOKENS.read}`, 401, FORMAT],
  ['and another one in one header', `Authorization: Bearer ${all}, Bearer ${TOKENS.read}`, 401, FORMAT],
  ['without a space', `Authorization: Bearer${all}`, 401, FORMAT],
  ['without a scheme', `Authorization: ${all}`, 401, FORMAT],
  ['as a password', `Authorization: Basic ${Buffer.from(`${all}:`).toString('base64')}`, 401, FORMAT],
  ['with bytes beyond ASCII', `Authorization: Bearer ${all}\xe9`, 401, FORMAT],
  ['in quotes', `Authorization: Bearer "${all}"`, 401, UNKNOWN_TOKEN],
  ['with a comma', `Authorization: Bearer ${all},`, 401, UNKNOWN_TOKEN],
  ['in another case', `Authorization: Bearer ${all.toUpperCase()}`, 401, UNKNOWN_TOKEN],
  ['of ten thousand characters', `Authorization: Bearer ${'x'.repeat(10_000)}`, 401, UNKNOWN_TOKEN],
  ['for a proxy', `Proxy-Authorization: Bearer ${all}`, 401, FORMAT],
  ['as a key', `X-API-Key: ${all}`, 401, FORMAT],
]
for (const [what, lines, status, message] of authorizations) {
  test(`a token ${what} is a ${status}`, async () => {
    for (const path of GETS) {
      checkAnswer(await exchange(url, `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n\r\n`), status, message)
    }
  })
}

test('a token in the query is ignored', async () => {
  for (const name of ['token', 'access_token', 'authorization']) {
    checkAnswer(await ask(`/api/v1/documents?${name}=${TOKENS.all}`, 'GET', {}), 401, FORMAT)
  }
})

const BODY = JSON.stringify(batch(pdf()))
const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
const raw = (lines: string[], body: string) =>
  exchange(
    url,
    [`POST ${CREATE} HTTP/1.1`, 'Host: a', `Authorization: ${AUTH}`, ...lines, '', body].join('\r\n'),
  )

const framings: [string, string[], string, number][] = [
  [
    'chunks with extensions and a trailer',
    ['Transfer-Encoding: chunked', 'Trailer: X'],
    `2;a=b\r\n{"\r\n${chunk(BODY.slice(2))}0\r\nX: y\r\nAuthorization: z\r\n\r\n`,
    200,
  ],
  ['chunks in upper case', ['Transfer-Encoding: CHUNKED'], `${chunk(BODY)}0\r\n\r\n`, 200],
  ['chunks of a byte', ['Transfer-Encoding: chunked'], `${[...BODY].map(chunk).join('')}0\r\n\r\n`, 200],
  ['nothing at all', [], '', 400],
  ['a length of nothing', ['Content-Length: 0'], '', 400],
  ['only the last chunk', ['Transfer-Encoding: chunked'], '0\r\n\r\n', 400],
  [
    'the coding that leaves it is',
    ['Content-Encoding: identity', `Content-Length: ${BODY.length}`],
    BODY,
    200,
  ],
  ['compression of the transfer', ['Transfer-Encoding: gzip, chunked'], `${chunk(BODY)}0\r\n\r\n`, 415],
]
for (const [what, lines, body, status] of framings) {
  test(`a body with ${what} is a ${status}`, async () => checkAnswer(await raw(lines, body), status))
}

const smuggled: [string, string[]][] = [
  ['a length and chunks', [`Content-Length: ${BODY.length}`, 'Transfer-Encoding: chunked']],
  ['chunks and a length', ['Transfer-Encoding: chunked', 'Content-Length: 5']],
  ['two lengths', [`Content-Length: ${BODY.length}`, 'Content-Length: 5']],
  ['a signed length', [`Content-Length: +${BODY.length}`]],
  ['a length that is a list', [`Content-Length: ${BODY.length}, ${BODY.length}`]],
  ['an unknown transfer coding', ['Transfer-Encoding: xchunked']],
  ['chunked not last', ['Transfer-Encoding: chunked, identity']],
  ['chunked twice', ['Transfer-Encoding: chunked', 'Transfer-Encoding: identity']],
  ['a folded header', ['Transfer-Encoding:', ' chunked']],
  ['a space before the colon', ['Transfer-Encoding : chunked']],
]
for (const [what, lines] of smuggled) {
  test(`${what} are rejected, and the connection ends`, async () => {
    const answer = await raw(lines, `${chunk(BODY)}0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n`)
    assert.ok([400, 415].includes(answer.status), `${answer.status} ${answer.body}`)
    checkAnswer(answer, answer.status)
    if (answer.status === 400) assert.equal(answer.headers.connection, 'close')
  })
}

test('a compressed body is rejected with a message, and the connection remains open', async () => {
  const zipped = gzipSync(BODY)
  for (const coding of ['gzip', 'br', 'identity, gzip', 'nonsense']) {
    for (const path of POSTS) {
      const response = await post(app, path, zipped, { 'content-encoding': coding })
      assert.equal(response.status, 415)
      assert.equal(response.headers.get('accept-encoding'), 'identity')
      const message = 'The request body must not be compressed (Content-Encoding)'
      assert.deepEqual(await response.json(), { status: 'error', message })
    }
  }
  assert.equal((await post(app, CREATE, BODY)).status, 200)
})
