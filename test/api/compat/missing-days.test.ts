// Days that were not synchronized, in ranges of every compat API. An error if a currency is named or all lack
// days, else a header (decisions#lists).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raiseRevision } from '../../../src/store/meta.ts'
import { markSeriesChanged, upsertRates } from '../../../src/store/rates/rates.ts'
import { selectSeries } from '../../../src/store/rates/series.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, loseDays } from '../support.ts'
import { addKey, envelope, parameters, postForm, postSoap, URL_KEY, XML_OPERATION } from './asmx.ts'
import { openShapes } from './support.ts'

const HOLE = { from: '2026-02-20', to: '2026-03-04' }
const WORDS = 'the days from 2026-02-20 to 2026-03-04 have not been synchronized'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const ASMX_QUERY = parameters({ FechaInicio: '01/02/2026', FechaFinal: '24/03/2026' })
const RANGE = '2026-02-01..2026-03-24'

/** The dollar lacks the days in the first app, the euro in the second. */
const [dollar, euro] = await Promise.all([openHoled(['317', '318']), openHoled(['333'])])

async function openHoled(codes: string[]) {
  const app = await openShapes()
  await addKey(app, { secret: URL_KEY, kind: 'url' })
  await loseDays(app, HOLE, codes)
  const path = codes.includes('333') ? '/api/v1/history?base=EUR&quote=USD' : '/api/v1/series/1/history'
  const isLost = async () =>
    'holes' in (await app.json<object>(`${path}${path.includes('?') ? '&' : '?'}from=${HOLE.from}`))
  await until(isLost)
  return app
}

async function get(app: typeof dollar, path: string) {
  const response = await fetch(app.app.url + path)
  const { status, headers } = response
  return { status, headers, body: await response.text() }
}

for (const [shape, path, status, body] of [
  [
    'SDDE',
    `${SDDE}/indicadoresEconomicos/318/series?fechaInicio=2026/02/01&fechaFin=2026/03/24`,
    503,
    '{"CodigoError":"503","Mensaje":"Los días del 2026-02-20 al 2026-03-04 no se han sincronizado."}',
  ],
  [
    'SDDE, of one day',
    `${SDDE}/indicadoresEconomicos/318/series?fechaInicio=2026/02/25&fechaFin=2026/02/25`,
    503,
    '{"CodigoError":"503","Mensaje":"Los días del 2026-02-25 al 2026-02-25 no se han sincronizado."}',
  ],
  [
    'SDDE, of a table of which all lack days',
    `${SDDE}/cuadro/1/series?fechaInicio=2026/02/01&fechaFin=2026/03/24`,
    503,
    '{"CodigoError":"503","Mensaje":"Los días del 2026-02-20 al 2026-03-04 no se han sincronizado."}',
  ],
  [
    'Hacienda',
    '/indicadores/tc/dolar/historico?d=2026-02-01&h=2026-03-24',
    503,
    '{"code":503,"status":"Service unavailable"}',
  ],
  ['Frankfurter v1', `/v1/${RANGE}?base=USD&symbols=CRC`, 503, `{"message":"${WORDS}"}`],
  [
    'Frankfurter v2',
    '/v2/rates?base=USD&quotes=CRC&from=2026-02-01&to=2026-03-24',
    503,
    `{"status":503,"message":"${WORDS}"}`,
  ],
  [
    'Frankfurter v2 as CSV',
    '/v2/rates.csv?base=EUR&quotes=CRC&from=2026-02-01',
    503,
    `{"status":503,"message":"${WORDS}"}`,
  ],
  [
    'currencylayer',
    '/timeframe?start_date=2026-02-01&end_date=2026-03-24&source=USD&currencies=CRC',
    200,
    `{"success":false,"error":{"code":106,"type":"no_rates_available","info":"${WORDS}"}}`,
  ],
  [
    'Fixer',
    '/api/timeseries?start_date=2026-02-01&end_date=2026-03-24&base=USD&symbols=CRC',
    200,
    `{"success":false,"error":{"code":106,"type":"no_rates_available","info":"${WORDS}"}}`,
  ],
  [
    'Open Exchange Rates',
    '/api/time-series.json?start=2026-02-01&end=2026-03-24&symbols=CRC',
    503,
    `{"error":true,"status":503,"message":"not_available","description":"${WORDS}"}`,
  ],
] as const) {
  test(`days that were not synchronized are an error: ${shape}`, async () => {
    const answer = await get(dollar, path)
    assert.deepEqual([answer.status, answer.body], [status, body])
    assert.equal(answer.headers.get('retry-after'), '3600')
    assert.equal(answer.headers.get('etag'), null)
    if (shape === 'Hacienda') assert.equal(answer.headers.get('x-holes'), '2026-02-20..2026-03-04')
  })
}

