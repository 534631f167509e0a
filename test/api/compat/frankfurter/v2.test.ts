import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../faults/scale.ts'
import { fc } from '../../../support/fast-check.ts'
import { ask, convertUnit, openShapes, printedNumber, readJson, TODAY } from '../support.ts'

type Row = { date: string; base: string; quote: string; rate: number }

const EUR = '333' // the bank's code
const app = await openShapes()
const { compra, venta } = await app.json<Record<'compra' | 'venta', string>>('/api/v1/rates/latest')
const CRC = `{"date":"${TODAY}","base":"USD","quote":"CRC","rate":${venta}}`
const USD = `{"date":"${TODAY}","base":"USD","quote":"USD","rate":1.0}`

for (const [path, body] of [
  ['/v2/rate/USD/CRC', CRC],
  ['/v2/rate/usd/crc/', CRC],
  ['/v2/rate/USD/USD', USD],
  [`/v2/rate/USD/CRC?date=${TODAY}&providers=bccr`, CRC],
  ['/v2/rates?base=USD&quotes=USD,CRC', `[${CRC},${USD}]`],
  ['/v2/providers/bccr/rates?base=usd&quotes=CRC', `[${CRC}]`],
  ['/v2/rates?base=USD&quotes=CRC&tipo=venta&key=x&access_key=y', `[${CRC}]`],
  ['/v2/rate/USD/CRC?providers=ECB,BCCR&tipo=compra', CRC.replace(venta, compra)],
  ['/v2/rates?base=USD&quotes=CRC&date=1990-01-01', '[]'],
  ['/v2/rates?base=USD&quotes=CRC&providers=ECB', '[]'],
  ['/v2/rates.csv?base=USD&quotes=CRC', `date,base,quote,rate\n${TODAY},USD,CRC,${venta}\n`],
  ['/v2/rates.csv?base=USD&quotes=CRC&date=1990-01-01', ''],
  ['/v2/rates?base=USD&date=1982-12-31', '[]'],
  ['/v2/rates?base=USD&quotes=USD,CRC&from=1982-12-30&to=1982-12-31', '[]'],
  ['/v2/rates.csv?base=USD&date=1982-12-31', ''],
  ['/v2/rates.csv?base=USD&quotes=CRC&from=1982-12-30&to=1982-12-31', 'date,base,quote,rate\n'],
  [
    '/v2/rates.csv?base=USD&quotes=CRC&dialecto=es-CR',
    `\ufefffecha;base;moneda;tipo\r\n24/03/2026;USD;CRC;${venta.replace('.', ',')}\r\n`,
  ],
  [
    '/v2/rates.csv?base=USD&quotes=CRC&decimal=,&sep=;',
    `date;base;quote;rate\n${TODAY};USD;CRC;${venta.replace('.', ',')}\n`,
  ],
  [
    '/v2/rates?base=USD&quotes=CRC&expand=providers',
    `[${CRC.slice(0, -1)},"providers":[{"key":"BCCR","date":"${TODAY}","rate":${venta}}]}]`,
  ],
] as const) {
  test(`${path} has these bytes`, async () => {
    const response = await fetch(app.app.url + path)
    const text = Buffer.from(await response.arrayBuffer()).toString()
    assert.deepEqual([response.status, text], [200, body])
  })
}

test('NDJSON is chosen by Accept, at any position of the header, but not before CSV', async () => {
  const headers = { Accept: 'application/json, application/x-ndjson;q=0.5' }
  const path = '/v2/rates?base=USD&quotes=CRC,USD'
  const response = await fetch(app.app.url + path, { headers })
  assert.equal(response.headers.get('content-type'), 'application/x-ndjson; charset=utf-8')
  assert.equal(await response.text(), `${CRC}\n${USD}\n`)
  const csv = await fetch(app.app.url + path.replace('rates', 'rates.csv'), { headers })
  assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
})

for (const [query, message] of [
  ['?x=1', 'unknown parameter: x'],
  ['?date=2026-02-31', 'invalid date'],
  ['?date=2026-01-01&from=2026-01-01', 'conflicting params'],
  ['?from=2026-01-01&group=day', 'invalid group'],
  ['?expand=all', 'invalid expand'],
  ['?base=XYZ', 'invalid currency: XYZ'],
  ['?quotes=CRC,ABC', 'invalid currency: ABC'],
] as const) {
  test(`/v2/rates${query} is rejected: ${message}`, async () => {
    assert.deepEqual(await ask(app, `/v2/rates${query}`), [422, JSON.stringify({ status: 422, message })])
  })
}

test('a single rate before the data is a 404', async () => {
  const expected = [404, '{"status":404,"message":"not found"}'] as const
  assert.deepEqual(await ask(app, '/v2/rate/USD/CRC?date=1990-01-01'), expected)
  assert.deepEqual(await ask(app, '/v2/currency/XXX'), expected)
})

