// The history of any pair over HTTP, in cases made by hand (decisions#points). test/faults has random ones.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'

import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../../src/store/rates/coverage.ts'
import { markSeriesChanged } from '../../../src/store/rates/rates.ts'
import { subtractInterval } from '../../../src/values/intervals.ts'
import { startTestApp, type TestApp, type TestAppOptions } from '../../support/app.ts'
import { STATS } from '../../support/rates/pair-answers.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, errorDetail, openApp, validationItems } from '../support.ts'

type Point = { date: string; rate_date: string; value: string; partial?: true; rounded_to?: number }
type Figures = { stat: string; points: { date: string; partial?: true }[] }
type History = { count: number; points: Point[] } & Record<string, unknown>

const TODAY = '2026-03-24' // a Tuesday

const app = await openApp({ backfillFrom: '2025-11-01' })
await app.sync()

const ask = (query: string, of: TestApp = app) => of.json<History>(`/api/v1/history?${query}`)
const formatPoints = ({ points }: History) =>
  points.map(({ date, value, partial }) => `${date} ${value}${partial ? ' partial' : ''}`)

/** A store with the values given by code and day alone. */
async function startWithValues(
  t: TestContext,
  values: Record<string, Record<string, string>>,
  options: TestAppOptions = {},
): Promise<TestApp> {
  const own = await startTestApp(t, {
    backfillFrom: '2026-01-01',
    bank: { value: (code, day) => values[code]?.[day] ?? null },
    ...options,
  })
  await own.sync()
  return own
}
const EURO = await findCode('EUR/USD')

async function findCode(pair: string): Promise<string> {
  type Row = { external_code: string; base_currency: string; quote_currency: string }
  const rows = await app.json<Row[]>('/api/v1/series')
  return rows.find((one) => `${one.base_currency}/${one.quote_currency}` === pair)?.external_code ?? ''
}

test('the history without parameters has every field, the last 90 days and the digits of the bank', async () => {
  const { points, ...about } = await ask('base=usd&quote=crc')
  assert.deepEqual(about, {
    ...{ provider: 'bccr', base: 'USD', quote: 'CRC', rate_type: 'venta' },
    ...{ date_from: '2025-12-24', date_to: TODAY, every: 'day', stat: 'last', count: 91 },
  })
  assert.equal(points.length, 91)
  for (const { date, ...point } of points) {
    assert.deepEqual(point, { rate_date: date, value: inventedValue('318', date) })
  }
})

test('each point of a cross has the rate of /convert on its day', async () => {
  for (const pair of ['EUR&quote=CRC', 'CRC&quote=EUR', 'JPY&quote=EUR', 'CRC&quote=USD', 'USD&quote=EUR']) {
    const { points } = await ask(`base=${pair}&type=compra&from=2026-03-10`)
    const [from, to] = pair.split('&quote=')
    for (const { date, rate_date, value } of points) {
      const path = `/api/v1/convert?amount=1&from=${from}&to=${to}&type=compra&on=${date}`
      const converted = await app.json<{ rate_date: string; rate: string }>(path)
      assert.deepEqual([rate_date, value], [converted.rate_date, converted.rate], path)
    }
    assert.ok(points.length > 8, pair)
  }
})

test('a cross has a point on each day on which either leg has a value, with the older day', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-03-13': '500', '2026-03-14': '501', '2026-03-16': '503' },
    [EURO]: { '2026-03-12': '1.1', '2026-03-16': '1.2', '2026-03-17': '1.3' },
  })
  const { points } = await ask('base=EUR&quote=CRC&from=2026-03-01', own)
  assert.deepEqual(points, [
    { date: '2026-03-13', rate_date: '2026-03-12', value: '550' },
    { date: '2026-03-14', rate_date: '2026-03-12', value: '551.1' },
    { date: '2026-03-16', rate_date: '2026-03-16', value: '603.6' },
    { date: '2026-03-17', rate_date: '2026-03-16', value: '653.9' },
  ])
  assert.deepEqual(formatPoints(await ask('base=EUR&quote=CRC&from=2026-03-14&to=2026-03-15', own)), [
    '2026-03-14 551.1',
  ])
})

