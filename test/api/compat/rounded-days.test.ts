// Days of a range with rounded values that are not served, in every compat API. A client would carry an older value
// over them, so the range is an error (decisions#shapes).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../support/terminal.ts'
import { roundDays, send } from '../support.ts'
import { ASMX, XML_OPERATION } from './asmx.ts'
import { openShapes } from './support.ts'

const EUR = '333'
const ROUNDED = { from: '2026-03-10', to: '2026-03-13' } // Tuesday to Friday; the next exact value is of the 16th
const WORDS = 'the days from 2026-03-10 to 2026-03-15 are stored rounded, and not answered'
const SDDE = '/SDDE/api/Bccr.GE.SDDE.Publico.Indicadores.API'
const MONTH = { from: '2026-03-01', to: '2026-03-24' }

/** The euro has rounded days between exact ones; the second app serves them. */
const [app, lax] = await Promise.all([openRounded(false), openRounded(true)])

async function openRounded(serveRounded: boolean) {
  const server = await openShapes({ listen: { compat: { open: 'any', serveRounded } } })
  await roundDays(server, ROUNDED, [EUR])
  const path = `/api/v1/convert?amount=1&from=EUR&to=USD&on=${ROUNDED.from}`
  const isRounded = async () => (await server.json<{ rounded_to?: number }>(path)).rounded_to === 2
  await until(isRounded)
  return server
}

async function get(path: string, from = app) {
  const { status, headers, body } = await send(from.app.url + path)
  return { status, leftOut: headers['x-left-out'], roundedTo: headers['x-rounded-to'], body }
}

/** Ranges of each API over some days: of the euro, and of all currencies without a name of one. */
function ranges({ from, to }: { from: string; to: string }) {
  const [start, end] = [from, to].map((day) => day.split('-').toReversed().join('/'))
  return {
    named: [
      `/v1/${from}..${to}?base=EUR&symbols=USD`,
      `/v2/rates?base=EUR&quotes=CRC&from=${from}&to=${to}`,
      `/v2/rates?base=EUR&quotes=CRC&from=${from}&to=${to}&group=week`,
      `/v2/rates.csv?base=USD&quotes=JPY,EUR&from=${from}&to=${to}`,
      `/timeframe?start_date=${from}&end_date=${to}&source=EUR&currencies=CRC`,
      `/api/timeseries?start_date=${from}&end_date=${to}&base=EUR&symbols=CRC`,
      `/api/time-series.json?start=${from}&end=${to}&symbols=EUR`,
      `${ASMX}/${XML_OPERATION}?Indicador=333&FechaInicio=${start}&FechaFinal=${end}&Nombre=N&SubNiveles=N`,
      `${SDDE}/indicadoresEconomicos/333/series?fechaInicio=${from}&fechaFin=${to}`,
    ],
    unnamed: [
      `/v1/${from}..${to}?base=USD`,
      `/v2/rates?base=USD&from=${from}&to=${to}&group=week`,
      `/timeframe?start_date=${from}&end_date=${to}`,
      `/api/timeseries?start_date=${from}&end_date=${to}&base=USD`,
      `/api/time-series.json?start=${from}&end=${to}`,
    ],
  }
}

test('rounded days of a currency in the request are an error of each API, with the days up to the next exact one', async () => {
  for (const path of ranges(MONTH).named) {
    const { status, body } = await get(path)
    const words = path.startsWith(SDDE)
      ? 'del 2026-03-10 al 2026-03-15 no se han sincronizado con'
      : WORDS.slice(4)
    assert.ok(body.includes(words), `${path}: ${body.slice(0, 200)}`)
    const expected = path.startsWith(ASMX) ? 500 : /^\/(timeframe|api\/timeseries)/.test(path) ? 200 : 503
    assert.equal(status, expected, path)
  }
})

test('a currency with rounded days that the request did not name is left out of the range, and named', async () => {
  for (const path of ranges(MONTH).unnamed) {
    const { status, leftOut, roundedTo, body } = await get(path)
    assert.deepEqual([status, leftOut, roundedTo], [200, 'EUR', undefined], path)
    assert.ok(body.includes('CRC') && !/USDEUR|"EUR"/.test(body), path)
  }
})

test('a range of rounded days alone is the error, not an empty answer', async () => {
  const { named, unnamed } = ranges({ from: '2026-03-11', to: '2026-03-12' })
  for (const path of named) assert.match((await get(path)).body, /2026-03-11 (to|al) 2026-03-12/, path)
  for (const path of unnamed) assert.equal((await get(path)).leftOut, 'EUR', path)
})

test('a rounded value that would be carried into the range is an error too', async () => {
  for (const path of [
    '/v1/2026-03-14..2026-03-17?base=EUR&symbols=CRC', // the dollar has a value on Saturday
    '/v2/rates?base=EUR&quotes=CRC&from=2026-03-14&to=2026-03-17',
    '/timeframe?start_date=2026-03-14&end_date=2026-03-17&currencies=EUR',
    '/v1/2026-03-14..2026-03-17?base=EUR&symbols=USD',
    '/v1/2026-03-14..2026-03-15?base=USD&symbols=JPY,EUR',
  ]) {
    const { body } = await get(path)
    assert.match(body, /the days from 2026-03-14 to 2026-03-15 are stored rounded/, path)
  }
  const answer = await get('/v1/2026-03-14..2026-03-17?base=EUR&symbols=USD', lax)
  assert.deepEqual([answer.status, answer.roundedTo], [200, '2'])
  assert.ok(answer.body.includes('"start_date":"2026-03-13"'))
  const own = await get('/v1/2026-03-14..2026-03-17?base=USD&symbols=JPY')
  assert.deepEqual([own.status, own.body.includes('"start_date":"2026-03-13"')], [200, true])
})

test('a range before the rounded days, or after them, is answered', async () => {
  for (const days of [
    { from: '2026-03-01', to: '2026-03-09' },
    { from: '2026-03-16', to: '2026-03-24' },
  ]) {
    const { named, unnamed } = ranges(days)
    for (const path of [...named, ...unnamed]) {
      const { status, leftOut, body } = await get(path)
      assert.deepEqual([status, leftOut, /rounded|106/.test(body)], [200, undefined, false], path)
    }
  }
})

test('where rounded values are served each range has them, and their decimals in the header', async () => {
  const { named, unnamed } = ranges(MONTH)
  for (const path of [...named, ...unnamed]) {
    const { status, leftOut, roundedTo } = await get(path, lax)
    assert.deepEqual([status, leftOut, roundedTo], [200, undefined, '2'], path)
  }
})

test('rounded days are logged once a day for each API, refused and left out', () => {
  const lines = app.logLines
    .join('')
    .split('\n')
    .filter((line) => /rounded values are not served.*"shape"/.test(line))
  const logged = lines.map((line) => `${JSON.parse(line).shape} ${JSON.parse(line).answer}`).toSorted()
  const shapes = ['currencylayer', 'fixer', 'frankfurter', 'oxr'].flatMap((shape) => [
    `${shape} an error`,
    `${shape} without a currency`,
  ])
  assert.deepEqual(logged, ['bccr an error', 'sdde an error', ...shapes].toSorted())
})