test('a range is by date and quote, begins with the last row before it, and has no row twice', async () => {
  const rows = await readJson<Row[]>(app, '/v2/rates?base=EUR&quotes=JPY,CRC&from=2026-03-22&to=2026-03-23')
  assert.deepEqual(
    rows.map(({ date, quote }) => `${date} ${quote}`),
    ['2026-03-20 JPY', '2026-03-22 CRC', '2026-03-23 CRC', '2026-03-23 JPY'],
  )
  const open = await readJson<Row[]>(app, '/v2/rates?base=USD&quotes=CRC&from=2026-03-20')
  assert.equal(open.at(-1)?.date, TODAY)
})

test('a day and the first row of a range have the last day on which all values are known, and its rate', async () => {
  const dollars = new Map<string, string | null>([
    ['2023-05-05', '459.51'],
    ['2023-05-06', '458.4'],
    ['2023-05-07', null],
  ])
  const weekend = await openShapes({
    now: '2023-05-09T12:00:00Z',
    backfillFrom: '2023-05-01',
    bank: {
      value: (code, day) =>
        code === '318' ? dollars.get(day) : code === EUR && day === '2023-05-05' ? '1.1014' : undefined,
    },
  })
  const friday = [{ date: '2023-05-05', base: 'EUR', quote: 'CRC', rate: 506.104314 }]
  const saturday = [{ date: '2023-05-06', base: 'EUR', quote: 'CRC', rate: 504.88176 }]
  const rates = '/v2/rates?base=EUR&quotes=CRC&'
  for (const [day, rows] of [
    ['2023-05-05', friday],
    ['2023-05-06', saturday],
    ['2023-05-07', saturday],
  ] as const) {
    assert.deepEqual(await readJson(weekend, `/v2/rate/EUR/CRC?date=${day}`), rows[0])
    assert.deepEqual(await readJson(weekend, `${rates}date=${day}`), rows)
    assert.deepEqual(await readJson(weekend, `${rates}from=${day}&to=${day}`), rows)
  }
  assert.deepEqual(await readJson(weekend, `${rates}from=2023-05-07&to=2023-05-07&group=week`), [
    { ...saturday[0], date: '2023-05-01' },
  ])
})

test('weeks begin on Monday, months on their first day, and a group has its last value', async () => {
  const range = '/v2/rates?base=USD&quotes=CRC&from=2026-02-25&to=2026-03-10'
  const days = new Map((await readJson<Row[]>(app, range)).map(({ date, rate }) => [date, rate]))
  const rows = async (group: string) =>
    (await readJson<Row[]>(app, `${range}&group=${group}`)).map(({ date, rate }) => [date, rate])
  assert.deepEqual(await rows('week'), [
    ['2026-02-23', days.get('2026-03-01')],
    ['2026-03-02', days.get('2026-03-08')],
    ['2026-03-09', days.get('2026-03-10')],
  ])
  assert.deepEqual(await rows('month'), [
    ['2026-02-01', days.get('2026-02-28')],
    ['2026-03-01', days.get('2026-03-10')],
  ])
})

test('currencies and the provider have their first and last days', async () => {
  const colon = await readJson(app, '/v2/currency/crc')
  assert.deepEqual(colon, {
    ...{ iso_code: 'CRC', iso_numeric: null, name: 'Costa Rican Colón', symbol: '₡' },
    ...{ start_date: '2026-01-01', end_date: '2026-03-24', providers: ['BCCR'] },
  })
  assert.equal((await readJson<unknown[]>(app, '/v2/currencies?scope=all')).length, 47)
  const [provider] = await readJson<{ key: string; pivot_currency: string; currencies: string[] }[]>(
    app,
    '/v2/providers',
  )
  assert.deepEqual(
    [provider?.key, provider?.pivot_currency, provider?.currencies.length],
    ['BCCR', 'CRC', 47],
  )
})

test('currencies have no CSV form', async () => {
  for (const path of ['/v2/currencies.csv', '/compat/frankfurter/v2/currencies.csv']) {
    assert.deepEqual(await ask(app, path), [406, '{"status":406,"message":"not acceptable"}'])
  }
})

test('JSON, CSV and v1 have the number of /convert, for any pair, side and day', async () => {
  const codes = (await readJson<{ iso_code: string }[]>(app, '/v2/currencies')).map(
    ({ iso_code }) => iso_code,
  )
  const code = fc.constantFrom(...codes)
  const day = fc
    .integer({ min: 0, max: 81 })
    .map((n) => new Date(Date.UTC(2026, 0, 2 + n)).toISOString().slice(0, 10))
  const property = fc.asyncProperty(
    code,
    code,
    fc.constantFrom('compra', 'venta'),
    day,
    async (from, to, side, on) => {
      fc.pre(from !== to)
      const rate = await convertUnit(app, from, to, side, on)
      const [, json] = await ask(app, `/v2/rate/${from}/${to}?date=${on}&tipo=${side}`)
      const [, csv] = await ask(app, `/v2/rates.csv?base=${from}&quotes=${to}&date=${on}&tipo=${side}`)
      const [, value] = await ask(app, `/compat/valor?de=${from}&a=${to}&fecha=${on}&tipo=${side}`)
      assert.deepEqual(
        [printedNumber(json, '"rate":'), csv.trim().split(',').at(-1), value],
        [rate, rate, rate],
      )
    },
  )
  await fc.assert(property, { numRuns: scaled({ short: 40, long: 150 }) })
})