test('last, mean, low and high of periods', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-01-05': '500.5', '2026-01-06': '499', '2026-01-31': '499', '2026-02-02': '510.10' },
  })
  const of = async (every: string, stat: string, pair = 'base=USD&quote=CRC') =>
    formatPoints(await ask(`${pair}&from=2026-01-01&every=${every}&stat=${stat}`, own))
  assert.deepEqual(await of('month', 'last'), ['2026-01-01 499', '2026-02-01 510.1'])
  assert.deepEqual(await of('month', 'mean'), ['2026-01-01 499.5', '2026-02-01 510.1'])
  assert.deepEqual(await of('month', 'high'), ['2026-01-01 500.5', '2026-02-01 510.1'])
  assert.deepEqual(await of('week', 'mean'), ['2026-01-05 499.75', '2026-01-26 499', '2026-02-02 510.1'])
  assert.deepEqual(await of('quarter', 'mean'), ['2026-01-01 502.15 partial'])
  assert.deepEqual(await of('year', 'low'), ['2026-01-01 499 partial'])
  // The exact mean of the inverses, not the inverse of the mean: (1/500.5 + 2/499) / 3, rounded once.
  assert.equal((await of('month', 'mean', 'base=CRC&quote=USD'))[0], '2026-01-01 0.00200200601002204')
  // The first of several days with the same value is the lowest.
  const { points } = await ask('base=USD&quote=CRC&from=2026-01-01&every=month&stat=low', own)
  assert.equal(points[0]?.rate_date, '2026-01-06')
})

test('stat=all has the four values of a period, each as its own request gives it', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-01-30': '500', '2026-02-03': '512', '2026-02-20': '498.5', '2026-03-02': '505' },
    [EURO]: { '2026-01-29': '1.1', '2026-02-10': '1.2', '2026-03-05': '1.15' },
  })
  for (const every of ['day', 'week', 'month', 'quarter', 'year'])
    for (const pair of ['EUR&quote=CRC', 'CRC&quote=EUR', 'USD&quote=CRC'])
      for (const details of ['', '&details=true']) {
        const query = `base=${pair}&from=2026-01-01&to=2026-03-15&every=${every}${details}`
        const { points, ...about } = await own.json<Figures>(`/api/v1/history?${query}&stat=all`)
        assert.equal(about.stat, 'all')
        const expected: Record<string, unknown>[] = points.map(({ date, partial }) => ({
          date,
          ...(partial && { partial }),
        }))
        for (const stat of STATS) {
          const single = await ask(`${query}&stat=${stat}`, own)
          for (const [at, { date: _, partial: __, ...figure }] of single.points.entries())
            Object.assign(expected[at] ?? {}, { [stat]: figure })
        }
        assert.deepEqual(points, expected, query)
      }
})

test('details=true has the day of each value, in its period, even where a leg is older', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-01-30': '500', '2026-02-03': '512', '2026-02-20': '498.5' },
    [EURO]: { '2026-01-29': '1.1', '2026-02-10': '1.2' },
  })
  const query = 'base=EUR&quote=CRC&from=2026-02-01&to=2026-02-28&every=month'
  const { points } = await ask(`${query}&stat=low&details=true`, own)
  // The euro of 29 January and the dollar of 3 February.
  const low = { rate_date: '2026-01-29', value: '563.2', day: '2026-02-03' }
  assert.deepEqual(points, [{ date: '2026-02-01', ...low }])
  const all = await own.json<Figures>(`/api/v1/history?${query}&stat=all&details=true`)
  assert.deepEqual(all.points[0], {
    date: '2026-02-01',
    last: { value: '598.2', rate_date: '2026-02-10', day: '2026-02-20' },
    mean: { value: '591.933333333333', rate_date: '2026-02-10', day: '2026-02-20' }, // (563.2 + 614.4 + 598.2) / 3
    low: { value: '563.2', rate_date: '2026-01-29', day: '2026-02-03' },
    high: { value: '614.4', rate_date: '2026-02-03', day: '2026-02-10' },
  })
  const text = async (path: string) => (await own.get(`/api/v1/${path}`)).text()
  const columns = STATS.map((stat) => `${stat}_value,${stat}_rate_date,${stat}_rounded_to,${stat}_day`)
  const days = [
    ['2026-02-10', '2026-02-20'],
    ['2026-02-10', '2026-02-20'],
    ['2026-01-29', '2026-02-03'],
    ['2026-02-03', '2026-02-10'],
  ]
  const values = ['598.2', '591.933333333333', '563.2', '614.4']
  const row = values.map((value, at) => `${value},${days[at]?.[0]},,${days[at]?.[1]}`).join()
  const csv = `date,${columns.join()},partial\n2026-02-01,${row},\n`
  assert.equal(await text(`history.csv?${query}&stat=all&details=true`), csv)
  const lines = await text(`history.ndjson?${query}&stat=all&details=true`)
  assert.equal(lines, `${JSON.stringify(all.points[0])}\n`)
  assert.equal(
    await text(`history.csv?${query}&stat=low&details=true&dialect=es-CR`),
    'date;rate_date;value;partial;rounded_to;day\r\n01/02/2026;29/01/2026;563,2;;;03/02/2026\r\n',
  )
  assert.equal(
    await text(`history.csv?${query}&stat=low`),
    'date,rate_date,value,partial,rounded_to\n2026-02-01,2026-01-29,563.2,,\n',
  )
})