test('days that were not synchronized are an error in each binding of the old web service', async () => {
  const sentence = 'The days from 2026-02-20 to 2026-03-04 have not been synchronized.'
  const operation = `/Indicadores/Suscripciones/WS/wsindicadoreseconomicos.asmx/${XML_OPERATION}`
  for (const response of [
    await fetch(`${dollar.app.url}${operation}?${ASMX_QUERY}`),
    await postForm(dollar, XML_OPERATION, ASMX_QUERY),
  ]) {
    assert.deepEqual(
      [response.status, response.headers.get('content-type'), await response.text()],
      [500, 'text/plain; charset=utf-8', sentence],
    )
    assert.equal(response.headers.get('retry-after'), '3600')
  }
  for (const [version, type, code] of [
    ['1.1', 'text/xml; charset=utf-8', '<faultcode>soap:Server</faultcode>'],
    ['1.2', 'application/soap+xml; charset=utf-8', '<soap:Value>soap:Receiver</soap:Value>'],
  ] as const) {
    const response = await postSoap(dollar, envelope(XML_OPERATION, ASMX_QUERY, version), type)
    assert.deepEqual([response.status, response.headers.get('content-type')], [500, type])
    assert.equal(response.headers.get('retry-after'), '3600')
    const body = await response.text()
    assert.ok(body.includes(code) && body.includes(sentence), body)
  }
})

test('a currency that the request did not name is left out of the whole range, and named in the header', async () => {
  for (const [path, base] of [
    [`/v1/${RANGE}?base=USD`, 'EUR'],
    ['/v2/rates?base=USD&from=2026-02-01', 'EUR'],
    ['/v2/rates.csv?base=USD&from=2026-02-01', 'EUR'],
    ['/timeframe?start_date=2026-02-01&end_date=2026-03-24', 'USDEUR'],
    ['/api/timeseries?start_date=2026-02-01&end_date=2026-03-24&base=USD', 'EUR'],
    ['/api/time-series.json?start=2026-02-01&end=2026-03-24', 'EUR'],
  ] as const) {
    for (const time of ['first', 'kept']) {
      const { status, headers, body } = await get(euro, path)
      assert.equal(status, 200, `${path}: ${body.slice(0, 200)}`)
      assert.equal(headers.get('x-left-out'), 'EUR', `${path} ${time}`)
      assert.ok(!body.includes(`${base}"`) && !body.includes(`,${base},`), path)
      assert.ok(body.includes('CRC'), path)
    }
  }
})

test('a hole of the base, or of a currency in the request, is an error', async () => {
  for (const path of [
    `/v1/${RANGE}?base=EUR`,
    `/v1/${RANGE}?base=USD&symbols=CRC,EUR`,
    '/v2/rates?base=EUR&from=2026-02-01',
    '/v2/rates?base=USD&quotes=JPY,EUR&from=2026-02-01',
    '/api/time-series.json?start=2026-02-01&end=2026-03-24&base=EUR',
  ]) {
    assert.equal((await get(euro, path)).status, 503, path)
  }
  const timeframe = '/timeframe?start_date=2026-02-01&end_date=2026-03-24'
  for (const path of [`${timeframe}&source=EUR`, `${timeframe}&currencies=EUR,CRC`]) {
    assert.match((await get(euro, path)).body, /"code":106.*2026-02-20 to 2026-03-04/, path)
  }
})

test('an SDDE table leaves out an indicator with a hole, and names it', async () => {
  const days = 'fechaInicio=2026/02/01&fechaFin=2026/03/24'
  const { status, headers, body } = await get(euro, `${SDDE}/cuadro/520/series?${days}`)
  assert.equal(status, 200)
  assert.equal(headers.get('x-left-out'), '333')
  assert.ok(!body.includes('"333"') && body.includes('"325"'))
})

