// What one unit of a currency is worth in others: over every series that the bank publishes, in the way of /convert. This is
// what the shapes of other services answer, each in its own words.

import { setImmediate } from 'node:timers/promises'
import { dayOf, type IsoDate, isoOf, latest } from '../../dates.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { Side } from '../../store/tables.ts'
import { type Column, makeColumn } from './column.ts'
import { convert, findRoute, type Leg, type ValuedLeg } from './convert.ts'
import { withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** Which rates are meant; a quote that nothing leads to is left out of the answer. */
export type CrossQuery = {
  provider: string
  base: string
  quotes: readonly string[]
  side: Side
}

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

/** The rates on a day, in the order of `quotes`; what has no value then, or a hole before the day, is left out. */
export function crossesOn(
  snapshot: RateSnapshot,
  { day, ...query }: CrossQuery & { day: IsoDate },
): Cross[] | Promise<Cross[]> {
  const routes = routesOf(snapshot, query)
  return withColumns(snapshot, seriesOf(routes), (columns) => {
    const valueOn = valuer(snapshot, columnsById(routes, columns))
    return routes.flatMap(({ quote, legs }) => valueOn(quote, legs, day) ?? [])
  })
}

/**
 * The rates on each day of a range that has any, in the order of days and of `quotes`: as crossesOn has them. One day is
 * in memory at a time, for decades of all currencies take hundreds of megabytes. Others have their turn meanwhile.
 */
export async function* crossesByDay(
  snapshot: RateSnapshot,
  { from, to, ...query }: CrossQuery & { from: IsoDate; to: IsoDate },
): AsyncGenerator<{ day: IsoDate; crosses: readonly Cross[] }> {
  const routes = routesOf(snapshot, query)
  const columns = columnsById(routes, await snapshot.columns(seriesOf(routes)))
  const valueOn = valuer(snapshot, columns)
  const begun = routes.map((route) => ({ ...route, first: firstDayOf(route.legs, columns) }))
  const last = dayOf(to)
  let computed = 0
  for (
    let number = Math.max(dayOf(from), Math.min(...begun.map(({ first }) => first)));
    number <= last;
    number++
  ) {
    const day = isoOf(number)
    const crosses = begun.flatMap(({ quote, legs, first }) =>
      number < first ? [] : (valueOn(quote, legs, day) ?? []),
    )
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

type Routed = { quote: string; legs: readonly Leg[] }

function routesOf(snapshot: RateSnapshot, { provider, base, quotes, side }: CrossQuery): Routed[] {
  const pairs = snapshot.pairsOf(provider)
  return quotes.flatMap((quote) => {
    const route = findRoute(pairs, snapshot.pivotOf(provider), base, quote, side)
    return 'missing' in route ? [] : [{ quote, legs: route.legs }]
  })
}

function seriesOf(routes: readonly Routed[]): SeriesRow[] {
  return [...new Set(routes.flatMap(({ legs }) => legs.map(({ series }) => series)))]
}

function columnsById(routes: readonly Routed[], columns: readonly Column[]): ReadonlyMap<number, Column> {
  return new Map(seriesOf(routes).map(({ id }, at) => [id, columns[at] ?? EMPTY]))
}

function valuer(snapshot: RateSnapshot, columns: ReadonlyMap<number, Column>) {
  return (quote: string, legs: readonly Leg[], day: IsoDate): Cross | undefined => {
    const stored = legs.map(({ series: { id } }) => ({
      column: columns.get(id) ?? EMPTY,
      covered: snapshot.coveredOf(id),
    }))
    const found = convert('1', legs, stored, day)
    if (!found || 'hole' in found) return undefined
    const { rate, rateDate: date, roundedTo, legs: valued } = found
    const newest = valued.reduce((last, { point }) => latest(last, point.rate_date), date)
    return { quote, rate, date, newest, roundedTo, exact: isExact(valued) }
  }
}

/** The first day on which each leg can have a value; a currency in itself has one on any. */
function firstDayOf(legs: readonly Leg[], columns: ReadonlyMap<number, Column>): number {
  const begins = legs.map(({ series }) => columns.get(series.id)?.days[0] ?? Number.POSITIVE_INFINITY)
  return Math.max(Number.NEGATIVE_INFINITY, ...begins)
}
