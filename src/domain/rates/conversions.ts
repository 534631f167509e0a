// Converts amounts by the stored rates: a single amount, or many on one snapshot.

import type { RateType } from '../../providers/provider.ts'
import { AppError } from '../../runtime/errors.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { IsoDate } from '../../values/dates.ts'
import { applyRounding, type RoundingRule } from '../../values/decimal.ts'
import { EMPTY_COLUMN } from './column.ts'
import { type Conversion, convert, findRoute, type Route, type StoredLeg } from './convert.ts'
import { dayHoleError, requireRoute, withLegs } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** A conversion and its route. */
export type ConversionResult = Conversion & { path: readonly string[]; rateType: RateType }

/** Currencies of a provider, and the side for pairs with two. */
export type RouteQuery = { provider: string; from: string; to: string; type: RateType }

/** Converts an amount on a day. @throws AppError `not-found`: no value, or days that were not synchronized */
export type Converter = (amount: string, day: IsoDate) => ConversionResult

/**
 * Converts an amount, a canonical decimal, to the last digit (decisions#conversion). `rounding` is of the result alone.
 * @throws AppError `not-found`: no such provider, route or value, or days that were not synchronized
 */
export function convertAmount(
  snapshot: RateSnapshot,
  {
    amount,
    day,
    rounding,
    ...query
  }: RouteQuery & { amount: string; day: IsoDate; rounding?: RoundingRule | undefined },
): ConversionResult | Promise<ConversionResult> {
  const route = requireRoute(snapshot, query)
  return withLegs(snapshot, route.legs, (legs) => {
    const conversion = converter(route, legs)(amount, day)
    return { ...conversion, result: applyRounding(conversion.result, rounding) }
  })
}

/** Returns the snapshot with the loaded columns of the routes, for `loadedConverter`. */
export function loadRouteColumns(
  snapshot: RateSnapshot,
  queries: readonly RouteQuery[],
): Promise<RateSnapshot> {
  return loadColumns(snapshot, new Set(queries.flatMap((query) => findRouteSeries(snapshot, query))))
}

/** Returns the series of a route; empty: there is no route. */
export function findRouteSeries(
  snapshot: RateSnapshot,
  { provider, from, to, type }: RouteQuery,
): readonly SeriesRow[] {
  const route = findRoute(snapshot.pairs(provider), snapshot.pivot(provider), from, to, type)
  return 'legs' in route ? route.legs.map((leg) => leg.series) : []
}

/** Returns the snapshot with the loaded columns of series, for `loadedConverter`. */
export async function loadColumns(
  snapshot: RateSnapshot,
  needed: ReadonlySet<SeriesRow>,
): Promise<RateSnapshot> {
  const series = [...needed]
  const columns = await snapshot.columns(series)
  const byId = new Map(series.map(({ id }, at) => [id, columns[at] ?? EMPTY_COLUMN]))
  return { ...snapshot, columns: (requested) => requested.map(({ id }) => byId.get(id) ?? EMPTY_COLUMN) }
}

/**
 * Returns the converter of a route whose columns are loaded.
 * @throws AppError `not-found`: no such provider or route
 */
export function loadedConverter(snapshot: RateSnapshot, query: RouteQuery): Converter {
  const route = requireRoute(snapshot, query)
  const legs = withLegs(snapshot, route.legs, (storedLegs) => storedLegs)
  if (legs instanceof Promise) throw new TypeError('a column was not loaded')
  return converter(route, legs)
}

function converter({ path, rateType }: Route, legs: readonly StoredLeg[]): Converter {
  return (amount, day) => {
    const conversion = convert(amount, legs, day)
    if (!conversion) {
      throw new AppError('not-found', `No rate for ${path.join(' -> ')} is stored on or before ${day}`)
    }
    if ('hole' in conversion) throw dayHoleError(conversion)
    return { ...conversion, path, rateType }
  }
}
