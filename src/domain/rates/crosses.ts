// What one unit of a currency is worth in others: over every series that the bank publishes, in the way of /convert. This is
// what the shapes of other services answer, each in its own words.

import { setImmediate } from 'node:timers/promises'
import { dayOf, earliest, type IsoDate, isoOf, LATEST_DAY, latest } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { Side } from '../../store/tables.ts'
import { type Column, makeColumn } from './column.ts'
import { convert, findRoute, type Leg, type ValuedLeg } from './convert.ts'
import { holeBetween } from './coverage.ts'
import { holesOf, type SeriesDays, seriesDays } from './holes.ts'
import { withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { type Hole, pointsBetween } from './rates.ts'

/** Which rates are meant; a quote that nothing leads to is left out of the answer. */
export type CrossQuery = {
  provider: string
  base: string
  quotes: readonly string[]
  side: Side
}

/** Rates on a day, and of each quote without one the days that were not synchronized and that keep it from having one. */
export type CrossesOfDay = { crosses: Cross[]; holes: ReadonlyMap<string, Interval> }

/** A rate of one unit of the base. */
export type Cross = {
  quote: string
  rate: string
  /** The older day of its legs' values, and the newer one. */
  date: IsoDate
  newest: IsoDate
  /** To how many decimals it is rounded. */
  roundedTo: number | undefined
  /** Whether no parity of it is rounded: the dollar is published with two decimals. */
  exact: boolean
}

const COMPUTED_AT_ONCE = 500 // some milliseconds
const EMPTY = makeColumn(new Int32Array(), [])

/** Every currency of a provider, by code. */
export function currenciesOf(snapshot: RateSnapshot, provider: string): string[] {
  const codes = new Set<string>()
  for (const pair of snapshot.pairsOf(provider).keys()) for (const code of pair.split('/')) codes.add(code)
  return [...codes].sort()
}

/** The first day of which a value of a currency is stored; undefined: there is none. */
export function firstDayOf(snapshot: RateSnapshot, provider: string, code: string): IsoDate | undefined {
  let first: IsoDate | undefined
  for (const [pair, series] of snapshot.pairsOf(provider)) {
    if (!pair.split('/').includes(code)) continue
    for (const { first_data_date: day } of series) if (day !== null) first = earliest(first ?? day, day)
  }
  return first
}

/** The rates on a day, in the order of `quotes`; what has no value then, or days without a sync before it, has none. */
export function crossesOn(
  snapshot: RateSnapshot,
  { day, ...query }: CrossQuery & { day: IsoDate },
): CrossesOfDay | Promise<CrossesOfDay> {
  const routes = routesOf(snapshot, query)
  return withColumns(snapshot, seriesOf(routes), (columns) => {
    const valueOn = valuer(snapshot, columnsById(routes, columns))
    const crosses: Cross[] = []
    const holes = new Map<string, Interval>()
    for (const route of routes) {
      const { quote } = route
      const found = valueOn(route, day)
      if (found && 'hole' in found) holes.set(quote, found.hole)
      else if (found) crosses.push(found)
    }
    return { crosses, holes }
  })
}

/**
 * Of each quote of a range the first days that were not synchronized: within it, or before it where a value would have to
 * be carried over them into the range (decisions 2.6, lists). With `onlyPublished` only to a day on which another leg was
 * published. Quotes without such days are absent.
 */
export function holesOfRange(
  snapshot: RateSnapshot,
  { from, to, onlyPublished, ...query }: CrossQuery & Range & { onlyPublished: boolean },
): ReadonlyMap<string, Interval> | Promise<ReadonlyMap<string, Interval>> {
  const routes = routesOf(snapshot, query)
  return withColumns(snapshot, seriesOf(routes), (columns) => {
    const byId = columnsById(routes, columns)
    const holes = new Map<string, Interval>()
    for (const { quote, legs } of routes) {
      const stored = legs.map(({ series }) => seriesDays(snapshot, series, byId.get(series.id) ?? EMPTY))
      const hole = holesOf(stored, { from, to })?.[0] ?? holeBefore(stored, { from, to }, onlyPublished)
      if (hole) holes.set(quote, hole)
    }
    return holes
  })
}

/** The days before a range over which a leg's value would have to be carried into it. */
function holeBefore(
  legs: readonly SeriesDays[],
  { from, to }: Range,
  onlyPublished: boolean,
): Interval | undefined {
  for (const leg of legs) {
    const { days } = leg.column
    const { first } = pointsBetween(leg.column, from, to)
    const [before, next = Number.POSITIVE_INFINITY] = [days[first - 1], days[first]]
    if (before === undefined || next === dayOf(from)) continue
    const hole = holeBetween(leg.covered, before, dayOf(from))
    const carriedTo = isoOf(Math.min(next - 1, dayOf(to)))
    const isShown = () =>
      legs.some(({ column }) => {
        const other = pointsBetween(column, from, carriedTo)
        return other.first < other.end
      })
    if (hole && (!onlyPublished || isShown())) return hole
  }
  return undefined
}

/**
 * The rates on each day of a range that has any, in the order of days and of `quotes`: as crossesOn has them. One day is
 * in memory at a time, for decades of all currencies take hundreds of megabytes. Others have their turn meanwhile.
 */
export async function* crossesByDay(
  snapshot: RateSnapshot,
  { from, to, ...query }: CrossQuery & Range,
): AsyncGenerator<{ day: IsoDate; crosses: readonly Cross[] }> {
  const routes = routesOf(snapshot, query)
  const columns = columnsById(routes, await snapshot.columns(seriesOf(routes)))
  const valueOn = valuer(snapshot, columns)
  const begun = routes.map((route) => ({ ...route, first: firstNumberOf(route, columns) }))
  const last = dayOf(to)
  let computed = 0
  for (
    let number = Math.max(dayOf(from), Math.min(...begun.map(({ first }) => first)));
    number <= last;
    number++
  ) {
    const day = isoOf(number)
    const crosses = begun.flatMap(({ first, ...route }) => {
      const found = number < first ? undefined : valueOn(route, day)
      return found && !('hole' in found) ? found : []
    })
    if (crosses.length > 0) yield { day, crosses }
    computed += crosses.length + 1
    if (computed < COMPUTED_AT_ONCE) continue
    computed = 0
    await setImmediate()
  }
}

function isExact(legs: readonly ValuedLeg[]): boolean {
  return legs.every(
    ({ series, point }) => point.rounded_to === undefined || series.rate_type !== 'referencia',
  )
}

type Range = { from: IsoDate; to: IsoDate }
/** `since`: a currency in itself is 1 from the first day of its data. */
type Routed = { quote: string; legs: readonly Leg[]; since: IsoDate | undefined }

function routesOf(snapshot: RateSnapshot, { provider, base, quotes, side }: CrossQuery): Routed[] {
  const pairs = snapshot.pairsOf(provider)
  return quotes.flatMap((quote) => {
    const route = findRoute(pairs, snapshot.pivotOf(provider), base, quote, side)
    if ('missing' in route) return []
    const since = route.legs.length === 0 ? (firstDayOf(snapshot, provider, base) ?? LATEST_DAY) : undefined
    return { quote, legs: route.legs, since }
  })
}

function seriesOf(routes: readonly Routed[]): SeriesRow[] {
  return [...new Set(routes.flatMap(({ legs }) => legs.map(({ series }) => series)))]
}

function columnsById(routes: readonly Routed[], columns: readonly Column[]): ReadonlyMap<number, Column> {
  return new Map(seriesOf(routes).map(({ id }, at) => [id, columns[at] ?? EMPTY]))
}

function valuer(snapshot: RateSnapshot, columns: ReadonlyMap<number, Column>) {
  return ({ quote, legs, since }: Routed, day: IsoDate): Cross | Hole | undefined => {
    if (since !== undefined && day < since) return undefined
    const stored = legs.map(({ series: { id } }) => ({
      column: columns.get(id) ?? EMPTY,
      covered: snapshot.coveredOf(id),
    }))
    const found = convert('1', legs, stored, day)
    if (!found || 'hole' in found) return found
    const { rate, rateDate: date, roundedTo, legs: valued } = found
    const newest = valued.reduce((last, { point }) => latest(last, point.rate_date), date)
    return { quote, rate, date, newest, roundedTo, exact: isExact(valued) }
  }
}

/** The first day on which each leg can have a value, as a number. */
function firstNumberOf({ legs, since }: Routed, columns: ReadonlyMap<number, Column>): number {
  const begins = legs.map(({ series }) => columns.get(series.id)?.days[0] ?? Number.POSITIVE_INFINITY)
  return Math.max(since === undefined ? Number.NEGATIVE_INFINITY : dayOf(since), ...begins)
}
