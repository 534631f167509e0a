import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support.ts'
import {
  FIRST,
  FRIDAY,
  openKeyedApp,
  readBody,
  readJson,
  SUNDAY,
  seconds,
  sendKeyEachWay,
  TODAY,
} from './keyed-support.ts'

type Quotes = { quotes: Record<string, number> }
type Failed = { success: boolean; error: { code: number; type: string; info: string } }

const app = await openKeyedApp()
const HEAD = '{"success":true,"terms":"[^"]+","privacy":"[^"]+",'

test('/live has quotes of a source under six letters, in the order of the service', async () => {
  const body = await readBody(app, '/live?currencies=CRC,JPY&format=1')
  const stamp = seconds(TODAY, '12:00:00')
  const rest = `"timestamp":${stamp},"source":"USD","quotes":{"USDCRC":500,"USDJPY":150}}`
  assert.match(body, new RegExp(`^${HEAD}${rest.replace(/[{}]/g, '\\$&')}$`))
})

test('/live without a list has every currency but the source', async () => {
  const { quotes } = await readJson<Quotes>(app, '/live')
  assert.equal(Object.keys(quotes).length, 47 - 1)
  assert.equal(quotes.USDCRC, 500)
  assert.equal('USDUSD' in quotes, false)
})

test('/live has neither a status nor an error', async () => {
  for (const path of ['/live', `/historical?date=${TODAY}`, '/convert?from=USD&to=CRC', '/list']) {
    const body = await readJson(app, path)
    assert.equal('status' in body || 'error' in body, false, path)
  }
})

test('the source may be called base, and in any case', async () => {
  for (const query of ['source=eur', 'base=EUR', 'source=EUR&base=USD']) {
    const { source, quotes } = await readJson(app, `/live?${query}&currencies=usd`)
    assert.deepEqual({ source, quotes }, { source: 'EUR', quotes: { EURUSD: 1.25 } }, query)
  }
})

test('every path of the service is served', async () => {
  for (const root of ['', '/api', '/currency_data', '/compat/currencylayer']) {
    assert.equal((await readJson<Quotes>(app, `${root}/live`)).quotes.USDCRC, 500, root)
  }
})

test('/historical has the day, and its last second', async () => {
  const { terms, privacy, ...body } = await readJson(app, `/historical?date=${SUNDAY}&currencies=CRC`)
  assert.deepEqual(Object.entries(body), [
    ['success', true],
    ['historical', true],
    ['date', SUNDAY],
    ['timestamp', seconds(SUNDAY, '23:59:59')],
    ['source', 'USD'],
    ['quotes', { USDCRC: 500 }],
  ])
})

test('a parity carries its last value over a weekend', async () => {
  const on = async (day: string) =>
    (await readJson<Quotes>(app, `/historical?date=${day}&currencies=BRL`)).quotes
  assert.deepEqual(await on(SUNDAY), await on(FRIDAY))
})

test('a day in the future is answered as today', async () => {
  const { date } = await readJson(app, '/historical?date=2026-12-01')
  assert.equal(date, TODAY)
})

test('/convert has query, info and result', async () => {
  const { terms, privacy, ...body } = await readJson(app, '/convert?from=USD&to=CRC&amount=1e1')
  assert.deepEqual(Object.entries(body), [
    ['success', true],
    ['query', { from: 'USD', to: 'CRC', amount: 10 }],
    ['info', { timestamp: seconds(TODAY, '12:00:00'), quote: 500, rate: 500 }],
    ['result', 5000],
  ])
})

test('/convert with a date has the date', async () => {
  const body = await readJson(app, `/convert?from=USD&to=CRC&amount=2&date=${SUNDAY}`)
  assert.deepEqual(Object.keys(body), [
    ...['success', 'terms', 'privacy', 'query', 'info'],
    ...['historical', 'date', 'result'],
  ])
  assert.equal(body.date, SUNDAY)
  assert.equal(body.result, 1000)
  assert.equal((body.info as { timestamp: number }).timestamp, seconds(SUNDAY, '23:59:59'))
})

test('/convert without an amount converts 1', async () => {
  assert.equal((await readJson(app, '/convert?from=USD&to=CRC')).result, 500)
})

