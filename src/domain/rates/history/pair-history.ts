// History of any pair: values by day, or one for each week, month, quarter or year. A point equals the answer of
// /convert for its day (decisions#conversion). A point needs every leg: after the newest covered day of a leg no value
// is carried. Holes are never bridged: such a day has no point, and its period is partial (decisions#points).

import type { RateType } from '../../../providers/provider.ts'
import { dayNumber, type IsoDate, isoDate } from '../../../values/dates.ts'
import { fromUnits, toUnits } from '../../../values/decimal.ts'
import { type Fraction, isLess, quotient, sum, toDecimal } from '../../../values/fraction.ts'
import type { Interval } from '../../../values/intervals.ts'
import { columnDecimals, columnValue } from '../column.ts'
import { areCovered, UNKNOWN_DAYS } from '../covered-days.ts'
import { findPairHoles, type SeriesDays } from '../holes.ts'
import { requireRoute, withLegs } from '../queries.ts'
import type { RateSnapshot } from '../rate-cache.ts'
import { pointRange, smallest } from '../rates.ts'
import { findPeriod, type Period, type PeriodLength } from './periods.ts'

/** The values of a period, in their order. */
export const STATS = ['last', 'mean', 'low', 'high'] as const

/** Value of a period: its last point, lowest, highest, or the mean of all. */
export type Stat = (typeof STATS)[number]

export type RangeQuery = {
  provider: string
  base: string
  quote: string
  type: RateType
  /** First and last day of the range. */
  from: IsoDate
  last: IsoDate
  /** A period that has not ended by this day is partial. */
  today: IsoDate
}

/** Query of periods; with `details` each value has its `day`. */
export type PeriodQuery = RangeQuery & { every: PeriodLength; details?: boolean }

export type PairHistoryQuery = PeriodQuery & { stat: Stat }

export type PairPoint = {
  /** Day of the point, or first day of the period. */
  date: IsoDate
  /** Oldest day among the values used; for a mean, that of its last point. */
  rate_date: IsoDate
  value: string
  partial?: true
  rounded_to?: number
  /** Day of the period on which the pair had the value; for a mean, that of its last point. */
  day?: IsoDate
}

/** A value of a period; the fields are those of PairPoint. */
export type PairFigure = Omit<PairPoint, 'date' | 'partial'>

/** Values of a period, by statistic. */
export type PeriodFigures = { date: IsoDate } & Record<Stat, PairFigure> & { partial?: true }

/** History of a pair. Points are computed lazily and can be iterated once. */
export type PairHistory<P = PairPoint> = {
  rateType: RateType
  points: Iterable<P>
  /** Days as of findPairHoles; null: coverage is not recorded. */
  holes: readonly Interval[] | null
}

/** Point of a day: `rate_date` is the oldest day among its values. */
export type DatedValue = { date: IsoDate; rate_date: IsoDate; value: string }

/** Statistics of the points of a range. */
export type Figures = {
  first: DatedValue
  last: DatedValue
  /** First of equal values. */
  low: DatedValue
  high: DatedValue
  /** To 15 significant digits, half-even (decisions#conversion). */
  mean: string
  /** Last value minus the first, exactly. */
  change: string
  /** The range has not ended, or has unknown days. */
  partial?: true
  /** Fewest decimals of a rounded value. */
  rounded_to?: number
}

/** Statistics of a pair; `figures` is absent for a range without points. */
export type PairStatistics = {
  rateType: RateType
  count: number
  figures?: Figures
  /** Days as of findPairHoles; null: coverage is not recorded. */
  holes: readonly Interval[] | null
}

/** A leg with its data. `at` has the index of its value for each point of the current period. */
type PeriodLeg = SeriesDays & { inverse: boolean; at: number[] }

/** Consecutive points of a period. */
type PointRange = { begin: number; end: number }

/** A period with all of its points. */
type PointGroup = Period & PointRange & { hasHole: boolean }

type GroupedQuery = PeriodQuery & { periodAt(day: number): Period }

/** Makes the point of a group that has points. */
type MakePoint<P> = (legs: readonly PeriodLeg[], group: PointGroup, query: GroupedQuery) => P

/**
 * Lists the points of a pair, oldest first. A currency in itself has none, because nothing is published.
 * @throws AppError `not-found`: no such provider, currency or side, or no route between the two
 */
export function pairHistory(
  snapshot: RateSnapshot,
  query: PairHistoryQuery,
): PairHistory | Promise<PairHistory> {
  const { stat } = query
  return computeHistory(snapshot, query, (legs, group, of) => makePoint(legs, group, { ...of, stat }))
}

