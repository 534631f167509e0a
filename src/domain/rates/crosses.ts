// Cross rates: the price of a currency in others, over all published series, computed like /convert. The compat APIs
// answer them in their own formats.

import { setImmediate } from 'node:timers/promises'
import type { Side } from '../../store/tables.ts'
import {
  addDays,
  dayNumber,
  EARLIEST_DAY,
  earliest,
  type IsoDate,
  isoDate,
  LATEST_DAY,
  latest,
} from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { findDamage } from './column.ts'
import { convert, findRoute, type Leg, type StoredLeg, type ValuedLeg } from './convert.ts'
import { findHole, UNKNOWN_DAYS } from './covered-days.ts'
import {
  carriedLegs,
  findHoles,
  hasValue,
  listRoundedDays,
  type SeriesDays,
  type UnknownDays,
} from './holes.ts'
import { withLegs } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { type DayHole, dayHole, rateOn } from './rates.ts'

/** Selects cross rates; a quote without a route is left out of the answer. */
export type CrossQuery = {
  provider: string
  base: string
  quotes: readonly string[]
  side: Side
}

/** Rates on a day, and for each quote without a rate the days that were not synchronized. */
export type CrossesOfDay = { crosses: Cross[]; holes: ReadonlyMap<string, DayHole> }

/** A rate of one unit of the base. */
export type Cross = {
  quote: string
  rate: string
  /** Older and newer day of the values of its legs. The newer one is the day of a point (decisions#points). */
  date: IsoDate
  newest: IsoDate
  /** Decimals to which it is rounded. */
  roundedTo: number | undefined
  /** True if no reference rate in it is rounded; the dollar is published with two decimals. */
  exact: boolean
}

const RATES_AT_ONCE = 500 // takes some milliseconds

/** Lists the currencies of a provider, sorted by code. */
export function listCurrencies(snapshot: RateSnapshot, provider: string): string[] {
  const codes = new Set<string>()
  for (const pair of snapshot.pairs(provider).keys()) for (const code of pair.split('/')) codes.add(code)
  return [...codes].sort()
}

/** First day with a stored value of a currency; undefined: none. */
export function firstStoredDay(snapshot: RateSnapshot, provider: string, code: string): IsoDate | undefined {
  let first: IsoDate | undefined
  for (const [pair, series] of snapshot.pairs(provider)) {
    if (!pair.split('/').includes(code)) continue
    for (const { first_data_date: day } of series) if (day !== null) first = earliest(first ?? day, day)
  }
  return first
}

/**
 * Computes the rates on a day, in the order of `quotes`. Quotes without a value, or with days that were not
 * synchronized before the day, have none. With `asPoint` a quote has its last point at or before the day.
 */
export function computeCrosses(
  snapshot: RateSnapshot,
  { day, asPoint = false, ...query }: CrossQuery & { day: IsoDate; asPoint?: boolean },
): CrossesOfDay | Promise<CrossesOfDay> {
  return withRoutes(snapshot, query, (routes) => {
    const crosses: Cross[] = []
    const holes = new Map<string, DayHole>()
    for (const route of routes) {
      const { quote } = route
      const cross = asPoint ? findLastPoint(route, day) : valueRoute(route, day)
      if (cross && 'hole' in cross) holes.set(quote, cross)
      else if (cross) crosses.push(cross)
    }
    return { crosses, holes }
  })
}

/**
 * Finds for each quote the first days of a range that were not synchronized. Includes earlier days over which a value
 * would be carried into the range (decisions#lists). With `onlyPublished` they count only if another leg was
 * published on such a day. Without such days, finds the first with a rounded rate, unless these are served. Quotes with
 * neither are absent.
 */
export function findUnknownCrosses(
  snapshot: RateSnapshot,
  { from, to, onlyPublished, servesRounded, ...query }: CrossQuery & Interval & UnknownRules,
): ReadonlyMap<string, UnknownDays> | Promise<ReadonlyMap<string, UnknownDays>> {
  return withRoutes(snapshot, query, (routes) => {
    const unknown = new Map<string, UnknownDays>()
    for (const { quote, legs } of routes) {
      const hole = findHoles(legs, { from, to })?.[0] ?? findEarlierHole(legs, { from, to }, onlyPublished)
      const days = hole ?? (servesRounded ? undefined : findRoundedDays(legs, { from, to }, onlyPublished))
      const damage = hole && findDamage(legs, hole)
      if (days) unknown.set(quote, { days: [days], isRounded: !hole, damage })
    }
    return unknown
  })
}

/** `onlyPublished`: a day counts if a leg was published on it. `servesRounded`: a rounded rate counts as known. */
type UnknownRules = { onlyPublished: boolean; servesRounded: boolean }

/** Finds the first days with a rounded rate, up to the newest day on which all legs are known. */
function findRoundedDays(
  legs: readonly StoredLeg[],
  { from, to }: Interval,
  onlyPublished: boolean,
): Interval | undefined {
  const knownDays = { from, to: lastKnownDay(legs, to) }
  return legs
    .flatMap((leg) => listRoundedDays(leg, knownDays))
    .filter((days) => !onlyPublished || hasValue(legs, days))
    .toSorted((a, b) => dayNumber(a.from) - dayNumber(b.from))[0]
}

/** Finds days before a range over which a leg's value would be carried into it. */
function findEarlierHole(
  legs: readonly SeriesDays[],
  range: Interval,
  onlyPublished: boolean,
): Interval | undefined {
  for (const { leg, valueDay, isShown } of carriedLegs(legs, range)) {
    const hole = findHole(leg.covered, valueDay, dayNumber(range.from))
    if (hole && (!onlyPublished || isShown)) return hole
  }
  return undefined
}

