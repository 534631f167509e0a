import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support.ts'
import {
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

type Table = { base: string; rates: Record<string, number> }
type Failed = { success: boolean; error: { code: number; type: string } }

const app = await openKeyedApp()

test('/latest has a table of the euro, in the order of the service', async () => {
  const stamp = seconds(TODAY, '12:00:00')
  const rest = `"base":"EUR","date":"${TODAY}","rates":{"CRC":625,"USD":1.25}}`
  assert.equal(
    await readBody(app, '/api/latest?symbols=USD,CRC'),
    `{"success":true,"timestamp":${stamp},${rest}`,
  )
})

test('the table includes the base, at 1', async () => {
  const { rates } = await readJson<Table>(app, '/api/latest')
  assert.deepEqual([rates.EUR, rates.CRC, Object.keys(rates).length], [1, 625, 47])
  const alone = await readJson<Table>(app, '/api/latest?base=crc&symbols=CRC')
  assert.deepEqual([alone.base, alone.rates], ['CRC', { CRC: 1 }])
})

test('/latest has neither a status nor an error', async () => {
  const body = await readJson(app, '/api/latest')
  assert.equal('status' in body || 'error' in body, false)
})

test('a past day is marked as historical, and has its last second', async () => {
  assert.equal(
    await readBody(app, `/api/${SUNDAY}?base=USD&symbols=CRC`),
    `{"success":true,"timestamp":${seconds(SUNDAY, '23:59:59')},"historical":true,"base":"USD","date":"${SUNDAY}","rates":{"CRC":500}}`,
  )
})

test('a day in the future is answered as today', async () => {
  assert.equal((await readJson(app, '/api/2026-12-01')).date, TODAY)
})

test('/timeseries has each day of the period, with the base', async () => {
  const day = { CRC: 500, USD: 1 }
  assert.deepEqual(
    Object.entries(
      await readJson(app, `/api/timeseries?start_date=${FRIDAY}&end_date=${SUNDAY}&base=USD&symbols=CRC,USD`),
    ),
    [
      ['success', true],
      ['timeseries', true],
      ['start_date', FRIDAY],
      ['end_date', SUNDAY],
      ['base', 'USD'],
      ['rates', { [FRIDAY]: day, '2026-03-21': day, [SUNDAY]: day }],
    ],
  )
})

test('/timeseries leaves out days with the base alone', async () => {
  const path = '/api/timeseries?start_date=1982-12-01&end_date=1982-12-31&base=USD&symbols=CRC,USD'
  const { rates } = await readJson<Table>(app, path)
  assert.deepEqual(rates, {})
})

test('/symbols has codes and names', async () => {
  const { success, symbols } = await readJson<{ success: boolean; symbols: Record<string, string> }>(
    app,
    '/api/symbols',
  )
  assert.deepEqual([success, symbols.USD], [true, 'US Dollar'])
})

test('/convert has the value of an amount', async () => {
  assert.deepEqual(await readJson(app, '/fixer/convert?from=EUR&to=CRC&amount=25'), {
    success: true,
    query: { from: 'EUR', to: 'CRC', amount: 25 },
    info: { timestamp: seconds(TODAY, '12:00:00'), quote: 625, rate: 625 },
    result: 15625,
  })
})

test('every path of the service is served', async () => {
  for (const path of [
    '/api/latest',
    '/fixer/latest',
    '/compat/fixer/api/latest',
    '/compat/fixer/fixer/latest',
  ]) {
    assert.equal((await readJson<Table>(app, path)).base, 'EUR', path)
  }
  const { body } = await send(`${app.app.url}/latest?access_key=${KEY}`)
  assert.equal((JSON.parse(body) as Table).rates.EUR, 1)
})

test('tipo selects the side of the dollar', async () => {
  const { rates } = await readJson<Table>(app, '/api/latest?base=USD&symbols=CRC&tipo=compra')
  assert.deepEqual(rates, { CRC: 490.5 })
})

test('a currency that is not stored is left out', async () => {
  assert.deepEqual((await readJson<Table>(app, '/api/latest?symbols=QQQ,CRC')).rates, { CRC: 625 })
  assert.ok(app.logLines.some((line) => line.includes('not held') && line.includes('fixer')))
})

for (const [path, code, type] of [
  ['/compat/fixer/api/nothing', 103, 'invalid_api_function'],
  ['/compat/fixer/nothing/at/all', 103, 'invalid_api_function'],
  ['/api/2025-12-31', 106, 'no_rates_available'],
  ['/api/2025-12-31?symbols=EUR', 106, 'no_rates_available'],
  ['/api/latest?base=QQQ', 201, 'invalid_base_currency'],
  ['/api/latest?symbols=QQQ', 202, 'invalid_currency_codes'],
  ['/api/2026-02-31', 302, 'invalid_date'],
  ['/fixer/convert?from=QQQ&to=USD', 401, 'invalid_from_currency'],
  ['/fixer/convert?from=USD&to=QQQ', 402, 'invalid_to_currency'],
  ['/fixer/convert?from=USD&to=CRC&amount=0', 403, 'invalid_conversion_amount'],
  ['/api/timeseries?start_date=x&end_date=2026-01-01', 502, 'invalid_start_date'],
  ['/api/timeseries?start_date=2026-01-01&end_date=x', 503, 'invalid_end_date'],
] as const) {
  test(`${path} is error ${code} with HTTP 200`, async () => {
    const { success, error } = await readJson<Failed>(app, path)
    assert.deepEqual([success, error.code, error.type], [false, code, type])
  })
}

test('a key is accepted in each way', async () => {
  for (const [way, { status, body }] of await sendKeyEachWay(app, '/api/latest')) {
    assert.equal(status, 200, way)
    assert.match(body, /"EUR":1[,}]/, way)
  }
})

test('a wrong key is error 101 with HTTP 200', async () => {
  const { status, body } = await send(`${app.app.url}/api/latest?access_key=wrong`)
  assert.deepEqual([status, (JSON.parse(body) as Failed).error.code], [200, 101])
})
