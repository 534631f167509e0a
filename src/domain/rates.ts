// Which published day answers. Pure functions over columns: no SQL, no HTTP, no clock.

import { dayOf, type IsoDate, isoOf } from '../dates.ts'
import type { Column } from '../store/rate-book.ts'
import type { SeriesRow } from '../store/series.ts'

/** One published value. */
export type RatePoint = { rate_date: IsoDate; value: string }

/** The last value on or before the day, or with `exact` only that very day's (decisions 2.7). */
export function rateOn(column: Column, day: IsoDate, exact = false): RatePoint | undefined {
  const wanted = dayOf(day)
  const at = lastIndexOn(column.days, wanted)
  const found = column.days[at]
  const value = column.values[at]
  if (found === undefined || value === undefined || (exact && found !== wanted)) return undefined
  return { rate_date: isoOf(found), value }
}

/** The sides of a pair on the newest day, on or before the one asked for, with any value (decisions 2.6). */
export function latestOfPair(
  sides: readonly SeriesRow[],
  columns: readonly Column[],
  day: IsoDate,
):
  | { rate_date: IsoDate; compra: string | null; venta: string | null; referencia: string | null }
  | undefined {
  const last = columns.map((column) => rateOn(column, day))
  const newest = last.reduce((max, point) => (point && point.rate_date > max ? point.rate_date : max), '')
  if (newest === '') return undefined
  const found = { compra: null, venta: null, referencia: null } as Record<
    SeriesRow['rate_type'],
    string | null
  >
  sides.forEach(({ rate_type }, at) => {
    const point = last[at]
    // Days are never mixed: a side that was not published on the newest day stays null.
    if (point?.rate_date === newest) found[rate_type] = point.value
  })
  return { rate_date: newest, ...found }
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
