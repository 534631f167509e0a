// The key is checked before everything else on a known path (decisions#key-first).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../support/terminal.ts'
import { ENDPOINTS, OPEN, openApp, send } from './support.ts'

const { app, key, get } = await openApp()
const REFUSAL = '{"detail":"Missing or invalid API key: send it in the header X-API-Key"}'

const wrong: [title: string, headers: Record<string, string>][] = [
  ['no key', {}],
  ['an empty key', { 'X-API-Key': '' }],
  ['an unknown key', { 'X-API-Key': key.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a')) }],
  ['the beginning of a key', { 'X-API-Key': key.slice(0, -1) }],
  ['a key in other letters', { 'X-API-Key': key.toUpperCase() }],
  ['a very long key', { 'X-API-Key': key.repeat(100) }],
]
for (const [title, headers] of wrong) {
  test(`refuses ${title} on every endpoint`, async () => {
    for (const path of ENDPOINTS) {
      const answer = await send(app.url + path, { headers })
      assert.deepEqual([answer.status, answer.body], [401, REFUSAL], path)
      assert.equal(answer.headers['www-authenticate'], 'ApiKey', path)
    }
  })
}

test("a key in Authorization is a 401 with the contract's text and a hint on every endpoint", async () => {
  for (const path of ENDPOINTS) {
    const { status, body } = await send(app.url + path, { headers: { Authorization: `Bearer ${key}` } })
    const { hint, ...rest } = JSON.parse(body)
    assert.deepEqual([status, JSON.stringify(rest)], [401, REFUSAL], path)
    assert.equal(hint, 'Authorization has a key (cbk_…): send it in the header X-API-Key', path)
  }
})

test('the key is read from the header, not from the query', async () => {
  const { status } = await send(`${app.url}/api/v1/health?X-API-Key=${key}&api_key=${key}`)
  assert.equal(status, 401)
})

test('the key is read whatever the case of the header name', async () => {
  for (const name of ['X-API-Key', 'x-api-key', 'X-API-KEY']) {
    const { status } = await send(`${app.url}/api/v1/providers`, { headers: { [name]: key } })
    assert.equal(status, 200, name)
  }
})

const worse: [what: string, path: string, method?: string][] = [
  ['405', '/api/v1/providers', 'POST'],
  ['405', '/api/v1/series/1/history', 'OPTIONS'],
  ['422 of a query', '/api/v1/rates?on=never&base=1'],
  ['422 of a path', '/api/v1/series/abc/history'],
  ['422 of a bad escape', '/api/v1/health?a=%zz'],
  ['422 of what is missing', '/api/v1/convert'],
  ['404 of a series', '/api/v1/series/999/history'],
  ['404 of a pair', '/api/v1/rates/latest?base=XXX'],
]
for (const [what, path, method = 'GET'] of worse) {
  test(`a request without a key is a 401 before the ${what}`, async () => {
    const answer = await send(app.url + path, { method })
    assert.deepEqual([answer.status, answer.body], [401, REFUSAL])
    assert.equal(answer.headers.allow, undefined)
    const other = await send(app.url + path, { method, headers: { 'X-API-Key': key } })
    assert.equal(String(other.status), what.slice(0, 3))
  })
}

test('an unknown path is a 404 without a key too', async () => {
  for (const path of ['/api', '/api/v1', '/api/v1/nothing', '/api/v2/health', '/api/v1/series/1']) {
    const { status, body } = await send(app.url + path)
    assert.deepEqual([status, body], [404, '{"detail":"Not found"}'], path)
  }
})

test('the probes and the description need no key', async () => {
  for (const path of OPEN) assert.equal((await send(app.url + path)).status, 200, path)
})

test('every endpoint accepts the key', async () => {
  for (const path of ENDPOINTS) assert.notEqual((await get(path)).status, 401, path)
})

test('the log has no key, right or wrong', async () => {
  const own = await openApp()
  await own.get('/api/v1/providers')
  await send(`${own.app.url}/api/v1/providers`, { headers: { 'X-API-Key': 'wrong-key-of-mine' } })
  await until(() => own.logLines.join('').includes('"status":401'))
  const logged = own.logLines.join('')
  assert.ok(!logged.includes(own.key) && !logged.includes('wrong-key-of-mine'))
})
