// Admission of clients: ways to send a key, keys for other uses, open networks.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { hashOfSecret } from '../../../src/domain/access/secrets.ts'
import { ANY_ADDRESS, parseNetworks } from '../../../src/http/listener/networks.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import type { KeyKind, Side } from '../../../src/store/tables.ts'
import { asOtherProcess, openApp, send } from '../support.ts'
import { ASMX, parameters } from './asmx.ts'
import { ask, printedNumber, startTestApp, type TestApp } from './support.ts'

const AT = '2026-03-01T00:00:00.000Z'
const PATH = '/v1/latest?base=USD&symbols=CRC'
const app = await openApp({ listen: { compat: { open: undefined, serveRounded: false } } })
await app.sync()
await addKey(app, 'cbk_header', 'header')
await addKey(app, 'cbk_url', 'url')
await addKey(app, 'cbk_compra', 'url', 'compra')
await addKey(app, 'BANKTOKEN1', 'bank', 'venta', '127.0.0.0/8')
const { compra, venta } = await app.json<{ compra: string; venta: string }>('/api/v1/rates/latest')

async function addKey(of: TestApp, secret: string, kind: KeyKind, side: Side = 'venta', network?: string) {
  await asOtherProcess(of, async (db) => {
    await insertApiKey(db, { name: secret, hash: hashOfSecret(secret), createdAt: AT, kind, side, network })
  })
}

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`

for (const [title, headers] of [
  ['X-API-Key', { 'X-API-Key': 'cbk_header' }],
  ['apikey', { apikey: 'cbk_header' }],
  ['Authorization: Bearer', { Authorization: 'Bearer cbk_header' }],
  ['Basic as the password', { Authorization: basic('anybody:cbk_header') }],
  ['Basic as the user', { Authorization: basic('cbk_header:') }],
  ['X-API-Key, one for URLs', { 'X-API-Key': 'cbk_url' }],
] as const) {
  test(`a key is accepted in ${title}`, async () => assert.equal((await ask(app, PATH, headers))[0], 200))
}

for (const name of ['access_key', 'app_id', 'apikey', 'api_key', 'key']) {
  test(`a key for URLs is accepted in the query as ${name}, other keys are not`, async () => {
    assert.equal((await ask(app, `${PATH}&${name}=cbk_url`))[0], 200)
    const [status, body] = await ask(app, `${PATH}&${name}=cbk_header`)
    assert.deepEqual([status, /key create NAME --in-url/.test(body)], [401, true])
  })
}

test('a key for URLs is accepted in the path, before any address', async () => {
  for (const path of [PATH, `/compat/frankfurter${PATH}`]) {
    assert.equal((await ask(app, `/k/cbk_url${path}`))[0], 200, path)
    assert.equal((await ask(app, `/k/cbk_header${path}`))[0], 401, path)
    assert.equal((await ask(app, `/k/cbk_none${path}`))[0], 401, path)
    assert.equal((await ask(app, path))[0], 401, path)
  }
})

test('a key for URLs opens the rates of our own API, and nothing else of it', async () => {
  for (const path of ['rates/latest', 'rates', 'convert?amount=1&from=USD&to=CRC', 'series/1/history']) {
    assert.equal((await ask(app, `/k/cbk_url/api/v1/${path}`))[0], 200, path)
    const inQuery = `/api/v1/${path}${path.includes('?') ? '&' : '?'}key=cbk_url`
    assert.equal((await ask(app, inQuery))[0], 200, inQuery)
    assert.equal((await ask(app, `/api/v1/${path}`, { 'X-API-Key': 'cbk_url' }))[0], 200, path)
    assert.equal((await ask(app, `/k/cbk_header/api/v1/${path}`))[0], 401, path)
  }
  for (const path of ['sync/runs', 'health', 'scheduler', 'series', 'providers']) {
    assert.equal((await ask(app, `/k/cbk_url/api/v1/${path}`))[0], 404, path)
    const [status, body] = await ask(app, `/api/v1/${path}`, { 'X-API-Key': 'cbk_url' })
    assert.deepEqual([status, body.includes('was made for URLs')], [401, true], path)
  }
})

test('a 401 of a wrong key names its place, and that of a missing key names the header', async () => {
  const latest = '/api/v1/rates/latest'
  for (const [path, headers, place] of [
    [`/k/cbk_none${PATH}`, {}, 'the path'],
    [`/k/BANKTOKEN1${PATH}`, {}, 'the path'],
    [`${PATH}&apikey=cbk_none`, {}, 'the parameter apikey'],
    [PATH, { 'X-API-Key': 'cbk_none' }, 'the header X-API-Key'],
    [PATH, { apikey: 'cbk_none' }, 'the header apikey'],
    [PATH, { Authorization: 'Bearer cbk_none' }, 'the header Authorization'],
  ] as const) {
    const [status, body] = await ask(app, path, headers)
    const message = `The key in ${place} is unknown, revoked or expired`
    assert.deepEqual([status, Object.values(JSON.parse(body))], [401, [message]], path)
  }
  for (const [path, place] of [
    [`/k/cbk_none${latest}`, 'the path'],
    [`/k/BANKTOKEN1${latest}`, 'the path'],
    [`${latest}?access_key=cbk_none`, 'the parameter access_key'],
  ] as const) {
    const [status, body] = await ask(app, path)
    const detail = 'Missing or invalid API key: send it in the header X-API-Key'
    const hint = `The key in ${place} is unknown, revoked or expired`
    assert.deepEqual([status, JSON.parse(body)], [401, { detail, hint }], path)
  }
  assert.match((await ask(app, PATH))[1], /Missing key: send it in the header X-API-Key, in the path/)
  const [, body] = await ask(app, `${latest}?Token=cbk_url`, { apikey: 'cbk_url' })
  assert.match(body, /"hint":"only the formats of other services read the header apikey: send a key/)
})

test('a token of the bank opens neither our API nor other compat APIs', async () => {
  for (const path of [PATH, '/api/v1/rates/latest', '/indicadores/tc']) {
    assert.equal((await ask(app, `/k/BANKTOKEN1${path}`))[0], 401, path)
    assert.equal((await ask(app, path, { 'X-API-Key': 'BANKTOKEN1' }))[0], 401, path)
  }
})

test('a token of the bank is local only by its own connection or a trusted proxy', async (t) => {
  const legacy = `${ASMX}/ObtenerIndicadoresEconomicosXML?${parameters({ Token: 'BANKTOKEN1' })}`
  const isServed = async (of: TestApp, headers: Record<string, string> = {}) =>
    !(await send(of.app.url + legacy, { headers })).body.includes('xsi:nil')
  assert.equal(await isServed(app), true)
  assert.equal(
    await isServed(app, { 'X-Forwarded-For': '203.0.113.9' }),
    false,
    'a proxy that is not trusted',
  )
  const behind = await startOpenApp(t, '10.0.0.0/8', '127.0.0.0/8')
  await addKey(behind, 'BANKTOKEN1', 'bank', 'venta', '127.0.0.0/8,192.0.2.0/24')
  assert.equal(await isServed(behind, { 'X-Forwarded-For': '192.0.2.7' }), true)
  assert.equal(await isServed(behind, { 'X-Forwarded-For': '203.0.113.9' }), false)
  assert.equal(await isServed(behind), false, 'the proxy for itself')
})

test('behind proxies with any address a key with a network is rejected, and the log has the reason', async (t) => {
  const own = await startTestApp(t, {
    listen: { compat: { open: undefined, serveRounded: false }, proxies: ANY_ADDRESS },
  })
  await own.sync()
  await addKey(own, 'BANKTOKEN1', 'bank', 'venta', '127.0.0.0/8,192.0.2.0/24,2001:db8::/48')
  const legacy = `${ASMX}/ObtenerIndicadoresEconomicosXML?${parameters({ Token: 'BANKTOKEN1' })}`
  for (const headers of [{}, ...['192.0.2.7', '2001:db8::1'].map((of) => ({ 'X-Forwarded-For': of }))]) {
    const { body } = await send(own.app.url + legacy, { headers })
    assert.match(body, /xsi:nil/, JSON.stringify(headers))
  }
  const lines = own.logLines.filter((line) => line.includes('a key with a network is rejected'))
  assert.equal(lines.length, 1)
  assert.match(lines[0] ?? '', /"key":"BANKTOKEN1".*--trust-proxy any lets each client forge/)
})

test("two keys with different sides on one URL never get each other's answer", async () => {
  const values = { compra: '', venta: '' }
  for (let at = 0; at < 1000; at++) {
    const [key, side, value] =
      at % 2 ? (['cbk_url', 'venta', venta] as const) : (['cbk_compra', 'compra', compra] as const)
    const headers: Record<string, string> = { 'X-API-Key': key }
    const other = side === 'venta' ? values.compra : values.venta
    if (at % 4 > 1 && other) headers['If-None-Match'] = other
    const response = await fetch(app.app.url + PATH, { headers })
    assert.equal(response.status, 200)
    assert.equal(printedNumber(await response.text(), '"CRC":'), value)
    values[side] = response.headers.get('etag') ?? ''
  }
  assert.notEqual(values.compra, values.venta)
  const [, body] = await ask(app, `${PATH}&tipo=compra`, { 'X-API-Key': 'cbk_url' })
  assert.equal(printedNumber(body, '"CRC":'), compra, 'tipo outranks the key')
})

test('the log has no secret', () => {
  assert.ok(app.logLines.length > 100)
  for (const secret of ['cbk_none', 'cbk_header ', 'BANKTOKEN1/'])
    assert.ok(!app.logLines.join('').includes(secret))
  assert.ok(!/\/k\/|key=cbk/.test(app.logLines.join('')))
})

async function startOpenApp(t: TestContext, open: string, proxies?: string): Promise<TestApp> {
  const compat = { open: open === 'any' ? ('any' as const) : parseNetworks(open), serveRounded: false }
  const own = await startTestApp(t, {
    listen: { compat, proxies: proxies ? parseNetworks(proxies) : undefined },
  })
  await own.sync()
  return own
}

test('an open network needs no key; forwarded addresses count from a trusted proxy only', async (t) => {
  const own = await startOpenApp(t, '10.0.0.0/8')
  const status = async (of: TestApp, headers: Record<string, string> = {}) =>
    (await send(of.app.url + PATH, { headers })).status
  assert.equal(await status(own), 401, 'from another network')
  assert.equal(await status(own, { 'X-Forwarded-For': '10.1.2.3' }), 401, 'who is no trusted proxy')
  const behind = await startOpenApp(t, '10.0.0.0/8', '127.0.0.0/8')
  assert.equal(await status(behind, { 'X-Forwarded-For': '10.1.2.3' }), 200)
  assert.equal(await status(behind, { 'X-Forwarded-For': '10.1.2.3, 192.0.2.1' }), 401, 'the last hop counts')
  assert.equal(await status(behind, { 'X-Forwarded-For': '192.0.2.1, 10.1.2.3' }), 200)
  assert.equal(await status(behind), 401, 'the proxy for itself')
  const local = await startOpenApp(t, 'loopback')
  assert.equal(await status(local), 200)
  assert.equal(await status(local, { Via: '1.1 caddy' }), 401)
  const any = await startOpenApp(t, 'any')
  assert.equal(await status(any, { Via: '1.1 caddy' }), 200)
  assert.equal((await ask(any, '/api/v1/rates/latest'))[0], 401, 'our own API stays closed')
})

test('after 20 wrong keys a minute an address is a 429, and a right key is accepted', async (t) => {
  const own = await startTestApp(t, { listen: { compat: { open: undefined, serveRounded: false } } })
  await own.sync()
  await addKey(own, 'cbk_url', 'url')
  const statuses: number[] = []
  for (let at = 0; at < 25; at++) statuses.push((await ask(own, `/k/wrong${at}/v1/latest`))[0])
  assert.deepEqual(statuses, [...Array(20).fill(401), ...Array(5).fill(429)])
  own.clock.now = new Date(own.clock.now.getTime() + 15_500)
  const refusal = await fetch(`${own.app.url}/k/wrong/v1/latest`)
  assert.deepEqual([refusal.status, refusal.headers.get('retry-after')], [429, '45'])
  assert.equal((await ask(own, '/k/wrong/api/v1/rates'))[0], 401, 'our own API has no limit')
  assert.equal((await ask(own, `/k/cbk_url${PATH}`))[0], 200)
  own.clock.now = new Date(own.clock.now.getTime() + 61_000)
  assert.equal((await ask(own, '/k/wrong/v1/latest'))[0], 401, 'a minute later')
})