test('the current period is partial, on its last day too, and complete on the day after', async (t) => {
  const own = await startWithValues(t, { 318: { '2026-02-27': '500' } }, { now: '2026-02-28T18:00:00Z' })
  const query = 'base=USD&quote=CRC&every=month&from=2026-02-01'
  assert.deepEqual(formatPoints(await ask(query, own)), ['2026-02-01 500 partial'])
  own.clock.now = new Date('2026-03-01T18:00:00Z')
  await own.sync()
  assert.deepEqual(formatPoints(await ask(query, own)), ['2026-02-01 500'])
})

test('a period that the range cuts is partial', async () => {
  const partial = async (range: string) =>
    (await ask(`base=USD&quote=CRC&every=month&${range}`)).points.map((one) => one.partial ?? false)
  assert.deepEqual(await partial('from=2026-01-01&to=2026-02-28'), [false, false])
  assert.deepEqual(await partial('from=2026-01-02&to=2026-02-28'), [true, false])
  assert.deepEqual(await partial('from=2026-01-01&to=2026-02-27'), [false, true])
})

test('a day is never partial', async () => {
  const { points } = await ask('base=USD&quote=CRC&to=2026-03-25')
  assert.deepEqual(points.at(-1), {
    date: '2026-03-25',
    rate_date: '2026-03-25',
    value: inventedValue('318', '2026-03-25'),
  })
})

test('no value is carried over a hole: such a day has no point, and its periods are partial', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-01-20': '500', '2026-02-03': '510', '2026-02-20': '520' },
    [EURO]: { '2026-01-20': '1.1', '2026-02-10': '1.2' },
  })
  const query = 'base=EUR&quote=CRC&from=2026-01-01'
  const monthly = `${query}&every=month&to=2026-02-28`
  assert.deepEqual(formatPoints(await ask(monthly, own)), ['2026-01-01 550', '2026-02-01 624'])
  // The euro's 25 January was not synchronized: the value of the 20th does not apply to 3 February.
  await uncover(own, EURO, '2026-01-25', '2026-01-25')
  await until(async () => (await ask(query, own)).count === 3)
  assert.deepEqual(formatPoints(await ask(query, own)), [
    '2026-01-20 550',
    '2026-02-10 612',
    '2026-02-20 624',
  ])
  assert.deepEqual(formatPoints(await ask(monthly, own)), [
    '2026-01-01 550 partial',
    '2026-02-01 624 partial',
  ])
  // The dollar has no hole.
  const dollar = await ask('base=USD&quote=CRC&from=2026-01-01&to=2026-02-28&every=month', own)
  assert.deepEqual(formatPoints(dollar), ['2026-01-01 500', '2026-02-01 520'])
})

