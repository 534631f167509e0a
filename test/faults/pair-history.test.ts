// The history of any pair against exact fractions: random requests over a store with islands, holes of each series of its
// own, values that are rounded and currencies that begin late. What must be answered is worked out day by day, from the
// values and covered days of each series (decisions 2.6, 2.9, 2.18). CAMBISTA_SEED=17 node --test does a failure again.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { addDays, dayOf, type IsoDate } from '../../src/dates.ts'
import { without } from '../../src/intervals.ts'
import { raiseRevision } from '../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../src/store/rates/coverage.ts'
import { markSeriesChanged } from '../../src/store/rates/rates.ts'
import { asOtherProcess } from '../api/support.ts'
import { type Fraction, fractionOf, inverted, rounded, times } from '../domain/support.ts'
import { startTestApp, type TestApp } from '../support/app.ts'
import { type Random, randomOf } from '../support/rates/random-bank.ts'
import { pick } from './hostile/shape-requests.ts'
import { figure, SEED, scaled } from './scale.ts'

const REQUESTS = scaled({ short: 2000, long: 20_000 })
const TODAY = '2026-03-24'
const EVERY = ['day', 'week', 'month', 'quarter', 'year'] as const
const STATS = ['last', 'mean', 'low', 'high'] as const

type Value = { value: string; roundedTo: number | undefined }
type Series = {
  base: string
  quote: string
  side: string
  values: Map<IsoDate, Value>
  covered: Set<IsoDate>
}
type Leg = { series: Series; inverse: boolean }
type Known = { date: IsoDate; rateDate: IsoDate; rate: Fraction; own: string | undefined; decimals: number[] }
type Request = {
  base: string
  quote: string
  type: string
  from: IsoDate
  to: IsoDate
  every: (typeof EVERY)[number]
  stat: (typeof STATS)[number]
}

test(`${REQUESTS} random histories of pairs are exact`, async (t) => {
  figure(t, 'seed', SEED)
  const random = randomOf(SEED)
  const app = await startGround(t, random)
  const store = await storeOf(app)
  const currencies = [...new Set(store.flatMap(({ base, quote }) => [base, quote]))]
  const seen = { points: 0, holes: 0, partial: 0, rounded: 0, crosses: 0, unknown: 0 }
  for (let at = 0; at < REQUESTS; at += 1) {
    const request = requestOf(random, currencies)
    const path = `/api/v1/history?${new URLSearchParams(request)}`
    const response = await app.get(path)
    const legs = legsOf(store, request)
    if (!legs) {
      assert.equal(response.status, 404, path)
      seen.unknown += 1
      continue
    }
    const answer = (await response.json()) as { points: Record<string, unknown>[] }
    const points = pointsOf(legs, request)
    const dollar = legs.find(({ series }) => series.side !== 'referencia')
    const { type: _, from, to, ...asked } = request
    const about = { rate_type: dollar?.series.side ?? 'referencia', date_from: from, date_to: to }
    const holes = holesOf(legs, request)
    const missing = holes.length > 0 && { holes }
    const expected = { provider: 'bccr', ...asked, ...about, count: points.length, ...missing, points }
    assert.deepEqual(answer, expected, path)
    seen.points += points.length
    seen.holes += holes.length
    seen.partial += points.filter(({ partial }) => partial).length
    seen.rounded += points.filter(({ rounded_to }) => rounded_to !== undefined).length
    if (legs.length > 1 && points.length > 0) seen.crosses += 1
  }
  for (const [name, count] of Object.entries(seen)) {
    figure(t, name, count)
    assert.ok(count > 10, `${count} ${name}`)
  }
})

/** Islands of days; then each series loses days of its own. */
async function startGround(t: TestContext, random: Random): Promise<TestApp> {
  const begins = new Map<string, IsoDate>()
  let token: string | undefined
  const app = await startTestApp(t, {
    backfillFrom: '2019-01-01',
    token: () => token,
    bank: {
      value(code, day) {
        const begin = begins.getOrInsertComputed(code, () =>
          random.chance(0.5) ? '1983-01-01' : addDays('1990-01-01', random.int(0, 12_000)),
        )
        return day < begin || random.chance(0.02) ? null : undefined
      },
    },
  })
  await app.sync({ from: '1990-03-05', to: '1991-02-12' })
  token = 'test-token'
  await app.sync({ from: '2005-06-01', to: '2006-03-31' })
  await app.sync()
  await asOtherProcess(app, (db) =>
    db.transaction().execute(async (trx) => {
      const coverage = new Map(await selectCoverage(trx))
      for (const [id, intervals] of coverage) {
        let rest = [...intervals]
        for (let cut = random.int(0, 4); cut > 0; cut -= 1) {
          const from = addDays(
            pick(random, ['1990-03-01', '2005-06-01', '2019-01-01', '2025-01-01']),
            random.int(0, 500),
          )
          rest = without(rest, { from, to: addDays(from, random.int(0, 40)) })
        }
        coverage.set(id, rest)
      }
      await replaceCoverage(trx, 'answered', coverage, Date.now())
      await markSeriesChanged(trx, [...coverage.keys()], await raiseRevision(trx))
    }),
  )
  return app
}