test('numbers are plain decimals of at most 15 digits, however small or large', async () => {
  for (const [query, result] of [
    ['from=CRC&to=USD&amount=1', '0.002'],
    ['from=CRC&to=USD&amount=0.00000000000000000001', '0.00000000000000000000002'],
    ['from=CRC&to=JPY&amount=1e29', '30000000000000000000000000000'],
    ['from=JPY&to=EUR&amount=1', '0.00533333333333333'],
    ['from=JPY&to=EUR&amount=3', '0.016'],
    ['from=USD&to=USD&amount=1', '1'],
  ] as const) {
    assert.match(await readBody(app, `/convert?${query}`), new RegExp(`"result":${result}}$`), query)
  }
})

test('/timeframe has each day of the period', async () => {
  const path = `/timeframe?start_date=${FRIDAY}&end_date=${SUNDAY}&currencies=CRC,EUR`
  const { terms, privacy, ...body } = await readJson(app, path)
  const day = { USDCRC: 500, USDEUR: 0.8 }
  assert.deepEqual(Object.entries(body), [
    ['success', true],
    ['timeframe', true],
    ['start_date', FRIDAY],
    ['end_date', SUNDAY],
    ['source', 'USD'],
    ['quotes', { [FRIDAY]: day, '2026-03-21': day, [SUNDAY]: day }],
  ])
})

test('/timeframe of more than a year ends today', async () => {
  const body = await readJson<Quotes & { end_date: string }>(
    app,
    `/timeframe?base=usd&start_date=${FIRST}&end_date=2027-01-01&currencies=CRC`,
  )
  const days = Object.keys(body.quotes)
  assert.deepEqual([days[0], days.at(-1), days.length, body.end_date], [FIRST, TODAY, 83, TODAY])
})

test('/timeframe before the data is an empty table', async () => {
  const { quotes } = await readJson<Quotes>(
    app,
    '/timeframe?start_date=1980-01-01&end_date=1982-12-31&currencies=CRC',
  )
  assert.deepEqual(quotes, {})
})

test('/list has codes and names', async () => {
  const { currencies } = await readJson<{ currencies: Record<string, string> }>(app, '/list')
  assert.equal(currencies.CRC, 'Costa Rican Colón')
  assert.equal(Object.keys(currencies).length, 47)
})

test('the tables of exchangerate.host have a base, and answer below its name', async () => {
  for (const [path, date] of [
    ['/compat/currencylayer/latest?base=USD&symbols=CRC', TODAY],
    [`/compat/currencylayer/${SUNDAY}?base=USD&symbols=CRC`, SUNDAY],
  ]) {
    const { success, base, date: answerDate, rates } = await readJson(app, path ?? '')
    assert.deepEqual(
      { success, base, date: answerDate, rates },
      { success: true, base: 'USD', date, rates: { CRC: 500 } },
    )
  }
})

test('tipo selects the side of the dollar', async () => {
  const on = async (tipo: string) => (await readJson<Quotes>(app, `/live?currencies=CRC&tipo=${tipo}`)).quotes
  assert.deepEqual(await on('compra'), { USDCRC: 490.5 })
  assert.deepEqual(await on('VENTA'), { USDCRC: 500 })
})

test('a currency that is not stored is left out, and logged once', async () => {
  for (let times = 0; times < 2; times++) {
    const { quotes } = await readJson<Quotes>(app, '/live?currencies=CRC,QQQ')
    assert.deepEqual(quotes, { USDCRC: 500 })
  }
  const noted = app.logLines.filter((line) => line.includes('not held') && line.includes('QQQ'))
  assert.equal(noted.length, 1)
  assert.match(noted[0] ?? '', /currencylayer/)
})

