// Rates for the page without signing in, from the networks of --open-page: each of its rules.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { startTestApp } from '../../support/app.ts'
import { openApp } from '../support.ts'
import { type Asked, ask, signIn } from './support.ts'

const ORGANIZATION = { name: 'Comercial Ejemplo, S. A.', taxId: undefined }
const listen = {
  openPage: parseNetworks('192.168.1.0/24'),
  proxies: parseNetworks('127.0.0.3'),
  hostNames: ['rates.example.com'],
  organization: ORGANIZATION,
  corsOrigins: ['*'],
}
const app = await openApp({ listen })
await app.sync({ from: '2026-03-20', to: '2026-03-24' })
const { url } = app.app
const INSIDE = '192.168.1.7'

/** Sends a request of the page of a browser in the network, by plain HTTP through a trusted proxy. */
function askOpen(path: string, { headers, ...asked }: Asked = {}, client = INSIDE) {
  const proxied = { host: 'rates.example.com', 'x-forwarded-for': client, 'x-forwarded-proto': 'http' }
  const all = { ...proxied, 'x-cambista-page': 'open', ...headers }
  return ask(url + path, { ...asked, headers: all, from: '127.0.0.3' })
}

const RATES = [
  '/api/v1/series',
  '/api/v1/series/1/history',
  '/api/v1/rates',
  '/api/v1/rates/latest',
  '/api/v1/history?base=USD&quote=CRC',
  '/api/v1/convert?amount=1&from=USD&to=CRC',
]
const BATCH = { json: [{ amount: '1', from: 'USD', to: 'CRC' }] }
const CLOSED = [
  '/api/v1/status',
  '/api/v1/health',
  '/api/v1/sync/runs',
  '/api/v1/scheduler',
  '/api/v1/providers',
  '/api/v1/revisions',
  '/api/v1/export',
  '/api/v1/rates.csv',
  '/api/v1/documents',
  '/api/v1/companies',
]

test('rates are open to the page in the network, over plain HTTP', async () => {
  for (const path of RATES) {
    const { status, body, headers } = await askOpen(path)
    assert.equal(status, 200, `${path}: ${body}`)
    assert.equal(headers['access-control-allow-origin'], undefined)
    const withKey = await ask(url + path, { headers: { 'x-api-key': app.key } })
    assert.equal(body, withKey.body)
  }
  const batch = await askOpen('/api/v1/convert/batch', BATCH)
  assert.equal(batch.status, 200, batch.body)
})

test('state, exports and documents are 401 to the page in the network', async () => {
  for (const path of CLOSED) assert.equal((await askOpen(path)).status, 401, path)
  const json = { document_id: 1 }
  assert.ok([401, 403].includes((await askOpen('/session/ticket', { json })).status))
  assert.equal((await askOpen('/api/v1/documents/create', { json: {} })).status, 401)
})

test('a request without the header, or with another value of it, is not open', async () => {
  for (const headers of [{ 'x-cambista-page': '' }, { 'x-cambista-page': 'opened' }]) {
    assert.ok([401, 403].includes((await askOpen('/api/v1/rates', { headers })).status))
  }
  const proxied = { host: 'rates.example.com', 'x-forwarded-for': INSIDE }
  assert.equal((await ask(`${url}/api/v1/rates`, { headers: proxied, from: '127.0.0.3' })).status, 401)
})

test('only addresses of the networks are admitted, as their trusted proxies name them', async () => {
  for (const client of ['192.168.2.7', '10.0.0.1', '127.0.0.1', '', '127.0.0.3', `${INSIDE}, 8.8.8.8`]) {
    assert.equal((await askOpen('/api/v1/rates', {}, client)).status, 401, client)
  }
  const forged = { 'x-cambista-page': 'open', 'x-forwarded-for': INSIDE }
  assert.equal((await ask(`${url}/api/v1/rates`, { headers: forged })).status, 401, 'an untrusted proxy')
  const direct = { 'x-cambista-page': 'open' }
  assert.equal((await ask(`${url}/api/v1/rates`, { headers: direct })).status, 401, 'this machine')
})

