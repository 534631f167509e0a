import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support.ts'
import {
  FIRST,
  FRIDAY,
  KEY,
  openKeyedApp,
  readBody,
  readJson,
  SUNDAY,
  seconds,
  sendKeyEachWay,
  TODAY,
} from './keyed-support.ts'

type Table = { timestamp: number; base: string; rates: Record<string, number> }
type Failed = { error: boolean; status: number; message: string; description: string }

const app = await openKeyedApp()

test('latest.json has a table of the dollar, in the order of the service', async () => {
  const stamp = seconds(TODAY, '12:00:00')
  const body = await readBody(app, '/api/latest.json?symbols=USD,CRC&show_alternative=1&prettyprint=false')
  assert.match(body, /^\{"disclaimer":"[^"]+","license":"[^"]+",/)
  assert.ok(body.endsWith(`,"timestamp":${stamp},"base":"USD","rates":{"CRC":500,"USD":1}}`), body)
})

test('the table includes the base, at 1', async () => {
  const { base, rates } = await readJson<Table>(app, '/api/latest.json?base=crc')
  assert.deepEqual([base, rates.CRC, rates.USD, Object.keys(rates).length], ['CRC', 1, 0.002, 47])
})

test('latest.json has neither a status nor an error', async () => {
  for (const path of ['latest.json', 'usage.json', 'currencies.json', 'convert/1/USD/CRC']) {
    const body = await readJson(app, `/api/${path}`)
    assert.equal('status' in body || 'error' in body, false, path)
  }
})

test('historical has a timestamp in the middle of the day', async () => {
  const { timestamp, rates } = await readJson<Table>(app, `/api/historical/${SUNDAY}.json?symbols=CRC`)
  assert.deepEqual([timestamp, rates], [seconds(SUNDAY, '12:00:00'), { CRC: 500 }])
})

test('a day in the future is answered as today', async () => {
  assert.equal(
    (await readJson<Table>(app, '/api/historical/2026-12-01.json')).timestamp,
    seconds(TODAY, '12:00:00'),
  )
})

test('time-series has each day of the period', async () => {
  const { disclaimer, license, ...body } = await readJson(
    app,
    `/api/time-series.json?start=${FRIDAY}&end=${SUNDAY}&symbols=CRC,USD`,
  )
  const day = { CRC: 500, USD: 1 }
  assert.deepEqual(Object.entries(body), [
    ['start_date', FRIDAY],
    ['end_date', SUNDAY],
    ['base', 'USD'],
    ['rates', { [FRIDAY]: day, '2026-03-21': day, [SUNDAY]: day }],
  ])
})

test('time-series before the data is an empty table', async () => {
  const { rates } = await readJson<Table>(
    app,
    '/api/time-series.json?start=1980-01-01&end=1982-12-31&symbols=CRC',
  )
  assert.deepEqual(rates, {})
})

test('convert has request, rate and response', async () => {
  const { disclaimer, license, ...body } = await readJson(app, '/api/convert/19.5/eur/CRC')
  assert.deepEqual(body, {
    request: { query: '/convert/19.5/EUR/CRC', amount: 19.5, from: 'EUR', to: 'CRC' },
    meta: { timestamp: seconds(TODAY, '12:00:00'), rate: 625 },
    response: 12187.5,
  })
})

test('currencies.json needs no key', async () => {
  const { status, body } = await send(`${app.app.url}/api/currencies.json`)
  const names = JSON.parse(body) as Record<string, string>
  assert.deepEqual([status, names.CRC, Object.keys(names).length], [200, 'Costa Rican Colón', 47])
})

test('usage.json has the days of the month and no key', async () => {
  const body = await readBody(app, '/api/usage.json')
  const { data } = JSON.parse(body) as { data: { status: string; usage: Record<string, number> } }
  assert.deepEqual([data.status, data.usage.days_elapsed, data.usage.days_remaining], ['active', 23, 8])
  assert.ok((data.usage.requests_remaining ?? 0) > 0)
  assert.equal(body.includes('cbk_'), false)
})

test('tipo selects the side of the dollar', async () => {
  const { rates } = await readJson<Table>(app, '/api/latest.json?symbols=CRC&tipo=compra')
  assert.deepEqual(rates, { CRC: 490.5 })
})

test('a currency that is not stored is left out', async () => {
  assert.deepEqual((await readJson<Table>(app, '/api/latest.json?symbols=QQQ,CRC')).rates, { CRC: 500 })
  assert.deepEqual((await readJson<Table>(app, '/api/latest.json?symbols=QQQ')).rates, {})
  assert.ok(app.logLines.some((line) => line.includes('not held') && line.includes('oxr')))
})

test('prettyprint indents, and changes no digit', async () => {
  const path = '/api/time-series.json?start=2026-01-02&end=2026-01-09'
  const plain = await readBody(app, path)
  const indented = await readBody(app, `${path}&prettyprint=1`)
  assert.equal(indented.replaceAll(/\n */g, '').replaceAll('": ', '":'), plain)
  for (const other of [
    '/api/latest.json?symbols=USD,CRC',
    '/api/usage.json?',
    '/api/latest.json?symbols=QQQ',
  ]) {
    const value = await readJson(app, other)
    assert.equal(await readBody(app, `${other}&prettyprint=true`), JSON.stringify(value, null, 2))
  }
  const long = `/api/time-series.json?start=${FIRST}&end=${TODAY}`
  assert.equal(
    await readBody(app, `${long}&prettyprint=1`),
    await readBody(app, long),
    'too long for a person',
  )
  for (const off of ['0', 'false', '']) assert.equal(await readBody(app, `${path}&prettyprint=${off}`), plain)
})

test('callback makes a script that calls the function of that name', async () => {
  const path = '/api/latest.json?symbols=CRC'
  const { status, body, headers } = await send(`${app.app.url}/k/${KEY}${path}&callback=my.rates_1`)
  assert.deepEqual([status, body], [200, `/**/my.rates_1(${await readBody(app, path)});`])
  assert.equal(headers['content-type'], 'application/javascript; charset=utf-8')
  assert.equal(headers['x-content-type-options'], 'nosniff')
  const currencies = await readBody(app, '/api/currencies.json?callback=f&prettyprint=true')
  assert.match(currencies, /^\/\*\*\/f\(\{\n {2}"[A-Z]{3}": "[\s\S]*\n\}\);$/)
})

const many = Array.from({ length: 201 }, (_, at) => `A${at}`).join()
for (const [path, status, message] of [
  ['/compat/oxr/api/nothing.json', 404, 'not_found'],
  ['/compat/oxr/api/historical/yesterday.json', 404, 'not_found'],
  [`/compat/oxr/api/historical/${TODAY}`, 404, 'not_found'],
  ['/api/latest.json?base=QQQ', 400, 'invalid_base'],
  [`/api/latest.json?symbols=${many}`, 400, 'invalid_symbols'],
  ['/api/latest.json?tipo=media', 400, 'bad_request'],
  ['/api/historical/2026-02-31.json', 400, 'invalid_date'],
  ['/api/historical/2025-12-31.json', 400, 'not_available'],
  ['/api/time-series.json', 400, 'invalid_date_range'],
  [`/api/time-series.json?start=${TODAY}&end=${FIRST}`, 400, 'invalid_date_range'],
  ['/api/latest.json?callback=alert(1)//', 400, 'invalid_callback'],
  ['/api/currencies.json?callback=a;b', 400, 'invalid_callback'],
  [`/api/usage.json?callback=${'a'.repeat(65)}`, 400, 'invalid_callback'],
  ['/api/convert/x/USD/CRC', 400, 'invalid_value'],
  ['/api/convert/1/QQQ/CRC', 400, 'invalid_currency'],
  ['/api/convert/1/USD/QQQ', 400, 'invalid_currency'],
] as const) {
  test(`${path.slice(0, 60)} is ${message} with HTTP ${status}`, async () => {
    const error = await readJson<Failed>(app, path, status)
    assert.deepEqual([error.error, error.status, error.message], [true, status, message])
    assert.equal(typeof error.description, 'string')
  })
}

test('a key is accepted in each way', async () => {
  for (const [way, { status, body }] of await sendKeyEachWay(app, '/api/latest.json?symbols=CRC')) {
    assert.equal(status, 200, way)
    assert.match(body, /"CRC":500/, way)
  }
})

test('no key and a wrong key are 401', async () => {
  for (const [query, message] of [
    ['', 'missing_app_id'],
    ['?app_id=wrong', 'invalid_app_id'],
    [`?app_id=${app.key}`, 'invalid_app_id'],
  ]) {
    const { status, body } = await send(`${app.app.url}/api/latest.json${query}`)
    const error = JSON.parse(body) as Failed
    assert.deepEqual([status, error.status, error.message], [401, 401, message])
  }
})