/** What is stored of each series, and which of its days are covered. */
async function storeOf(app: TestApp): Promise<Series[]> {
  const coverage = await asOtherProcess(app, selectCoverage)
  const listed =
    await app.json<{ id: number; base_currency: string; quote_currency: string }[]>('/api/v1/series')
  return Promise.all(
    listed.map(async ({ id, base_currency: base, quote_currency: quote }) => {
      const path = `/api/v1/series/${id}/history?from=1983-01-01&to=2999-12-31`
      const { rate_type: side, points } = await app.json<{
        rate_type: string
        points: { rate_date: IsoDate; value: string; rounded_to?: number }[]
      }>(path)
      const values = new Map(
        points.map(({ rate_date, value, rounded_to }) => [rate_date, { value, roundedTo: rounded_to }]),
      )
      const covered = new Set<IsoDate>()
      for (const { from, to } of coverage.get(id) ?? []) {
        for (let day = from; day <= to; day = addDays(day, 1)) covered.add(day)
      }
      return { base, quote, side, values, covered }
    }),
  )
}

function requestOf(random: Random, currencies: readonly string[]): Request {
  const common = ['USD', 'CRC', 'EUR', 'JPY']
  const currency = () => pick(random, random.chance(0.5) ? common : currencies)
  const begin = pick(random, [
    '1983-01-01',
    '1990-02-01',
    '2005-05-01',
    '2019-01-01',
    '2024-06-01',
    '2026-01-01',
  ])
  const from = addDays(begin, random.int(0, 600))
  return {
    base: currency(),
    quote: currency(),
    type: pick(random, ['venta', 'compra', 'venta', 'compra', 'venta', 'compra', 'referencia']),
    from,
    to: addDays(from, random.chance(0.1) ? random.int(0, 9000) : random.int(0, 500)),
    every: pick(random, EVERY),
    stat: pick(random, STATS),
  }
}

/** The way of /convert: a pair in either direction, else over the dollar. None for a currency in itself. */
function legsOf(store: readonly Series[], { base, quote, type }: Request): Leg[] | undefined {
  const leg = (from: string, to: string): Leg | undefined => {
    const found = store.filter((one) => [one.base, one.quote].sort().join() === [from, to].sort().join())
    const series = found.find(({ side }) => side === type || side === 'referencia')
    return series && { series, inverse: series.base !== from }
  }
  const isPair = (a: string, b: string) =>
    store.some((one) => (one.base === a && one.quote === b) || (one.base === b && one.quote === a))
  if (base === quote) return []
  const legs = isPair(base, quote) ? [leg(base, quote)] : [leg(base, 'USD'), leg('USD', quote)]
  return legs.every((one) => one !== undefined) ? legs : undefined
}

/** Days of the range that a leg was not asked for, before its newest covered day (decisions 2.6, lists). */
function holesOf(legs: readonly Leg[], { from, to }: Request): { from: IsoDate; to: IsoDate }[] {
  const begins = legs.map(({ series }) => beginOf(series))
  const newest = legs.map(({ series }) => [...series.covered].reduce((a, b) => (a > b ? a : b), ''))
  const holes: { from: IsoDate; to: IsoDate }[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const isMissing = legs.some(
      ({ series }, at) => !series.covered.has(day) && day < (newest[at] ?? '') && day >= (begins[at] ?? ''),
    )
    if (!isMissing) continue
    const last = holes.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else holes.push({ from: day, to: day })
  }
  return holes
}

/** The first day of a history: the dollar's is known, another's is that of its value after 366 covered days without. */
function beginOf({ side, values, covered }: Series): IsoDate {
  if (side !== 'referencia') return '1983-01-01'
  const first = [...values.keys()].toSorted()[0] ?? ''
  if (first === '') return ''
  for (let back = 1; back <= 366; back += 1) if (!covered.has(addDays(first, -back))) return ''
  return first
}