const many = Array.from({ length: 201 }, (_, at) => `A${at}`).join()
for (const [path, code, type] of [
  ['/compat/currencylayer/nothing', 103, 'invalid_api_function'],
  ['/compat/currencylayer/2026-1-1', 103, 'invalid_api_function'],
  ['/historical?date=2025-12-31', 106, 'no_rates_available'],
  ['/convert?from=USD&to=CRC&date=1999-01-01', 106, 'no_rates_available'],
  ['/live?source=QQQ', 201, 'invalid_source_currency'],
  ['/live?source=%27', 201, 'invalid_source_currency'],
  ['/live?currencies=QQQ,QQR', 202, 'invalid_currency_codes'],
  [`/live?currencies=${many}`, 202, 'invalid_currency_codes'],
  ['/historical', 301, 'no_date_supplied'],
  ['/historical?date=2026-02-31', 302, 'invalid_date'],
  ['/historical?date=today', 302, 'invalid_date'],
  ['/convert?from=USD&to=CRC&date=24-03-2026', 302, 'invalid_date'],
  ['/live?tipo=media', 400, 'bad_request'],
  ['/convert?to=CRC', 401, 'invalid_from_currency'],
  ['/convert?from=QQQ&to=CRC', 401, 'invalid_from_currency'],
  ['/convert?from=USD', 402, 'invalid_to_currency'],
  ['/convert?from=USD&to=QQQ', 402, 'invalid_to_currency'],
  ['/convert?from=USD&to=CRC&amount=0', 403, 'invalid_conversion_amount'],
  ['/convert?from=USD&to=CRC&amount=-1', 403, 'invalid_conversion_amount'],
  ['/convert?from=USD&to=CRC&amount=ten', 403, 'invalid_conversion_amount'],
  ['/convert?from=USD&to=CRC&amount=1e99', 403, 'invalid_conversion_amount'],
  ['/timeframe', 501, 'no_time_frame_supplied'],
  ['/timeframe?end_date=2026-03-01', 502, 'invalid_start_date'],
  ['/timeframe?start_date=2026-13-01&end_date=2026-03-01', 502, 'invalid_start_date'],
  ['/timeframe?start_date=2026-03-01&end_date=1', 503, 'invalid_end_date'],
  ['/timeframe?start_date=2026-03-02&end_date=2026-03-01', 504, 'invalid_time_frame'],
] as const) {
  test(`${path.slice(0, 60)} is error ${code} with HTTP 200`, async () => {
    const { success, error } = await readJson<Failed>(app, path)
    assert.deepEqual([success, error.code, error.type, typeof error.info], [false, code, type, 'string'])
  })
}

test('a key is accepted in each way', async () => {
  for (const [way, { status, body }] of await sendKeyEachWay(app, '/live?currencies=CRC')) {
    assert.equal(status, 200, way)
    assert.match(body, /"USDCRC":500/, way)
  }
})

test('no key, a wrong key, and a key for other uses are error 101 with HTTP 200', async () => {
  for (const [query, type] of [
    ['', 'missing_access_key'],
    ['?access_key=wrong', 'invalid_access_key'],
    [`?access_key=${app.key}`, 'invalid_access_key'],
  ]) {
    const { status, body, headers } = await send(`${app.app.url}/live${query}`)
    const { success, error } = JSON.parse(body) as Failed
    assert.deepEqual([status, success, error.code, error.type], [200, false, 101, type])
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(body.includes('cbk_'), false)
  }
})

test('another method is rejected in the form of the service', async () => {
  const { status, body } = await send(`${app.app.url}/live`, {
    method: 'DELETE',
    headers: { 'x-api-key': app.key },
  })
  assert.equal(status, 405)
  assert.equal((JSON.parse(body) as Failed).error.code, 103)
})

test('rounded parities are left out, the dollar is not', async (t) => {
  const rounded = await openKeyedApp({ isRounded: true })
  const { quotes } = await readJson<Quotes>(rounded, '/live')
  assert.deepEqual(quotes, { USDCRC: 500 })
  const { error } = await readJson<Failed>(rounded, '/convert?from=EUR&to=CRC')
  assert.equal(error.code, 106)
  assert.ok(rounded.logLines.some((line) => line.includes('rounded values are not served')))
  await t.test('unless the operator serves them', async () => {
    const roundedApp = await openKeyedApp({ isRounded: true, serveRounded: true })
    const { headers, body } = await send(`${roundedApp.app.url}/live?access_key=cbk_made-for-urls`)
    assert.match(headers['x-rounded-to'] as string, /^\d$/)
    assert.ok(Object.keys((JSON.parse(body) as Quotes).quotes).length > 40)
  })
})