/**
 * Lists the points of a pair like pairHistory, each with all of its values.
 * @throws AppError as pairHistory
 */
export function pairFigures(
  snapshot: RateSnapshot,
  query: PeriodQuery,
): PairHistory<PeriodFigures> | Promise<PairHistory<PeriodFigures>> {
  return computeHistory(snapshot, query, makeFigures)
}

function computeHistory<P>(
  snapshot: RateSnapshot,
  query: PeriodQuery,
  make: MakePoint<P>,
): PairHistory<P> | Promise<PairHistory<P>> {
  return withPointLegs(snapshot, query, (legs, rateType) => {
    const holes = findPairHoles(legs, { from: query.from, to: query.last })
    const points = yieldPoints(legs, { ...query, periodAt: (day) => findPeriod(day, query.every) }, make)
    // Without recorded coverage a point may be rejected; the error must precede the first point.
    const mayRefuse = legs.some(({ covered }) => covered === UNKNOWN_DAYS)
    return { rateType, points: mayRefuse ? [...points] : points, holes }
  })
}

/**
 * Computes the first, last, lowest and highest point of a pair, their mean and change.
 * @throws AppError `not-found`: no such provider, currency or side, or no route between the two
 */
export function pairStatistics(
  snapshot: RateSnapshot,
  query: RangeQuery,
): PairStatistics | Promise<PairStatistics> {
  return withPointLegs(snapshot, query, (legs, rateType) => {
    const holes = findPairHoles(legs, { from: query.from, to: query.last })
    const range = { first: dayNumber(query.from), last: dayNumber(query.last) }
    const [group] = groupDays(legs, { ...query, periodAt: () => range })
    if (!group || group.begin === group.end) return { rateType, holes, count: 0 }
    const datedValue = (at: number): DatedValue => ({
      ...{ date: isoDate(newestDay(legs, at)), rate_date: isoDate(oldestDay(legs, at)) },
      value: pointRate(legs, at),
    })
    const [first, last] = [datedValue(group.begin), datedValue(group.end - 1)]
    const [low, high] = [datedValue(extreme(legs, group, 'low')), datedValue(extreme(legs, group, 'high'))]
    const { units, places } = toUnits([last.value, first.value])
    const figures: Figures = {
      ...{ first, last, low, high },
      mean: group.end - group.begin > 1 ? meanRate(legs, group) : first.value,
      change: fromUnits((units[0] ?? 0n) - (units[1] ?? 0n), places),
    }
    if (!isWhole(legs, group, query)) figures.partial = true
    const decimals = minDecimals(legs, group)
    if (decimals !== undefined) figures.rounded_to = decimals
    return { rateType, holes, count: group.end - group.begin, figures }
  })
}

function withPointLegs<T>(
  snapshot: RateSnapshot,
  { provider, base, quote, type }: Pick<RangeQuery, 'provider' | 'base' | 'quote' | 'type'>,
  answer: (legs: readonly PeriodLeg[], rateType: RateType) => T,
): T | Promise<T> {
  const { legs, rateType } = requireRoute(snapshot, { provider, from: base, to: quote, type }, 'series')
  return withLegs(snapshot, legs, (storedLegs) =>
    answer(
      storedLegs.map((leg) => ({ ...leg, at: [] })),
      rateType,
    ),
  )
}

function* yieldPoints<P>(legs: readonly PeriodLeg[], query: GroupedQuery, make: MakePoint<P>): Iterable<P> {
  for (const group of groupDays(legs, query)) if (group.begin < group.end) yield make(legs, group, query)
}

/**
 * Groups the days on which a leg has a value and all legs are known, by period. Indexes of values are in the legs
 * until the next group.
 */
