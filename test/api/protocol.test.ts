// Rules of every path: errors, methods, HEAD, request ids, headers (decisions#paths, #unknown-names, #key-first and
// #headers).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { type Answer, asOtherProcess, ENDPOINTS, OPEN, openApp, send } from './support.ts'

const whole = await openApp()
const { app, key, sync } = whole
await sync()

const KNOWN = [...ENDPOINTS, ...OPEN]
const ask = (path: string, method = 'GET', headers: Record<string, string> = {}): Promise<Answer> =>
  send(app.url + path, { method, headers: { 'X-API-Key': key, ...headers } })

test('every endpoint answers JSON', async () => {
  for (const path of KNOWN) {
    const { status, headers, body } = await ask(path)
    assert.equal(status, 200, `${path}: ${body}`)
    assert.equal(headers['content-type'], 'application/json; charset=utf-8', path)
    assert.equal(headers['content-length'], String(Buffer.byteLength(body)), path)
    JSON.parse(body)
  }
})

for (const method of [
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'QUERY',
  'PROPFIND',
  'M-SEARCH',
]) {
  test(`${method} is a 405 on every known path`, async () => {
    for (const path of KNOWN) {
      const { status, headers, body } = await ask(path, method)
      assert.equal(status, 405, path)
      assert.equal(headers.allow, 'GET, HEAD', path)
      assert.equal(headers['content-type'], 'application/json; charset=utf-8')
      assert.deepEqual(JSON.parse(body), { detail: 'Method not allowed' })
    }
  })

  test(`${method} is a 404 on an unknown path`, async () => {
    const { status, headers, body } = await ask('/api/v1/nothing', method)
    assert.deepEqual([status, headers.allow, body], [404, undefined, '{"detail":"Not found"}'])
  })
}

const PATHS = [
  ...KNOWN,
  '/api/v1/nothing',
  '/api/v1/rates?on=never',
  '/api/v1/series/999/history',
  '/api/v1/series/abc/history',
]
for (const path of PATHS) {
  test(`HEAD ${path} has the headers of GET and no body`, async () => {
    const id = { 'X-Request-Id': 'the-same' }
    const whole = await ask(path, 'GET', id)
    const head = await ask(path, 'HEAD', id)
    assert.equal(head.body, '')
    assert.equal(head.status, whole.status)
    const { date: _, ...expected } = whole.headers
    const { date: __, ...got } = head.headers
    assert.deepEqual(got, expected)
    assert.equal(got['content-length'], String(Buffer.byteLength(whole.body)))
  })
}

test('HEAD without a key is a 401 without a body', async () => {
  const { status, headers, body } = await send(`${app.url}/api/v1/rates`, { method: 'HEAD' })
  assert.deepEqual([status, body], [401, ''])
  assert.equal(
    headers['content-length'],
    String('{"detail":"Missing or invalid API key: send it in the header X-API-Key"}'.length),
  )
})

const sane = ['a', 'cbk_of_the_erp', 'A-z_0.9:/+=', '2f1c7c1e-52b0-4a51-8e6f-0d4a5f3b9c11', 'x'.repeat(128)]
for (const id of sane) {
  test(`the request id ${id.slice(0, 40)} is returned`, async () => {
    for (const path of ['/api/v1/rates', '/nothing', '/api/v1/rates?on=', '/healthz']) {
      assert.equal((await ask(path, 'GET', { 'X-Request-Id': id })).headers['x-request-id'], id)
    }
  })
}

const PART = 'A'.repeat(20)
const secrets = [`cbk_${PART}`, `erp/cbt_${PART}`]
const insane = [
  ...secrets,
  '',
  'two words',
  'x'.repeat(129),
  'a\tb',
  'a,b',
  '<script>',
  'a"b',
  '\xff',
  "a'b",
  'a;b',
]
for (const id of insane) {
  test(`the request id ${JSON.stringify(id.slice(0, 40))} is replaced`, async () => {
    const answer = await ask('/api/v1/providers', 'GET', { 'X-Request-Id': id })
    assert.equal(answer.status, 200)
    assert.match(String(answer.headers['x-request-id']), /^[\w-]+$/)
    assert.notEqual(answer.headers['x-request-id'], id)
  })
}

test('each request has an id of its own, which is logged', async () => {
  const ids = new Set<string>()
  for (let at = 0; at < 20; at += 1) ids.add(String((await ask('/healthz')).headers['x-request-id']))
  assert.equal(ids.size, 20)
  const unlogged = () => [...ids].filter((id) => !whole.logLines.join('').includes(`"id":"${id}"`))
  await until(() => unlogged().length === 0)
})

test('nosniff and a request id are on every response, errors and 304 among them', async () => {
  const { headers } = await ask('/api/v1/rates')
  const etag = String(headers.etag)
  const every: Answer[] = [
    await ask('/api/v1/rates'),
    await ask('/api/v1/rates', 'HEAD'),
    await ask('/api/v1/rates', 'GET', { 'If-None-Match': etag }),
    await ask('/api/v1/rates', 'POST'),
    await ask('/api/v1/rates?on=x'),
    await ask('/api/v1/series/999/history'),
    await ask('/nothing'),
    await ask('/%zz'),
    await ask('/healthz'),
    await ask('/openapi.json'),
    await send(`${app.url}/api/v1/rates`),
  ]
  const statuses = every.map(({ status }) => status)
  assert.deepEqual(statuses, [200, 200, 304, 405, 422, 404, 404, 404, 200, 200, 401])
  for (const { status, headers: sent } of every) {
    assert.equal(sent['x-content-type-options'], 'nosniff', String(status))
    assert.match(String(sent['x-request-id']), /^[\w-]+$/)
  }
})

test('an internal error is a 500 without details', async () => {
  const own = await openApp()
  await asOtherProcess(own, (db) => db.schema.alterTable('sync_runs').renameTo('gone').execute())
  const { status, headers, body } = await send(`${own.app.url}/api/v1/sync/runs`, {
    headers: { 'X-API-Key': own.key },
  })
  assert.deepEqual([status, body], [500, '{"detail":"Internal server error"}'])
  assert.equal(headers['cache-control'], 'no-store')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  const lines = (event: string) =>
    own.logLines
      .join('')
      .split('\n')
      .filter((line) => line.includes(event))
  await until(() => lines('"status":500').length === 1)
  const failures = lines('request failed')
  assert.equal(failures.length, 1)
  assert.match(failures[0] ?? '', /no such table: sync_runs|relation .+sync_runs.+ does not exist/)
  assert.ok(failures[0]?.includes(`"id":"${headers['x-request-id']}"`))
})

test('a path with a trailing slash is a 404 that names the path without it, with and without a key', async () => {
  for (const path of KNOWN) {
    const [where = '', query = ''] = path.split('?')
    for (const headers of [{}, { 'X-API-Key': key }]) {
      const answer = await send(`${app.url}${where}/?${query}`, {
        headers: headers as Record<string, string>,
      })
      assert.equal(answer.status, 404, where)
      assert.deepEqual(JSON.parse(answer.body), { detail: 'Not found', hint: `did you mean ${where}?` })
    }
  }
})