function pointsOf(legs: readonly Leg[], { from, to, every, stat }: Request) {
  const periods = new Map<IsoDate, { first: IsoDate; last: IsoDate; known: Known[]; unknown: boolean }>()
  const follow = legs.map(followed)
  for (let day = from; day <= to; day = addDays(day, 1)) {
    if (!legs.some(({ series }) => series.values.has(day))) continue
    const states = follow.map((stateOn) => stateOn(day))
    if (states.some((state) => state === 'none')) continue
    const [first, last] = periodOf(day, every)
    const period = periods.getOrInsertComputed(first, () => ({ first, last, known: [], unknown: false }))
    if (states.some((state) => state === 'unknown')) period.unknown = true
    else period.known.push(knownOf(legs, states, day))
  }
  return [...periods.values()].flatMap(({ first, last, known, unknown }) => {
    if (known.length === 0) return []
    const point = statOf(known, stat)
    const days = Array.from({ length: dayOf(last) - dayOf(first) + 1 }, (_, at) => addDays(first, at))
    const isWhole =
      !unknown &&
      first >= from &&
      last <= to &&
      last < TODAY &&
      days.every((day) => legs.every(({ series }) => series.covered.has(day)))
    const decimals = stat === 'mean' ? known.flatMap((one) => one.decimals) : point.decimals
    return [
      {
        ...{ date: first, rate_date: point.rateDate, value: point.value },
        ...(every !== 'day' && !isWhole && { partial: true }),
        ...(decimals.length > 0 && { rounded_to: Math.min(...decimals) }),
      },
    ]
  })
}

/** The day of a leg's last value, if each day since is covered; worked out once for each series, day by day. */
const histories = new Map<Series, Map<IsoDate, string>>()
function followed({ series }: Leg): (day: IsoDate) => string {
  const states = histories.getOrInsertComputed(series, () => {
    const found = new Map<IsoDate, string>()
    let state = 'none'
    for (let day = '1983-01-01'; day < '2030-01-01'; day = addDays(day, 1)) {
      if (series.values.has(day)) state = day
      else if (state !== 'none' && !series.covered.has(day)) state = 'unknown'
      found.set(day, state)
    }
    return found
  })
  return (day) => states.get(day) ?? 'unknown'
}

function knownOf(legs: readonly Leg[], days: readonly IsoDate[], date: IsoDate): Known {
  const found = legs.map(({ series, inverse }, at) => {
    const value = series.values.get(days[at] ?? '')
    assert.ok(value)
    return { ...value, inverse }
  })
  const [first] = found
  return {
    date,
    rateDate: days.toSorted()[0] ?? date,
    rate: found
      .map(({ value, inverse }) => (inverse ? inverted(fractionOf(value)) : fractionOf(value)))
      .reduce(times),
    own: found.length === 1 && !first?.inverse ? first?.value : undefined,
    decimals: found.flatMap(({ roundedTo }) => (roundedTo === undefined ? [] : [roundedTo])),
  }
}

function statOf(known: readonly Known[], stat: Request['stat']): Known & { value: string } {
  const last = known.at(-1)
  assert.ok(last)
  if (stat === 'mean') {
    const total = known.map(({ rate }) => rate).reduce(plus)
    const mean = { over: total.over, under: total.under * BigInt(known.length) }
    return { ...last, value: known.length === 1 && last.own ? last.own : rounded(mean, 15) }
  }
  const sorted = known.toSorted((a, b) => Number(compare(a.rate, b.rate)))
  const lowest = sorted[0] ?? last
  const highest = known.find(({ rate }) => compare(rate, sorted.at(-1)?.rate ?? rate) === 0n) ?? last
  const chosen = stat === 'last' ? last : stat === 'low' ? lowest : highest
  return { ...chosen, value: chosen.own ?? rounded(chosen.rate, 15) }
}

function plus(a: Fraction, b: Fraction): Fraction {
  const over = a.over * b.under + b.over * a.under
  const under = a.under * b.under
  let [divisor, rest] = [over, under]
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest]
  return { over: over / divisor, under: under / divisor }
}

/** Less than zero, zero, or more. */
function compare(a: Fraction, b: Fraction): bigint {
  const difference = a.over * b.under - b.over * a.under
  return difference === 0n ? 0n : difference > 0n ? 1n : -1n
}

/** First and last day, by the calendar of Date. */
function periodOf(day: IsoDate, every: Request['every']): [IsoDate, IsoDate] {
  const date = new Date(`${day}T00:00:00Z`)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  const iso = (y: number, m: number, d: number) => new Date(Date.UTC(y, m, d)).toISOString().slice(0, 10)
  if (every === 'day') return [day, day]
  if (every === 'week') {
    const monday = addDays(day, -((date.getUTCDay() + 6) % 7))
    return [monday, addDays(monday, 6)]
  }
  const months = { month: 1, quarter: 3, year: 12 }[every]
  const first = month - (month % months)
  return [iso(year, first, 1), iso(year, first + months, 0)]
}