test('a range that ends before the hole, or begins after it, is answered normally', async () => {
  for (const path of [
    '/v1/2026-02-01..2026-02-19?base=USD&symbols=CRC',
    '/v1/2026-03-05..2026-03-24?base=USD&symbols=CRC',
    '/indicadores/tc/dolar/historico?d=2026-03-05&h=2026-03-24',
    `${SDDE}/indicadoresEconomicos/318/series?fechaInicio=2026/03/05&fechaFin=2026/03/24`,
  ]) {
    const { status, body } = await get(dollar, path)
    assert.ok(status === 200 && body.includes('2026-0'), `${path}: ${body.slice(0, 100)}`)
  }
})

test('a range that would carry a value over the hole before it is an error', async () => {
  // 2026-03-07 is a Saturday: the euro has no value on it, and after the hole none before the 9th.
  await loseDays(euro, { from: '2026-03-05', to: '2026-03-06' }, ['333'])
  const weekend = '2026-03-07..2026-03-08'
  await until(async () => (await get(euro, `/v1/${weekend}?base=EUR&symbols=CRC`)).status === 503)
  const { body } = await get(euro, '/timeframe?start_date=2026-03-07&end_date=2026-03-08&currencies=EUR')
  assert.match(body, /"code":106.*have not been synchronized/)
  assert.equal((await get(euro, '/v1/2026-03-09..2026-03-10?base=EUR&symbols=CRC')).status, 200)
  for (const path of [`${weekend}?base=EUR&symbols=USD`, '2026-03-08..?base=USD&symbols=EUR,JPY']) {
    const { status, headers, body: text } = await get(euro, `/v1/${path}`)
    assert.equal(status, 503, path)
    assert.ok(Number(headers.get('retry-after')) >= 3600)
    assert.match(text, /^\{"message":"the days from 2026-02-20 to 2026-03-06 have not been synchronized"\}$/)
  }
  const { rates } = JSON.parse((await get(euro, `/v1/${weekend}?base=USD&symbols=JPY`)).body)
  assert.deepEqual(Object.keys(rates), ['2026-03-06'])
})

test('missing days are logged once a day for each compat API', () => {
  const all = dollar.logLines.join('').split('\n')
  const lines = all.filter((line) => line.includes('asked for days that were not synchronized'))
  const shapes = lines.map((line) => JSON.parse(line).shape).toSorted()
  assert.deepEqual(shapes, ['bccr', 'currencylayer', 'fixer', 'frankfurter', 'hacienda', 'oxr', 'sdde'])
  for (const line of lines) assert.match(line, /"answer":"an error".*cambista sync --from 2026-02-/)
  const others = dollar.logLines.filter((line) => /request (refused|failed)/.test(line))
  assert.deepEqual(others, [], 'no line for each request')
})

test('a one-day table names the currencies without a rate over a hole', async () => {
  for (const path of [
    '/v1/2026-02-25?base=USD',
    '/historical?date=2026-02-25',
    '/v2/rates?base=USD&date=2026-02-25',
  ]) {
    const { status, headers } = await get(euro, path)
    assert.deepEqual([status, headers.get('x-left-out')], [200, 'EUR'], path)
  }
})

test('a one-day table names the currencies with a hole before their first value', async () => {
  const app = await openShapes()
  await loseDays(app, { from: '2026-01-01', to: '2026-02-28' }, ['333', '325'])
  const tables = [
    '/v1/2026-02-25?base=USD',
    '/v2/rates?base=USD&date=2026-02-25',
    '/historical?date=2026-02-25',
    '/api/2026-02-25?base=USD',
    '/api/historical/2026-02-25.json',
    '/v6/any/history/USD/2026/2/25',
  ]
  const leftOut = async (path: string) => (await get(app, path)).headers.get('x-left-out')
  await until(async () => (await leftOut(tables[0] ?? '')) !== null)
  for (const path of tables) assert.equal(await leftOut(path), 'EUR,JPY', path)
  const { status, headers, body } = await get(app, '/v2/rates?base=USD&quotes=EUR&date=2026-02-25')
  assert.deepEqual([status, body, headers.get('x-left-out')], [200, '[]', 'EUR'])
  assert.equal(await leftOut('/v1/2026-03-02?base=USD'), null)
})

