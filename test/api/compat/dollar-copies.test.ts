// GoMeta and paginasweb: both sides of the dollar as their readers parse them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworks } from '../../../src/http/listener/networks.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, loseDays, openApp, send, storeAsOtherProcess } from '../support.ts'
import { addKey, URL_KEY } from './asmx.ts'
import { ask, openShapes, readJson, type TestApp, TODAY } from './support.ts'

type Sides = { rate_date: string; compra: string; venta: string }

const app = await openShapes()
const { compra, venta } = await app.json<Sides>('/api/v1/rates/latest')
const UPDATED = 'Tue Mar 24 06:00:00 2026'
const GOMETA = gometaBody({ compra, venta, compra_date: TODAY, venta_date: TODAY })
const PAGINASWEB = `{"compra":${compra},"venta":${venta},"fecha":"${TODAY}"}`

function gometaBody({ compra, venta, compra_date, venta_date }: Record<string, string>, updated = UPDATED) {
  const dates = `"compra_date":"${compra_date}","venta_date":"${venta_date}"`
  return `{"updated":"${updated}","compra":${compra},"venta":${venta},${dates}}`
}

/** Bytes of a stored pair on a day. */
async function paginaswebBody(server: TestApp, day: string): Promise<string> {
  const sides = await server.json<Sides>(`/api/v1/rates/latest?on=${day}`)
  return `{"compra":${sides.compra},"venta":${sides.venta},"fecha":"${sides.rate_date}"}`
}

for (const path of [
  '/tdc/tdc.json',
  '/tdc/tdc.json/',
  '/tdc/tdc.json?fbclid=IwAR0',
  '/tdc/tdc.json?tipo=compra',
  '/tdc/tdc.json?tipo=other',
  '/compat/gometa/tdc/tdc.json',
]) {
  test(`GoMeta: ${path} has the bytes of today`, async () =>
    assert.deepEqual(await ask(app, path), [200, GOMETA]))
}

for (const path of [
  '/api',
  '/api/',
  '/api?fbclid=IwAR0',
  '/api/?tipo=other',
  '/compat/paginasweb/api',
  '/api/24/3/2026',
  '/api//24/3/2026',
  '/api/24/03/2026/',
  '/api/2026/3/24',
  '/api/2026/03/24?fbclid=IwAR0',
  '/api/1/1/2030',
  '/compat/paginasweb/api//24/3/2026',
]) {
  test(`paginasweb: ${path} has the bytes of today`, async () =>
    assert.deepEqual(await ask(app, path), [200, PAGINASWEB]))
}

test('paginasweb has the settled day of any date, in each of its forms', async () => {
  for (const day of ['2026-01-05', '2026-02-28', '2026-03-01', '2026-03-22']) {
    const [year = '', month = '', date = ''] = day.split('-')
    const body = await paginaswebBody(app, day)
    for (const path of [
      `${date}/${month}/${year}`,
      `${Number(date)}/${Number(month)}/${year}`,
      `${year}/${month}/${date}`,
    ])
      assert.deepEqual(await ask(app, `/api/${path}`), [200, body], path)
  }
})

test('paginasweb answers 400 where no part or two parts have four digits, or there is no such day', async () => {
  for (const path of [
    '3/9/26',
    '2026/9/2026',
    '3/2026/9',
    '31/2/2026',
    '0/1/2026',
    '003/9/2026',
    '1/1/1899',
  ]) {
    const [status, body] = await ask(app, `/api/${path}`)
    assert.deepEqual([status, Object.keys(JSON.parse(body))], [400, ['error']], path)
  }
})

test('paginasweb answers 404 before the data', async () => {
  const [status, body] = await ask(app, '/api/1/1/2020')
  assert.deepEqual([status, body], [404, '{"error":"No rate of USD/CRC is stored on or before 2020-01-01"}'])
})

test('other paths of apis.gometa.org are a 404 with a sentence', async () => {
  for (const path of ['/cedulas/3101123456', '/cedulas', '/compat/gometa/tdc']) {
    const [status, body] = await ask(app, path)
    assert.equal(status, 404, path)
    assert.match(JSON.parse(body).error, /this server has rates alone/, path)
  }
})

test('paths of other services below /api are not of paginasweb', async () => {
  for (const path of ['/api/latest?base=USD', '/api/2026-03-20?base=USD', '/api/live', '/api/latest.json']) {
    const [status, body] = await ask(app, path)
    assert.ok(status === 200 && !body.includes('fecha'), `${path}: ${status} ${body}`)
  }
  assert.equal((await app.get('/api/v1/rates')).status, 200)
})

test('websites may read both, HEAD has the headers of GET, and an ETag is revalidated', async () => {
  for (const path of ['/tdc/tdc.json', '/api//24/3/2026']) {
    const url = app.app.url + path
    const preflight = await send(url, {
      method: 'OPTIONS',
      headers: { origin: 'https://tienda.example', 'access-control-request-method': 'GET' },
    })
    assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, '*'], path)
    const answer = await send(url, { headers: { origin: 'https://tienda.example' } })
    assert.equal(answer.headers['access-control-allow-origin'], '*')
    assert.equal(answer.headers['content-type'], 'application/json')
    const head = await send(url, { method: 'HEAD' })
    assert.deepEqual([head.status, head.body, head.headers.etag], [200, '', answer.headers.etag])
    assert.equal(head.headers['content-length'], answer.headers['content-length'])
    const notModified = await send(url, { headers: { 'if-none-match': answer.headers.etag } })
    assert.deepEqual([notModified.status, notModified.body], [304, ''])
    const missing = await send(url.replace(/tdc\.json|2026$/, '0000'), {})
    assert.equal(missing.headers['cache-control'], 'no-store')
  }
})