function* groupDays(
  legs: readonly PeriodLeg[],
  { from, last, periodAt }: Pick<GroupedQuery, 'from' | 'last' | 'periodAt'>,
): Generator<PointGroup, void> {
  let group: PointGroup | undefined
  const cursors = legs.map((leg) => {
    const { first, end } = pointRange(leg.column, from, last)
    return { leg, days: leg.column.days, at: first - 1, end } // `at` is the index of the last value so far
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
    if (cursors.every(({ leg, at }) => isKnownDay(leg, at, day))) {
      for (const { leg, at } of cursors) leg.at.push(at)
      group.end += 1
    } else group.hasHole = true
  }
  if (group) yield group
}

/** True if a leg's value is that of the day or may be carried to it. */
function isKnownDay({ column, covered }: PeriodLeg, at: number, day: number): boolean {
  const published = column.days[at] ?? day
  return published === day || areCovered(covered, published + 1, day)
}

function makePoint(
  legs: readonly PeriodLeg[],
  group: PointGroup,
  query: GroupedQuery & { stat: Stat },
): PairPoint {
  const { rate_date, value, ...marks } = makeFigure(legs, group, query.stat, query.details)
  const partial = isPartial(legs, group, query) ? { partial: true as const } : undefined
  return { date: isoDate(group.first), rate_date, value, ...partial, ...marks }
}

function makeFigures(legs: readonly PeriodLeg[], group: PointGroup, query: GroupedQuery): PeriodFigures {
  const last = makeFigure(legs, group, 'last', query.details)
  const isSingle = group.end - group.begin === 1
  const figure = (stat: Stat) => (isSingle ? last : makeFigure(legs, group, stat, query.details))
  const partial = isPartial(legs, group, query) ? { partial: true as const } : undefined
  return {
    ...{ date: isoDate(group.first), last, mean: figure('mean'), low: figure('low'), high: figure('high') },
    ...partial,
  }
}

function makeFigure(
  legs: readonly PeriodLeg[],
  { begin, end }: PointRange,
  stat: Stat,
  details = false,
): PairFigure {
  const isMean = stat === 'mean' && end - begin > 1
  const index = isMean || stat === 'last' ? end - 1 : extreme(legs, { begin, end }, stat)
  const figure: PairFigure = {
    value: isMean ? meanRate(legs, { begin, end }) : pointRate(legs, index),
    rate_date: isoDate(oldestDay(legs, index)),
  }
  const decimals = minDecimals(legs, isMean ? { begin, end } : { begin: index, end: index + 1 })
  if (decimals !== undefined) figure.rounded_to = decimals
  if (details) figure.day = isoDate(newestDay(legs, index))
  return figure
}

function isPartial(legs: readonly PeriodLeg[], group: PointGroup, query: GroupedQuery): boolean {
  return query.every !== 'day' && !isWhole(legs, group, query)
}

/** True if the period has ended, is within the range, and has no unknown day in any leg. */
function isWhole(
  legs: readonly PeriodLeg[],
  { first, last, hasHole }: PointGroup,
  query: Pick<RangeQuery, 'from' | 'last' | 'today'>,
): boolean {
  return (
    !hasHole &&
    first >= dayNumber(query.from) &&
    last <= dayNumber(query.last) &&
    last < dayNumber(query.today) &&
    legs.every(({ covered }) => areCovered(covered, first, last))
  )
}

/** Index of the lowest or highest point, the first among equals. */
function extreme(legs: readonly PeriodLeg[], { begin, end }: PointRange, stat: Stat): number {
  let best = begin
  let rate = pointFraction(legs, begin)
  for (let point = begin + 1; point < end; point += 1) {
    const other = pointFraction(legs, point)
    if (!(stat === 'low' ? isLess(other, rate) : isLess(rate, other))) continue
    best = point
    rate = other
  }
  return best
}

/** Mean of exact rates, rounded once. */
function meanRate(legs: readonly PeriodLeg[], { begin, end }: PointRange): string {
  const rates: Fraction[] = []
  for (let point = begin; point < end; point += 1) rates.push(pointFraction(legs, point))
  const { over, under } = sum(rates)
  return toDecimal({ over, under: under * BigInt(rates.length) })
}

/** Day of a point, on which at least one of its values was published. */
function newestDay(legs: readonly PeriodLeg[], point: number): number {
  return Math.max(...legs.map(({ column, at }) => column.days[at[point] ?? 0] ?? 0))
}

function oldestDay(legs: readonly PeriodLeg[], point: number): number {
  return Math.min(...legs.map(({ column, at }) => column.days[at[point] ?? 0] ?? 0))
}

/** Rate as published, or computed (decisions#conversion). */
function pointRate(legs: readonly PeriodLeg[], point: number): string {
  const [leg, second] = legs
  if (leg && !second && !leg.inverse) return columnValue(leg.column, leg.at[point] ?? 0)
  return toDecimal(pointFraction(legs, point))
}

function pointFraction(legs: readonly PeriodLeg[], point: number): Fraction {
  const numerator: string[] = []
  const denominator: string[] = []
  for (const { inverse, column, at } of legs) {
    const factors = inverse ? denominator : numerator
    factors.push(columnValue(column, at[point] ?? 0))
  }
  return quotient(numerator, denominator)
}

/** Fewest decimals among the rounded values of these points. */
function minDecimals(legs: readonly PeriodLeg[], { begin, end }: PointRange): number | undefined {
  let decimals: number | undefined
  for (const { column, at } of legs) {
    if (!column.rounded) continue
    for (const index of at.slice(begin, end)) decimals = smallest(decimals, columnDecimals(column, index))
  }
  return decimals
}