/**
 * Computes the rates of each day of a range like `computeCrosses`, by day and in the order of `quotes`. A quote has none
 * on a day on which a leg is not known yet (decisions#points). Days without rates are absent. Only one day is in
 * memory: decades of all currencies need hundreds of megabytes. Yields to other requests.
 */
export async function* crossesByDay(
  snapshot: RateSnapshot,
  { from, to, ...query }: CrossQuery & Interval,
): AsyncGenerator<{ day: IsoDate; crosses: readonly Cross[] }> {
  const routes = await withRoutes(snapshot, query, (storedRoutes) => storedRoutes)
  const datedRoutes = routes.map((route) => ({ ...route, first: firstRouteDay(route) }))
  const begin = Math.max(dayNumber(from), Math.min(...datedRoutes.map(({ first }) => first)))
  const last = dayNumber(to)
  let computed = 0
  for (let number = begin; number <= last; number++) {
    const day = isoDate(number)
    const crosses = datedRoutes.flatMap(({ first, ...route }) => {
      const isKnown = number >= first && route.legs.every((leg) => reachesDay(leg, number))
      const cross = isKnown ? valueRoute(route, day) : undefined
      return cross && !('hole' in cross) ? cross : []
    })
    if (crosses.length > 0) yield { day, crosses }
    computed += crosses.length + 1
    if (computed < RATES_AT_ONCE) continue
    computed = 0
    await setImmediate()
  }
}

/** `since`: a currency in itself is 1 from the first day of its data. */
export type QuoteRoute<L = StoredLeg> = { quote: string; legs: readonly L[]; since: IsoDate | undefined }

function findRoutes(snapshot: RateSnapshot, { provider, base, quotes, side }: CrossQuery): QuoteRoute<Leg>[] {
  const pairs = snapshot.pairs(provider)
  return quotes.flatMap((quote) => {
    const route = findRoute(pairs, snapshot.pivot(provider), base, quote, side)
    if ('missing' in route) return []
    const since =
      route.legs.length === 0 ? (firstStoredDay(snapshot, provider, base) ?? LATEST_DAY) : undefined
    return { quote, legs: route.legs, since }
  })
}

/** Runs `then` with the stored legs of each quote that has a route, in the order of `quotes`. */
export function withRoutes<T>(
  snapshot: RateSnapshot,
  query: CrossQuery,
  then: (routes: QuoteRoute[]) => T,
): T | Promise<T> {
  const routes = findRoutes(snapshot, query)
  const legs = routes.flatMap((route) => route.legs)
  return withLegs(snapshot, legs, (storedLegs) =>
    then(routes.map((route) => ({ ...route, legs: storedLegs.splice(0, route.legs.length) }))),
  )
}

/** Computes the rate of a route on a day; a hole: the day, or days before it, were not synchronized. */
export function valueRoute({ quote, legs, since }: QuoteRoute, day: IsoDate): Cross | DayHole | undefined {
  if (since !== undefined && day < since) return undefined
  const conversion = convert('1', legs, day)
  if (!conversion) {
    const [hole] = findHoles(legs, { from: day, to: day }) ?? []
    return hole && dayHole(hole, legs)
  }
  if ('hole' in conversion) return conversion
  const { rate, rateDate: date, roundedTo, legs: valued } = conversion
  const isRounded = ({ series, point }: ValuedLeg) =>
    series.rate_type === 'referencia' && point.rounded_to !== undefined
  const newest = valued.reduce((last, { point }) => latest(last, point.rate_date), date)
  return { quote, rate, date, newest, roundedTo, exact: !valued.some(isRounded) }
}

/**
 * Computes the last point of a route at or before a day (decisions#points). A hole: days before the point, or from it
 * to the day, were not synchronized.
 */
function findLastPoint(route: QuoteRoute, day: IsoDate): Cross | DayHole | undefined {
  const lastDay = lastKnownDay(route.legs, day)
  const [hole] = findHoles(route.legs, { from: addDays(lastDay, 1), to: day }) ?? []
  return hole ? dayHole(hole, route.legs) : valueRoute(route, lastDay)
}

/** Newest day up to `day` on which all legs are known. */
function lastKnownDay(legs: readonly SeriesDays[], day: IsoDate): IsoDate {
  let number = dayNumber(day)
  while (!legs.every((leg) => reachesDay(leg, number)))
    number = Math.min(...legs.map((leg) => lastReachedDay(leg, number)))
  return isoDate(number)
}

/**
 * True if a leg has a value of the day, or the day is not after its newest covered day. Coverage without a log is
 * rejected only where a value is carried.
 */
export function reachesDay(leg: SeriesDays, day: number): boolean {
  return lastReachedDay(leg, day) === day
}

function lastReachedDay({ column, covered }: SeriesDays, day: number): number {
  const newest = covered === UNKNOWN_DAYS ? day : (covered.at(-1) ?? dayNumber(EARLIEST_DAY))
  if (newest >= day) return day
  const { rate_date: valueDay = EARLIEST_DAY } = rateOn(column, isoDate(day)) ?? {}
  return Math.max(newest, dayNumber(valueDay))
}

/** First day, as a number, on which all legs can have a value. */
function firstRouteDay({ legs, since }: QuoteRoute): number {
  const begins = legs.map(({ column }) => column.days[0] ?? Number.POSITIVE_INFINITY)
  return Math.max(since === undefined ? Number.NEGATIVE_INFINITY : dayNumber(since), ...begins)
}
