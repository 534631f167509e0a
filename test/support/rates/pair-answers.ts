// History of any pair, computed day by day in exact fractions from stored values and covered days
// (decisions#lists, #conversion and #points). Written from the decisions, not from the program.

import assert from 'node:assert/strict'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { addDays, dayNumber, type IsoDate, latest } from '../../../src/values/dates.ts'
import { addInterval, toIntervals } from '../../../src/values/intervals.ts'
import { asOtherProcess } from '../../api/support.ts'
import { type Fraction, inverted, parseFraction, rounded, times } from '../../unit/domain/support.ts'
import type { TestApp } from '../app.ts'

export const EVERY = ['day', 'week', 'month', 'quarter', 'year'] as const
export const STATS = ['last', 'mean', 'low', 'high'] as const

type Value = { value: string; roundedTo: number | undefined }
export type PairSeries = {
  base: string
  quote: string
  rateType: string
  values: ReadonlyMap<IsoDate, Value>
  covered: ReadonlySet<IsoDate>
}
export type PairLeg = { series: PairSeries; inverse: boolean }
type Known = { date: IsoDate; rateDate: IsoDate; rate: Fraction; own: string | undefined; decimals: number[] }
export type PairRequest = {
  base: string
  quote: string
  type: string
  from: IsoDate
  to: IsoDate
  every: (typeof EVERY)[number]
  stat: (typeof STATS)[number] | 'all'
}

