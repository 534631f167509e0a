// What amounts are worth in other currencies, by the stored rates: one, or many on one snapshot.

import type { IsoDate } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { RateType } from '../../providers/provider.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { Column } from './column.ts'
import { type Conversion, convert, findRoute, type Route } from './convert.ts'
import { notSynchronized, routeBetween, withColumns } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'

/** A conversion, and the way that it took. */
export type Converted = Conversion & { path: readonly string[]; rateType: RateType }

/** Currencies of a provider, and the side of a pair that has two. */
export type Way = { provider: string; from: string; to: string; type: RateType }

/** @throws AppError `not-found`: no value, or days that were not synchronized */
export type Converter = (amount: string, day: IsoDate) => Converted

/**
 * What an amount, a canonical decimal, is worth in another currency, to the last digit (decisions 2.9).
 * @throws AppError `not-found`: no such provider, way or value, or days that were not synchronized
 */
export function conversionOn(
  snapshot: RateSnapshot,
  { amount, day, ...way }: Way & { amount: string; day: IsoDate },
): Converted | Promise<Converted> {
  const route = routeBetween(snapshot, way)
  return withColumns(snapshot, seriesOf(route), (columns) => converter(snapshot, route, columns)(amount, day))
}

/** Reads what conversions over these ways need, so that there is a `converterOf` each on this snapshot. */
export async function loadColumnsOf(snapshot: RateSnapshot, ways: Iterable<Way>): Promise<void> {
  const needed = new Set<SeriesRow>()
  for (const { provider, from, to, type } of ways) {
    const route = findRoute(snapshot.pairsOf(provider), snapshot.pivotOf(provider), from, to, type)
    if ('legs' in route) for (const one of seriesOf(route)) needed.add(one)
  }
  await snapshot.columns([...needed])
}

/** Conversions over a way whose columns are loaded. @throws AppError `not-found`: no such provider or way */
export function converterOf(snapshot: RateSnapshot, way: Way): Converter {
  const route = routeBetween(snapshot, way)
  const columns = snapshot.columns(seriesOf(route))
  if (columns instanceof Promise) throw new TypeError('a column was not loaded')
  return converter(snapshot, route, columns)
}

function converter(
  snapshot: RateSnapshot,
  { legs, path, rateType }: Route,
  columns: readonly Column[],
): Converter {
  const stored = columns.map((column, at) => ({
    column,
    covered: snapshot.coveredOf(legs[at]?.series.id ?? 0),
  }))
  return (amount, day) => {
    const found = convert(amount, legs, stored, day)
    if (!found) {
      throw new AppError('not-found', `No rate for ${path.join(' -> ')} is stored on or before ${day}`)
    }
    if ('hole' in found) throw notSynchronized(found.hole)
    return { ...found, path, rateType }
  }
}

function seriesOf({ legs }: Route): SeriesRow[] {
  return legs.map(({ series }) => series)
}
