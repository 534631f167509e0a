// Which published day answers. Pure functions over columns: no SQL, no HTTP, no clock.

import { dayOf, type IsoDate, isoOf } from '../dates.ts'
import { type Column, valueAt } from '../store/rate-book.ts'
import type { SeriesRow } from '../store/series.ts'

/** One published value. */
export type RatePoint = { rate_date: IsoDate; value: string }

/** The last value on or before the day, or with `exact` only that very day's (decisions 2.7). */
export function rateOn(column: Column, day: IsoDate, exact = false): RatePoint | undefined {
  const wanted = dayOf(day)
  const at = lastIndexOn(column.days, wanted)
  const found = column.days[at]
  if (found === undefined || (exact && found !== wanted)) return undefined
  return { rate_date: isoOf(found), value: valueAt(column, at) }
}

/** The sides of a pair on the newest day, on or before the one asked for, with any value (decisions 2.6). */
export function latestOfPair(
  sides: readonly SeriesRow[],
  columns: readonly Column[],
  day: IsoDate,
):
  | { rate_date: IsoDate; compra: string | null; venta: string | null; referencia: string | null }
  | undefined {
  const wanted = dayOf(day)
  const last = columns.map((column) => lastIndexOn(column.days, wanted))
  const newest = Math.max(...last.map((at, side) => columns[side]?.days[at] ?? Number.NEGATIVE_INFINITY))
  if (newest === Number.NEGATIVE_INFINITY) return undefined
  const found: Record<SeriesRow['rate_type'], string | null> = { compra: null, venta: null, referencia: null }
  for (const [side, at] of last.entries()) {
    const rateType = sides[side]?.rate_type
    // Days are never mixed: a side that was not published on the newest day stays null.
    if (rateType && columns[side]?.days[at] === newest) found[rateType] = valueAt(columns[side], at)
  }
  return { rate_date: isoOf(newest), ...found }
}

/** Where the values published inside the range are in the column: from `first` to before `end`. */
export function pointsBetween(column: Column, from: IsoDate, to: IsoDate): { first: number; end: number } {
  const first = lastIndexOn(column.days, dayOf(from) - 1) + 1
  return { first, end: Math.max(first, lastIndexOn(column.days, dayOf(to)) + 1) }
}

/** Index of the last day at or before the one given, or -1. */
function lastIndexOn(days: Int32Array, day: number): number {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((days[middle] ?? 0) <= day) low = middle + 1
    else high = middle
  }
  return low - 1
}