/** Reads the stored values and covered days of each series. */
export async function readPairSeries(app: TestApp): Promise<PairSeries[]> {
  const coverage = await asOtherProcess(app, selectCoverage)
  const listed =
    await app.json<{ id: number; base_currency: string; quote_currency: string }[]>('/api/v1/series')
  return Promise.all(
    listed.map(async ({ id, base_currency: base, quote_currency: quote }) => {
      const path = `/api/v1/series/${id}/history?from=1983-01-01&to=2999-12-31`
      const { rate_type: rateType, points } = await app.json<{
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
      return { base, quote, rateType, values, covered }
    }),
  )
}

/** Path of /convert: a pair in either direction, else over the dollar. A currency to itself has none. */
export function findLegs(
  store: readonly PairSeries[],
  { base, quote, type }: Pick<PairRequest, 'base' | 'quote' | 'type'>,
): PairLeg[] | undefined {
  const leg = (from: string, to: string): PairLeg | undefined => {
    const pairSeries = store.filter((one) => [one.base, one.quote].sort().join() === [from, to].sort().join())
    const series = pairSeries.find(({ rateType }) => rateType === type || rateType === 'referencia')
    return series && { series, inverse: series.base !== from }
  }
  const isPair = (a: string, b: string) =>
    store.some((one) => (one.base === a && one.quote === b) || (one.base === b && one.quote === a))
  if (base === quote) return []
  const legs = isPair(base, quote) ? [leg(base, quote)] : [leg(base, 'USD'), leg('USD', quote)]
  return legs.every((one) => one !== undefined) ? legs : undefined
}

/** Days of the range that are not covered for a leg, before its newest covered day (decisions#lists). */
export function holesOfLegs(
  legs: readonly PairLeg[],
  { from, to }: Pick<PairRequest, 'from' | 'to'>,
): { from: IsoDate; to: IsoDate }[] {
  const begins = legs.map(({ series }) => firstDay(series))
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

/**
 * Holes of a pair's history. Includes earlier days over which a leg's value would be carried to a day of another leg.
 * Days that continue into the range are cut off.
 */
export function holesOfPair(
  legs: readonly PairLeg[],
  { from, to }: Pick<PairRequest, 'from' | 'to'>,
): { from: IsoDate; to: IsoDate }[] {
  const earlier = new Set<IsoDate>()
  for (const { series } of legs) {
    const valueDay = [...series.values.keys()].filter((day) => day < from).reduce(latest, '')
    const newest = [...series.covered].reduce(latest, '')
    let day = from
    while (day <= to && !series.values.has(day) && !legs.some((other) => other.series.values.has(day)))
      day = addDays(day, 1)
    if (valueDay === '' || day > to || series.values.has(day)) continue
    let end = addDays(from, -1)
    if (!series.covered.has(from) && from < newest)
      while (end > valueDay && !series.covered.has(end)) end = addDays(end, -1)
    for (let one = addDays(valueDay, 1); one <= end && one < newest; one = addDays(one, 1))
      if (!series.covered.has(one)) earlier.add(one)
  }
  return [...toIntervals([...earlier].toSorted()), ...holesOfLegs(legs, { from, to })].reduce(addInterval, [])
}

/** First day of a history: fixed for the dollar, else that of its value after 366 covered days without one. */
function firstDay({ rateType, values, covered }: PairSeries): IsoDate {
  if (rateType !== 'referencia') return '1983-01-01'
  const first = [...values.keys()].toSorted()[0] ?? ''
  if (first === '') return ''
  for (let back = 1; back <= 366; back += 1) if (!covered.has(addDays(first, -back))) return ''
  return first
}

type ExpectedFigure = { rate_date: IsoDate; value: string; rounded_to?: number; day?: IsoDate }
type ExpectedPoint = { date: IsoDate; partial?: true } & Partial<ExpectedFigure> &
  Partial<Record<(typeof STATS)[number], ExpectedFigure>>

/** Points of a range. A period that ends on or after `today` is not over. */
export function expectedPoints(
  legs: readonly PairLeg[],
  { from, to, every, stat, details }: PairRequest & { details?: 'true' | 'false' },
  today: IsoDate,
): ExpectedPoint[] {
  const periods = new Map<IsoDate, { first: IsoDate; last: IsoDate; known: Known[]; unknown: boolean }>()
  const follow = legs.map(followed)
  for (let day = from; day <= to; day = addDays(day, 1)) {
    if (!legs.some(({ series }) => series.values.has(day))) continue
    const states = follow.map((stateOn) => stateOn(day))
    if (states.some((state) => state === 'none')) continue
    const [first, last] = periodBounds(day, every)
    const period = periods.getOrInsertComputed(first, () => ({ first, last, known: [], unknown: false }))
    if (states.some((state) => state === 'unknown')) period.unknown = true
    else period.known.push(crossRate(legs, states, day))
  }
  return [...periods.values()].flatMap(({ first, last, known, unknown }) => {
    if (known.length === 0) return []
    const days = Array.from({ length: dayNumber(last) - dayNumber(first) + 1 }, (_, at) => addDays(first, at))
    const isWhole =
      !unknown &&
      first >= from &&
      last <= to &&
      last < today &&
      days.every((day) => legs.every(({ series }) => series.covered.has(day)))
    const partial = every !== 'day' && !isWhole && { partial: true as const }
    const figure = (one: (typeof STATS)[number]) => expectedFigure(known, one, details === 'true')
    const figures = stat === 'all' ? Object.fromEntries(STATS.map((one) => [one, figure(one)])) : figure(stat)
    return [{ date: first, ...figures, ...partial }]
  })
}

function expectedFigure(
  known: readonly Known[],
  stat: (typeof STATS)[number],
  hasDay: boolean,
): ExpectedFigure {
  const { rateDate, value, date, decimals } = periodValue(known, stat)
  const all = stat === 'mean' ? known.flatMap((one) => one.decimals) : decimals
  return {
    ...{ rate_date: rateDate, value },
    ...(all.length > 0 && { rounded_to: Math.min(...all) }),
    ...(hasDay && { day: date }),
  }
}

/** Day of the last value of a leg, if each day since is covered. Computed once for each series. */
const histories = new WeakMap<PairSeries, Map<IsoDate, string>>()
function followed({ series }: PairLeg): (day: IsoDate) => string {
  const states = histories.getOrInsertComputed(series, () => {
    const lastDays = new Map<IsoDate, string>()
    let state = 'none'
    for (let day = '1983-01-01'; day < '2030-01-01'; day = addDays(day, 1)) {
      if (series.values.has(day)) state = day
      else if (state !== 'none' && !series.covered.has(day)) state = 'unknown'
      lastDays.set(day, state)
    }
    return lastDays
  })
  return (day) => states.get(day) ?? 'unknown'
}

function crossRate(legs: readonly PairLeg[], days: readonly IsoDate[], date: IsoDate): Known {
  const factors = legs.map(({ series, inverse }, at) => {
    const value = series.values.get(days[at] ?? '')
    assert.ok(value)
    return { ...value, inverse }
  })
  const [first] = factors
  return {
    date,
    rateDate: days.toSorted()[0] ?? date,
    rate: factors
      .map(({ value, inverse }) => (inverse ? inverted(parseFraction(value)) : parseFraction(value)))
      .reduce(times),
    own: factors.length === 1 && !first?.inverse ? first?.value : undefined,
    decimals: factors.flatMap(({ roundedTo }) => (roundedTo === undefined ? [] : [roundedTo])),
  }
}

function periodValue(known: readonly Known[], stat: (typeof STATS)[number]): Known & { value: string } {
  const last = known.at(-1)
  assert.ok(last)
  if (stat === 'mean') {
    const total = known.map(({ rate }) => rate).reduce(plus)
    const mean = { over: total.over, under: total.under * BigInt(known.length) }
    return { ...last, value: known.length === 1 && last.own ? last.own : rounded(mean, 15) }
  }
  const ascending = known.toSorted((a, b) => Number(compare(a.rate, b.rate)))
  const lowest = ascending[0] ?? last
  const highest = known.find(({ rate }) => compare(rate, ascending.at(-1)?.rate ?? rate) === 0n) ?? last
  const point = stat === 'last' ? last : stat === 'low' ? lowest : highest
  return { ...point, value: point.own ?? rounded(point.rate, 15) }
}

function plus(a: Fraction, b: Fraction): Fraction {
  const over = a.over * b.under + b.over * a.under
  const under = a.under * b.under
  let [divisor, rest] = [over, under]
  while (rest > 0n) [divisor, rest] = [rest, divisor % rest]
  return { over: over / divisor, under: under / divisor }
}

/** Negative, zero or positive. */
function compare(a: Fraction, b: Fraction): bigint {
  const difference = a.over * b.under - b.over * a.under
  return difference === 0n ? 0n : difference > 0n ? 1n : -1n
}

/** Expected rate_statistics of a range as one period; undefined: no day of it is known. */
export function expectedStatistics(
  legs: readonly PairLeg[],
  { from, to }: Pick<PairRequest, 'from' | 'to'>,
  today: IsoDate,
) {
  const points: Known[] = []
  const follow = legs.map(followed)
  let isWhole = to < today
  for (let day = from; day <= to; day = addDays(day, 1)) {
    if (!legs.every(({ series }) => series.covered.has(day))) isWhole = false
    if (!legs.some(({ series }) => series.values.has(day))) continue
    const states = follow.map((stateOn) => stateOn(day))
    if (states.includes('none')) continue
    if (states.includes('unknown')) isWhole = false
    else points.push(crossRate(legs, states, day))
  }
  if (points.length === 0) return undefined
  const [mean, low, high] = (['mean', 'low', 'high'] as const).map((stat) => periodValue(points, stat).value)
  return { count: points.length, mean, low, high, isPartial: !isWhole }
}

/** First and last day of the period, by the calendar of Date. */
function periodBounds(day: IsoDate, every: PairRequest['every']): [IsoDate, IsoDate] {
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