test('a cross has no point after the newest covered day of a leg', async (t) => {
  const own = await startWithValues(t, {
    318: { '2026-03-20': '500', '2026-03-25': '510' },
    [EURO]: { '2026-03-20': '1.1' },
  })
  // Tomorrow's dollar is stored; the euro of tomorrow is not yet covered.
  assert.deepEqual(formatPoints(await ask('base=EUR&quote=CRC&to=2026-03-31', own)), ['2026-03-20 550'])
  assert.deepEqual(formatPoints(await ask('base=USD&quote=CRC&to=2026-03-31', own)), [
    '2026-03-20 500',
    '2026-03-25 510',
  ])
})

test('rounded_to of a mean is the least number of decimals of its values, else that of its day', async (t) => {
  let token: string | undefined
  const own = await startTestApp(t, { backfillFrom: '2026-02-01', token: () => token })
  await own.sync({ from: '2026-02-01', to: '2026-02-10' })
  token = 'test-token'
  await own.sync({ from: '2026-02-11', to: '2026-02-28' })
  const of = async (stat: string) =>
    (await ask(`base=EUR&quote=CRC&from=2026-02-01&to=2026-02-28&every=month&stat=${stat}`, own)).points[0]
  assert.equal((await of('mean'))?.rounded_to, 2)
  assert.equal((await of('last'))?.rounded_to, undefined)
})

test('a currency in itself has no points, for nothing is published of it', async () => {
  const { count, rate_type } = await ask('base=USD&quote=USD')
  assert.deepEqual([count, rate_type], [0, 'referencia'])
})

test('ranges are applied as in the history of a series', async () => {
  for (const query of [
    'to=2026-03-10',
    'from=2026-03-10',
    'from=2026-03-26',
    'to=2999-12-31',
    'to=1900-01-31',
    'from=1900-01-01&to=2999-12-31',
  ]) {
    const series = await app.json<History>(`/api/v1/series/2/history?${query}`)
    const pair = await ask(`base=USD&quote=CRC&${query}`)
    assert.deepEqual(
      [pair.date_from, pair.date_to, pair.count],
      [series.date_from, series.date_to, series.count],
      query,
    )
  }
})

test('wrong parameters are errors', async () => {
  const detail = (query: string) => errorDetail(app, `/api/v1/history?${query}`, 404)
  assert.equal(
    await detail('base=XAU&quote=CRC'),
    'Cannot convert: no rates of XAU are stored; see /api/v1/series',
  )
  assert.match(await detail('base=USD&quote=CRC&provider=nope'), /^There is no provider nope/)
  assert.match(await detail('base=USD&quote=CRC&type=referencia'), /has no published referencia/)
  const messages = async (query: string) =>
    (await validationItems(app, `/api/v1/history?${query}`)).map(({ msg }) => msg)
  assert.deepEqual(await messages(''), ['base is required', 'quote is required'])
  assert.deepEqual(await messages('base=EU&quote=CRC&every=hour&stat=median&type=x&from=2026-13-01'), [
    'base must be a currency code of three letters, such as USD',
    'type must be compra, venta or referencia',
    'from must be a calendar day written YYYY-MM-DD, years 1900 to 2999',
    'every must be day, week, month, quarter or year',
    'stat must be last, mean, low, high or all',
  ])
  assert.deepEqual(await messages('base=EUR&quote=CRC&from=2026-03-02&to=2026-03-01'), [
    'from must not be after to',
  ])
  assert.deepEqual(await messages('base=EUR&quote=CRC&from=&by=month'), [
    'from must be a calendar day written YYYY-MM-DD, years 1900 to 2999',
    'there is no parameter by: this path has base, quote, provider, type, from, to, every, stat, as_of, details, dialect, dialecto, decimal, sep',
  ])
})

/** Removes the coverage of some days of a series. */
async function uncover(own: TestApp, code: string, from: string, to: string): Promise<void> {
  await asOtherProcess(own, (db) =>
    db.transaction().execute(async (trx) => {
      const series = await trx
        .selectFrom('series')
        .select('id')
        .where('external_code', '=', code)
        .executeTakeFirstOrThrow()
      const intervals = (await selectCoverage(trx)).get(series.id) ?? []
      await replaceCoverage(
        trx,
        'answered',
        new Map([[series.id, subtractInterval(intervals, { from, to })]]),
        Date.now(),
      )
      await markSeriesChanged(trx, [series.id], await raiseRevision(trx))
    }),
  )
}