test('a range ends at the newest day on which each leg is known, before and after a late sync', async () => {
  const app = await openShapes()
  app.clock.now = new Date('2026-03-27T06:05:00Z') // the dollar is stored to the 25th, the euro to the 24th
  for (const last of [
    { USD: '2026-03-25', EUR: '2026-03-24' },
    { USD: '2026-03-27', EUR: '2026-03-27' },
  ]) {
    for (const base of ['USD', 'EUR'] as const) {
      const history = `/api/v1/history?base=${base}&quote=CRC&from=2026-03-23`
      const { points } = await app.json<{ points: { date: string }[] }>(history)
      const days = points.map(({ date }) => date)
      assert.equal(days.at(-1), last[base])
      const period = 'start_date=2026-03-23&end_date=2026-03-27'
      for (const path of [
        `/v1/2026-03-23..?base=${base}&symbols=CRC`,
        `/v2/rates?base=${base}&quotes=CRC&from=2026-03-23`,
        `/timeframe?source=${base}&currencies=CRC&${period}`,
        `/api/timeseries?base=${base}&symbols=CRC&${period}`,
        `/api/time-series.json?base=${base}&symbols=CRC&start=2026-03-23&end=2026-03-27`,
      ]) {
        const { body } = await get(app, path)
        const rows = [...body.matchAll(/(?<!_date":)"(2026-03-\d\d)"/g)].map(([, day]) => day)
        assert.deepEqual(rows, days, path)
      }
    }
    const first = JSON.parse((await get(app, '/v2/rates?base=EUR&quotes=CRC&from=2026-03-25')).body)[0]
    assert.deepEqual(JSON.parse((await get(app, '/v2/rate/EUR/CRC?date=2026-03-25')).body), first)
    assert.equal(first.date, last.EUR === '2026-03-24' ? last.EUR : '2026-03-25')
    const history = await app.json<{ points: { value: string }[] }>(
      `/api/v1/history?base=EUR&quote=CRC&from=${first.date}&to=${first.date}`,
    )
    assert.equal(String(first.rate), history.points[0]?.value)
    await app.sync({ from: '2026-03-20', to: '2026-03-27' })
  }
})

test('a single day of Frankfurter v2 has the last point of its pair, unless a hole is between the two', async () => {
  const app = await openShapes()
  const readRow = async (day: string) => {
    const { headers, body } = await get(app, `/v2/rates?base=EUR&quotes=CRC&date=${day}`)
    return [headers.get('x-left-out'), ...JSON.parse(body).map((row: { date: string }) => row.date)]
  }
  await loseDays(app, { from: '2026-03-21', to: '2026-03-25' }, ['333'])
  await until(async () => (await readRow('2026-03-24'))[1] === '2026-03-20')
  // A value after the covered days is known on its own day.
  await asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const euro = (await selectSeries(trx)).find((one) => one.external_code === '333')
      const rate = { series_id: euro?.id ?? 0, rate_date: '2026-03-23', value: '1.15', rounded_to: null }
      await upsertRates(trx, [rate], app.clock.now.getTime())
      await markSeriesChanged(trx, [rate.series_id], await raiseRevision(trx))
    }),
  )
  await until(async () => (await readRow('2026-03-24'))[1] === '2026-03-23')
  const [first] = JSON.parse((await get(app, '/v2/rates?base=EUR&quotes=CRC&from=2026-03-24')).body)
  assert.equal(first.date, '2026-03-23')
  await loseDays(app, { from: '2026-03-24', to: '2026-03-24' }, ['317', '318'])
  await until(async () => (await readRow('2026-03-24'))[0] === 'CRC')
  assert.deepEqual(await readRow('2026-03-24'), ['CRC'])
  assert.deepEqual(await readRow('2026-03-23'), [null, '2026-03-23'])
  assert.equal((await get(app, '/v2/rate/EUR/CRC?date=2026-03-24')).status, 404)
})