test('a name that is not of this server is 421', async () => {
  for (const host of ['evil.example', 'rates.example.com.evil.example']) {
    assert.equal((await askOpen('/api/v1/rates', { headers: { host } })).status, 421)
    assert.equal((await askOpen('/api/v1/documents', { headers: { host } })).status, 421)
  }
})

test('another website is 403, by its Origin or Sec-Fetch-Site, and is granted no preflight', async () => {
  const own = { origin: 'http://rates.example.com', 'sec-fetch-site': 'same-origin' }
  assert.equal((await askOpen('/api/v1/rates', { headers: own })).status, 200)
  assert.equal((await askOpen('/api/v1/rates', { headers: { 'sec-fetch-site': 'none' } })).status, 200)
  for (const headers of [
    { origin: 'http://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { ...own, 'sec-fetch-site': 'cross-site' },
  ]) {
    const answers = [
      await askOpen('/api/v1/rates', { headers }),
      await askOpen('/api/v1/documents', { headers }),
    ]
    for (const { status, headers: fields } of answers) {
      assert.equal(status, 403, JSON.stringify(headers))
      assert.equal(fields['access-control-allow-origin'], undefined)
    }
  }
  const preflight = await ask(`${url}/api/v1/rates`, {
    method: 'OPTIONS',
    headers: {
      host: 'rates.example.com',
      origin: 'http://evil.example',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-cambista-page',
    },
  })
  assert.doesNotMatch(String(preflight.headers['access-control-allow-headers']), /x-cambista-page|\*/i)
})

test('GET /session is open with the organization to the network, and to nobody else', async () => {
  const state = JSON.parse((await askOpen('/session')).body)
  assert.deepEqual(
    [state.open, state.organization, state.key, state.token],
    [true, { name: ORGANIZATION.name, tax_id: null }, null, null],
  )
  assert.equal((await askOpen('/session', {}, '192.168.2.7')).status, 403, 'plain HTTP from elsewhere')
  const here = JSON.parse((await ask(`${url}/session`)).body)
  assert.deepEqual([here.open, here.organization], [false, null])
  assert.equal((await askOpen('/session', { headers: { origin: 'http://evil.example' } })).status, 403)
  assert.equal(
    (await askOpen('/session', { json: { secret: app.key } })).status,
    403,
    'a sign-in needs privacy',
  )
})

test('a session over plain HTTP is not used in an open network', async () => {
  const browser = await signIn(url, app.key)
  const state = await askOpen('/session', { headers: browser.halves() })
  assert.deepEqual([state.status, JSON.parse(state.body).key], [200, null])
  assert.equal((await askOpen('/api/v1/status', { headers: browser.halves() })).status, 403)
})

test('the page carries data-open for the network alone', async () => {
  const [inside, outside] = [await askOpen('/'), await askOpen('/', {}, '192.168.2.7')]
  assert.match(inside.body, /^<!doctype html>\n<html data-open /)
  assert.doesNotMatch(outside.body, /data-open/)
  assert.notEqual(inside.headers.etag, outside.headers.etag)
})

test('an address has 600 open requests a minute', async (t) => {
  const own = await startTestApp(t, { listen: { ...listen, openPage: parseNetworks('loopback') } })
  const read = (from: string) =>
    ask(`${own.app.url}/api/v1/series`, { headers: { 'x-cambista-page': 'open' }, from })
  for (let at = 0; at < 600; at += 60) {
    const answers = await Promise.all(Array.from({ length: 60 }, () => read('127.0.0.1')))
    assert.ok(answers.every(({ status }) => status === 200))
  }
  const refused = await read('127.0.0.1')
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal((await read('127.0.0.2')).status, 200)
  own.clock.now = new Date(own.clock.now.getTime() + 60_000)
  assert.equal((await read('127.0.0.1')).status, 200)
})

test('without --open-page no rate is open', async (t) => {
  const own = await startTestApp(t)
  const headers = { 'x-cambista-page': 'open' }
  for (const path of RATES) assert.equal((await ask(own.app.url + path, { headers })).status, 401, path)
  assert.equal(JSON.parse((await ask(`${own.app.url}/session`, { headers })).body).open, false)
})
