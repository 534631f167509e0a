// The history of any pair: its values day by day, or one for each week, month, quarter or year. A point is what /convert says
// of its day (decisions 2.9), but only of a day that is known of each leg: past its newest covered day a value is not carried.
// Refuses to bridge a hole: such a day has no point, and its period says that it is partial (decisions 2.18).

import { dayOf, type IsoDate, isoOf } from '../../dates.ts'
import { inUnits, ofUnits } from '../../decimal.ts'
import { type Fraction, isLess, quotient, sum, toDecimal } from '../../fraction.ts'
import type { Interval } from '../../intervals.ts'
import type { RateType } from '../../providers/provider.ts'
import { makeColumn, roundedAt, valueAt } from './column.ts'
import { areCovered, UNKNOWN_DAYS } from './coverage.ts'
import { holesOf, type SeriesDays, seriesDays } from './holes.ts'
import { type Period, type PeriodLength, periodOf } from './periods.ts'
import { routeBetween, withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { pointsBetween, smallest } from './rates.ts'

/** The value of a period: of its last point, of its lowest or highest one, or the mean of all. */
export type Stat = 'last' | 'mean' | 'low' | 'high'

export type RangeQuery = {
  provider: string
  base: string
  quote: string
  type: RateType
  /** The first day, and the last one of which values are wanted. */
  from: IsoDate
  last: IsoDate
  /** A period that is not over on this day is partial. */
  today: IsoDate
}

export type PairHistoryQuery = RangeQuery & { every: PeriodLength; stat: Stat }

export type PairPoint = {
  /** The day, or the first one of the period. */
  date: IsoDate
  /** The older of the days of the values that it was computed from: of a mean those of its last point. */
  rate_date: IsoDate
  value: string
  partial?: true
  rounded_to?: number
}

/** The points are made one after the other, and can be gone through once. */
export type PairHistory = {
  rateType: RateType
  points: Iterable<PairPoint>
  /** The days of the range that were not synchronized of a leg; null: that is not in the record. */
  holes: readonly Interval[] | null
}

/** A point of a day: `rate_date` is the older of the days of its values. */
export type DatedValue = { date: IsoDate; rate_date: IsoDate; value: string }

/** Statistics of the points of a range. */
export type Figures = {
  first: DatedValue
  last: DatedValue
  /** Of equal ones the first. */
  low: DatedValue
  high: DatedValue
  /** To 15 significant digits, half-even (decisions 2.9). */
  mean: string
  /** The last value less the first, exactly. */
  change: string
  /** The range is not over, or has days that are not known. */
  partial?: true
  /** The fewest decimals of a rounded value. */
  rounded_to?: number
}

/** `figures` is absent where the range has no point. */
export type PairStatistics = {
  rateType: RateType
  count: number
  figures?: Figures
  /** The days of the range that were not synchronized of a leg; null: that is not in the record. */
  holes: readonly Interval[] | null
}

/** A leg with what is stored of it, and the index in its column of the value of each day of a period that has a point. */
type StoredLeg = SeriesDays & { inverse: boolean; at: number[] }

const EMPTY = makeColumn(new Int32Array(), [])

/** Some of the points of a period. */
type Range = { begin: number; end: number }

/** A period with all of its points. */
type Group = Period & Range & { hasHole: boolean }

type GroupedQuery = PairHistoryQuery & { periodAt(day: number): Period }

/**
 * The points of a pair, oldest first. A currency in itself has none: nothing is published of it.
 * @throws AppError `not-found`: no such provider, currency or side, or no way between the two
 */
export function pairHistory(
  snapshot: RateSnapshot,
  asked: PairHistoryQuery,
): PairHistory | Promise<PairHistory> {
  return withLegs(snapshot, asked, (legs, rateType) => {
    const holes = holesOf(legs, { from: asked.from, to: asked.last })
    const points = pointsOf(legs, { ...asked, periodAt: (day) => periodOf(day, asked.every) })
    // Where it is not known which days were covered, a point may be refused: before the first is given.
    const mayRefuse = legs.some(({ covered }) => covered === UNKNOWN_DAYS)
    return { rateType, points: mayRefuse ? [...points] : points, holes }
  })
}

/**
 * First, last, lowest and highest point of a pair in a range, their mean and change.
 * @throws AppError `not-found`: no such provider, currency or side, or no way between the two
 */
export function pairStatistics(
  snapshot: RateSnapshot,
  asked: RangeQuery,
): PairStatistics | Promise<PairStatistics> {
  return withLegs(snapshot, asked, (legs, rateType) => {
    const holes = holesOf(legs, { from: asked.from, to: asked.last })
    const range = { first: dayOf(asked.from), last: dayOf(asked.last) }
    const [group] = groupsOf(legs, { ...asked, periodAt: () => range })
    if (!group || group.begin === group.end) return { rateType, holes, count: 0 }
    const datedAt = (at: number): DatedValue => ({
      ...{ date: isoOf(newestDay(legs, at)), rate_date: isoOf(oldestDay(legs, at)) },
      value: rateAt(legs, at),
    })
    const [first, last] = [datedAt(group.begin), datedAt(group.end - 1)]
    const [low, high] = [datedAt(extreme(legs, group, 'low')), datedAt(extreme(legs, group, 'high'))]
    const { units, places } = inUnits([last.value, first.value])
    const figures: Figures = {
      ...{ first, last, low, high },
      mean: group.end - group.begin > 1 ? meanOf(legs, group) : first.value,
      change: ofUnits((units[0] ?? 0n) - (units[1] ?? 0n), places),
    }
    if (!isWhole(legs, group, asked)) figures.partial = true
    const decimals = roundedTo(legs, group)
    if (decimals !== undefined) figures.rounded_to = decimals
    return { rateType, holes, count: group.end - group.begin, figures }
  })
}

function withLegs<T>(
  snapshot: RateSnapshot,
  { provider, base, quote, type }: Pick<RangeQuery, 'provider' | 'base' | 'quote' | 'type'>,
  answer: (legs: readonly StoredLeg[], rateType: RateType) => T,
): T | Promise<T> {
  const { legs, rateType } = routeBetween(snapshot, { provider, from: base, to: quote, type }, 'series')
  const series = legs.map((leg) => leg.series)
  return withColumns(snapshot, series, (columns) => {
    const stored = legs.map(({ inverse, series }, at) => ({
      ...seriesDays(snapshot, series, columns[at] ?? EMPTY),
      ...{ inverse, at: [] },
    }))
    return answer(stored, rateType)
  })
}

function* pointsOf(legs: readonly StoredLeg[], asked: GroupedQuery): Iterable<PairPoint> {
  for (const group of groupsOf(legs, asked)) {
    const point = pointOf(legs, group, asked)
    if (point) yield point
  }
}

/** The days on which a leg has a value and each is known, by period; where their values are is in the legs until the next. */
function* groupsOf(
  legs: readonly StoredLeg[],
  { from, last, periodAt }: Pick<GroupedQuery, 'from' | 'last' | 'periodAt'>,
): Generator<Group, void> {
  let group: Group | undefined
  const cursors = legs.map((leg) => {
    const { first, end } = pointsBetween(leg.column, from, last)
    return { leg, days: leg.column.days, at: first - 1, end } // `at` is that of the last value so far
  })
  for (;;) {
    let day = Number.POSITIVE_INFINITY
    for (const { days, at, end } of cursors) if (at + 1 < end) day = Math.min(day, days[at + 1] ?? day)
    if (day === Number.POSITIVE_INFINITY) break
    for (const cursor of cursors) if (cursor.days[cursor.at + 1] === day) cursor.at += 1
    if (cursors.some(({ at }) => at < 0)) continue // before the first value of a leg there is no rate
    if (!group || day > group.last) {
      if (group) yield group
      for (const { at } of legs) at.length = 0
      group = { ...periodAt(day), begin: 0, end: 0, hasHole: false }
    }
    if (cursors.every(({ leg, at }) => isKnownOn(leg, at, day))) {
      for (const { leg, at } of cursors) leg.at.push(at)
      group.end += 1
    } else group.hasHole = true
  }
  if (group) yield group
}

/** Whether a leg's value is that of the day, or may be carried to it. */
function isKnownOn({ column, covered }: StoredLeg, at: number, day: number): boolean {
  const published = column.days[at] ?? day
  return published === day || areCovered(covered, published + 1, day)
}

function pointOf(legs: readonly StoredLeg[], group: Group, asked: GroupedQuery): PairPoint | undefined {
  const { begin, end } = group
  if (begin === end) return undefined
  const { every, stat } = asked
  const isMean = stat === 'mean' && end - begin > 1
  const chosen = isMean || stat === 'last' ? end - 1 : extreme(legs, group, stat)
  const point: PairPoint = {
    date: isoOf(group.first),
    rate_date: isoOf(oldestDay(legs, chosen)),
    value: isMean ? meanOf(legs, group) : rateAt(legs, chosen),
  }
  if (every !== 'day' && !isWhole(legs, group, asked)) point.partial = true
  const decimals = roundedTo(legs, isMean ? group : { begin: chosen, end: chosen + 1 })
  if (decimals !== undefined) point.rounded_to = decimals
  return point
}

/** Whether the period is over, all of it was asked for, and no day of it is unknown of a leg. */
function isWhole(
  legs: readonly StoredLeg[],
  { first, last, hasHole }: Group,
  asked: Pick<PairHistoryQuery, 'from' | 'last' | 'today'>,
): boolean {
  return (
    !hasHole &&
    first >= dayOf(asked.from) &&
    last <= dayOf(asked.last) &&
    last < dayOf(asked.today) &&
    legs.every(({ covered }) => areCovered(covered, first, last))
  )
}

/** The first of the lowest points, or of the highest ones. */
function extreme(legs: readonly StoredLeg[], { begin, end }: Range, stat: Stat): number {
  let best = begin
  let rate = fractionAt(legs, begin)
  for (let point = begin + 1; point < end; point += 1) {
    const other = fractionAt(legs, point)
    if (!(stat === 'low' ? isLess(other, rate) : isLess(rate, other))) continue
    best = point
    rate = other
  }
  return best
}

/** Of exact rates, rounded once. */
function meanOf(legs: readonly StoredLeg[], { begin, end }: Range): string {
  const rates: Fraction[] = []
  for (let point = begin; point < end; point += 1) rates.push(fractionAt(legs, point))
  const { over, under } = sum(rates)
  return toDecimal({ over, under: under * BigInt(rates.length) })
}

/** The day of a point: one of its values was published on it. */
function newestDay(legs: readonly StoredLeg[], point: number): number {
  return Math.max(...legs.map(({ column, at }) => column.days[at[point] ?? 0] ?? 0))
}

function oldestDay(legs: readonly StoredLeg[], point: number): number {
  return Math.min(...legs.map(({ column, at }) => column.days[at[point] ?? 0] ?? 0))
}

/** A rate as it was published, or one that was computed (decisions 2.9). */
function rateAt(legs: readonly StoredLeg[], point: number): string {
  const [leg, second] = legs
  if (leg && !second && !leg.inverse) return valueAt(leg.column, leg.at[point] ?? 0)
  return toDecimal(fractionAt(legs, point))
}

function fractionAt(legs: readonly StoredLeg[], point: number): Fraction {
  const numerator: string[] = []
  const denominator: string[] = []
  for (const { inverse, column, at } of legs) {
    const factors = inverse ? denominator : numerator
    factors.push(valueAt(column, at[point] ?? 0))
  }
  return quotient(numerator, denominator)
}

/** The fewest decimals that a value of these points is rounded to. */
function roundedTo(legs: readonly StoredLeg[], { begin, end }: Range): number | undefined {
  let decimals: number | undefined
  for (const { column, at } of legs) {
    if (!column.rounded) continue
    for (const index of at.slice(begin, end)) decimals = smallest(decimals, roundedAt(column, index))
  }
  return decimals
}
