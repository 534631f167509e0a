// Which published day answers. Pure functions over columns: no SQL, no HTTP, no clock.

import { dayOf, earliest, type IsoDate, isoOf, latest as latestDay } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { RateType } from '../../providers/provider.ts'
import { type Column, type CoveredDays, roundedAt, valueAt } from './column.ts'
import { holeBetween, isCovered } from './coverage.ts'

/** One published value; `rounded_to` decimals where its source rounds. */
export type RatePoint = { rate_date: IsoDate; value: string; rounded_to?: number }

/** Days that have not been synchronized, so that no value may be carried over them. */
export type Hole = { hole: Interval }

/** One side of a pair: its values, and the days that were asked for. */
export type Side = {
  rateType: RateType
  /** Whether it is synchronized. */
  enabled: boolean
  column: Column
  covered: CoveredDays
}

export type LatestRates = {
  rate_date: IsoDate
  compra: string | null
  venta: string | null
  referencia: string | null
  rounded_to?: number
  /** Sides without a value whose day has not been synchronized. */
  missing?: RateType[]
}

const UNSETTLED_DAYS = 3

/** The last value on or before the day, or with `exact` only that very day's (decisions 2.7). */
export function rateOn(column: Column, day: IsoDate, exact = false): RatePoint | undefined {
  const wanted = dayOf(day)
  const at = lastIndexOn(column.days, wanted)
  const found = column.days[at]
  if (found === undefined || (exact && found !== wanted)) return undefined
  return pointAt(column, at, found)
}

/** The last value on or before the day, or the hole that it must not be carried over (decisions 2.6). */
export function knownRateOn(
  column: Column,
  covered: CoveredDays,
  day: IsoDate,
): RatePoint | Hole | undefined {
  const wanted = dayOf(day)
  const at = lastIndexOn(column.days, wanted)
  const found = column.days[at]
  if (found === undefined) return undefined
  const hole = found === wanted ? undefined : holeBetween(covered, found, wanted)
  return hole ? { hole } : pointAt(column, at, found)
}

/** The sides of a pair on the newest day for which all of them are settled (decisions 2.6). */
export function latestOfPair(sides: readonly Side[], day: IsoDate): LatestRates | Hole | undefined {
  const wanted = dayOf(day)
  const shown = settledDay(sides, wanted)
  if (shown === undefined) return undefined
  const latest: LatestRates = { rate_date: isoOf(shown), compra: null, venta: null, referencia: null }
  const missing: RateType[] = []
  let rounded: number | undefined
  let hole: Interval | undefined
  for (const { rateType, column, covered } of sides) {
    const at = lastIndexOn(column.days, shown)
    // Days are never mixed: a side that was not published on that day stays null.
    if (column.days[at] !== shown) {
      if (!isCovered(covered, shown)) missing.push(rateType)
      continue
    }
    hole = union(hole, shown === wanted ? undefined : holeBetween(covered, shown, wanted))
    latest[rateType] = valueAt(column, at)
    rounded = smallest(rounded, roundedAt(column, at))
  }
  if (hole) return { hole }
  if (rounded !== undefined) latest.rounded_to = rounded
  if (missing.length > 0) latest.missing = missing
  return latest
}

function union(a: Interval | undefined, b: Interval | undefined): Interval | undefined {
  return a && b ? { from: earliest(a.from, b.from), to: latestDay(a.to, b.to) } : (a ?? b)
}

/** The smaller of two numbers of decimals that may not be there. */
export function smallest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/**
 * The newest day with a value, of those that every side that is synchronized is settled for; but if that lies long
 * back, the newest day with any value: a side that fails for days must not hold up the other.
 */
function settledDay(sides: readonly Side[], wanted: number): number | undefined {
  const newest = newestDay(sides, wanted)
  for (let day = newest; day !== undefined && newest !== undefined && day >= newest - UNSETTLED_DAYS; ) {
    const candidate = day
    if (sides.every((side) => !side.enabled || isSettled(side, candidate))) return candidate
    day = newestDay(sides, candidate - 1)
  }
  return newest
}

/** The newest day on or before another with a value of any side. */
function newestDay(sides: readonly Side[], wanted: number): number | undefined {
  let newest: number | undefined
  for (const { column } of sides) {
    const day = column.days[lastIndexOn(column.days, wanted)]
    if (day !== undefined && (newest === undefined || day > newest)) newest = day
  }
  return newest
}

/** Whether it is known what a side has for a day: a value, or none; a value for a later day says so too. */
function isSettled({ column, covered }: Side, day: number): boolean {
  return (column.days.at(-1) ?? Number.NEGATIVE_INFINITY) >= day || isCovered(covered, day)
}

/** The value at an index of a column; `day`: the number of its day. */
export function pointAt(column: Column, at: number, day = column.days[at] ?? 0): RatePoint {
  const point = { rate_date: isoOf(day), value: valueAt(column, at) }
  const rounded_to = roundedAt(column, at)
  return rounded_to === undefined ? point : { ...point, rounded_to }
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