test('a row of tomorrow is not shown, and yesterday never has the date of today', async () => {
  const other = await openShapes()
  const startSecond = Math.floor(Date.now() / 1000)
  const yesterday = await other.json<Sides>('/api/v1/rates/latest?on=2026-03-23')
  await storeAsOtherProcess(other, { series: 2, day: '2026-03-25', value: '999.99' })
  await until(async () => (await other.json<Sides>('/api/v1/rates/latest?on=2026-03-25')).venta === '999.99')
  assert.equal((await readJson<{ venta: number }>(other, '/tdc/tdc.json')).venta, Number(venta))
  await asOtherProcess(other, (db) =>
    db.deleteFrom('rates').where('series_id', '=', 2).where('rate_date', '>=', TODAY).execute(),
  )
  await storeAsOtherProcess(other, { series: 2, day: '2026-03-23', value: yesterday.venta })
  await storeAsOtherProcess(other, { series: 1, day: TODAY, value: '500.01' })
  const expected = { compra: '500.01', venta: yesterday.venta, compra_date: TODAY, venta_date: '2026-03-23' }
  const body = async () => (await ask(other, '/tdc/tdc.json'))[1]
  await until(async () => (await body()).includes('500.01'))
  const { updated } = JSON.parse(await body())
  assert.equal(await body(), gometaBody(expected, updated))
  const second = Date.parse(`${updated} GMT-0600`) / 1000
  assert.ok(second >= startSecond && second <= Date.now() / 1000, updated)
  assert.equal((await ask(other, '/api'))[0], 404)
})

test('a side without values is a 404', async () => {
  const other = await openShapes()
  await asOtherProcess(other, (db) => db.deleteFrom('rates').where('series_id', '=', 1).execute())
  await storeAsOtherProcess(other, { series: 2, day: TODAY, value: '500.02' })
  await loseDays(other, { from: '1983-01-01', to: TODAY }, ['317'])
  await until(async () => (await ask(other, '/tdc/tdc.json'))[0] === 404)
  assert.equal(
    (await ask(other, '/tdc/tdc.json'))[1],
    `{"error":"no compra of USD/CRC is held on or before ${TODAY}"}`,
  )
  assert.deepEqual(await ask(other, '/api'), [404, `{"error":"no compra of ${TODAY} is held"}`])
})

test('a hole is a 404 that names its days', async () => {
  const other = await openShapes()
  await loseDays(other, { from: '2026-03-20', to: '2026-03-23' })
  await asOtherProcess(other, (db) => db.deleteFrom('rates').where('rate_date', '>=', '2026-03-20').execute())
  await storeAsOtherProcess(other, { series: 3, day: TODAY, value: '2' })
  const body = '{"error":"the days from 2026-03-20 to 2026-03-23 have not been synchronized"}'
  await until(async () => (await ask(other, '/api'))[0] === 404)
  assert.deepEqual(await ask(other, '/tdc/tdc.json'), [404, body])
  assert.deepEqual(await ask(other, '/api'), [404, body])
  assert.deepEqual(await ask(other, '/api/22/3/2026'), [404, body.replace('2026-03-23', '2026-03-22')])
  assert.equal((await ask(other, '/api/19/3/2026'))[0], 200)
})

test('a key may be in the path or the query, without one the answer is 401, and no log has it', async () => {
  const keyed = await openShapes({ listen: { compat: { open: undefined, serveRounded: false } } })
  await addKey(keyed, { secret: URL_KEY, kind: 'url' })
  for (const path of ['/tdc/tdc.json', '/api', '/api//24/3/2026', '/compat/paginasweb/api/2026/3/24']) {
    const [status, body] = await ask(keyed, path)
    assert.equal(status, 401, path)
    assert.match(
      body,
      /^\{"error":"Missing key: send it in the header X-API-Key, in the path as \/k\/KEY, or/,
    )
    for (const withKey of [
      `/k/${URL_KEY}${path}`,
      `${path}?key=${URL_KEY}`,
      `${path}?fbclid=x&apikey=${URL_KEY}`,
    ])
      assert.equal((await ask(keyed, withKey))[0], 200, withKey)
  }
  assert.ok(!keyed.logLines.join('').includes(URL_KEY))
})

test('an open network needs no key, through a proxy too, and each other address does', async () => {
  const open = parseNetworks('192.0.2.0/24')
  const server = await openShapes({
    listen: { compat: { open, serveRounded: false }, proxies: parseNetworks('127.0.0.1') },
  })
  for (const path of ['/tdc/tdc.json', '/tdc/tdc.json/?fbclid=x', '/api', '/api/', '/api//24/3/2026']) {
    const forwarded = (address: string, method = 'GET') =>
      send(server.app.url + path, { method, headers: { 'x-forwarded-for': address } })
    const inside = await forwarded('192.0.2.7')
    assert.deepEqual([inside.status, inside.headers['access-control-allow-origin']], [200, '*'], path)
    for (const address of ['192.0.3.7', '2001:db8::1', '127.0.0.1'])
      assert.equal((await forwarded(address)).status, 401, `${path} ${address}`)
    assert.equal((await forwarded('192.0.2.7', 'HEAD')).status, 200)
    assert.equal((await forwarded('192.0.2.7', 'POST')).status, 405)
  }
})

test('an empty store is a 404', async () => {
  const empty = await openApp({ listen: { compat: { open: 'any', serveRounded: false } } })
  for (const path of ['/tdc/tdc.json', '/api']) assert.equal((await ask(empty, path))[0], 404, path)
})
