// Decides which published day answers. Pure functions over columns: no SQL, no HTTP, no clock.

import type { RateType } from '../../providers/provider.ts'
import {
  dayNumber,
  EARLIEST_DAY,
  earliest,
  type IsoDate,
  isoDate,
  latest as latestDay,
} from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import {
  type Column,
  type CoveredDays,
  columnDecimals,
  columnValue,
  type DamagedDay,
  findDamage,
} from './column.ts'
import { findHole, isCovered, newestCoveredDay } from './covered-days.ts'

/** A published value; `rounded_to` decimals if its source rounds. */
export type RatePoint = { rate_date: IsoDate; value: string; rounded_to?: number }

/**
 * Days that were not synchronized, so that no value may be carried over them. `damage`: the first of them whose stored
 * value is damaged.
 */
export type DayHole = { hole: Interval; damage: DamagedDay | undefined }

/** A side of a pair: its values and covered days. */
export type PairSide = {
  rateType: RateType
  /** True if it is synchronized. */
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
  /** Sides without a value whose day was not synchronized. */
  missing?: RateType[]
  /** With `details`: the newest day that is covered for all shown sides, if it is before the requested day. */
  covered_to?: IsoDate
}

const UNSETTLED_DAYS = 3

/** Last value on or before the day, or with `exact` only that day's (decisions#tables). */
export function rateOn(column: Column, day: IsoDate, exact = false): RatePoint | undefined {
  const target = dayNumber(day)
  const at = findLastIndex(column.days, target)
  const rateDay = column.days[at]
  if (rateDay === undefined || (exact && rateDay !== target)) return undefined
  return ratePoint(column, at, rateDay)
}

/**
 * Last value on or before the day, or the hole that it must not be carried over (decisions#settled). `target`: the day's
 * number, for a caller with many series.
 */
export function knownRateOn(
  column: Column,
  covered: CoveredDays,
  day: IsoDate,
  target = dayNumber(day),
): RatePoint | DayHole | undefined {
  const at = findLastIndex(column.days, target)
  const rateDay = column.days[at]
  if (rateDay === undefined) return earlierDamage([{ column }], day)
  const hole = rateDay === target ? undefined : findHole(covered, rateDay, target)
  if (hole) return dayHole(hole, [{ column }])
  return ratePoint(column, at, rateDay, rateDay === target ? day : isoDate(rateDay))
}

/** Sides of a pair on the newest day for which all are settled (decisions#settled); with `details` `covered_to`. */
export function latestOfPair(
  sides: readonly PairSide[],
  day: IsoDate,
  details = false,
): LatestRates | DayHole | undefined {
  const target = dayNumber(day)
  const answerDay = settledDay(sides, target)
  if (answerDay === undefined) return earlierDamage(sides, day)
  const latest: LatestRates = { rate_date: isoDate(answerDay), compra: null, venta: null, referencia: null }
  const missing: RateType[] = []
  const onDay = { from: latest.rate_date, to: latest.rate_date }
  let rounded: number | undefined
  let hole: Interval | undefined
  let lastCoveredDay: IsoDate | undefined
  for (const { rateType, column, covered } of sides) {
    const at = findLastIndex(column.days, answerDay)
    // Days are never mixed: a side that was not published on that day stays null.
    if (column.days[at] !== answerDay) {
      if (!isCovered(covered, answerDay)) missing.push(rateType)
      if (findDamage([{ column }], onDay)) hole = union(hole, onDay)
      continue
    }
    hole = union(hole, answerDay === target ? undefined : findHole(covered, answerDay, target))
    const newest = newestCoveredDay(covered, latest.rate_date, day)
    if (newest !== undefined) lastCoveredDay = earliest(lastCoveredDay ?? newest, newest)
    latest[rateType] = columnValue(column, at)
    rounded = smallest(rounded, columnDecimals(column, at))
  }
  if (hole) return dayHole(hole, sides)
  if (rounded !== undefined) latest.rounded_to = rounded
  if (missing.length > 0) latest.missing = missing
  if (details && lastCoveredDay !== undefined) latest.covered_to = lastCoveredDay
  return latest
}

/** The damaged days up to a day without any value; undefined: none is damaged. */
function earlierDamage(series: readonly { column: Column }[], day: IsoDate): DayHole | undefined {
  const damage = findDamage(series, { from: EARLIEST_DAY, to: day })
  return damage && { hole: { from: damage.day, to: day }, damage }
}

/** The result for a hole in one of the series. */
export function dayHole(hole: Interval, series: readonly { column: Column }[]): DayHole {
  return { hole, damage: findDamage(series, hole) }
}

function union(a: Interval | undefined, b: Interval | undefined): Interval | undefined {
  return a && b ? { from: earliest(a.from, b.from), to: latestDay(a.to, b.to) } : (a ?? b)
}

/** Minimum of two optional numbers of decimals. */
export function smallest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : Math.min(a, b)
}

/**
 * Newest day with a value for which every synchronized side is settled. If it is more than 3 days older than the
 * newest value, returns the day of that value. A failing side must not block the other. /
 */
function settledDay(sides: readonly PairSide[], target: number): number | undefined {
  const newest = newestDay(sides, target)
  for (let day = newest; day !== undefined && newest !== undefined && day >= newest - UNSETTLED_DAYS; ) {
    const candidate = day
    if (sides.every((side) => !side.enabled || isSettled(side, candidate))) return candidate
    day = newestDay(sides, candidate - 1)
  }
  return newest
}

/** Newest day with a value of any side, up to `target`. */
function newestDay(sides: readonly PairSide[], target: number): number | undefined {
  let newest: number | undefined
  for (const { column } of sides) {
    const day = column.days[findLastIndex(column.days, target)]
    if (day !== undefined && (newest === undefined || day > newest)) newest = day
  }
  return newest
}

/** True if a side's value or its absence is known for a day. A value of a later day proves it too. */
function isSettled({ column, covered }: PairSide, day: number): boolean {
  return (column.days.at(-1) ?? Number.NEGATIVE_INFINITY) >= day || isCovered(covered, day)
}

/** Value at an index of a column, with its day as a number and as a date. */
export function ratePoint(
  column: Column,
  at: number,
  day = column.days[at] ?? 0,
  rateDate = isoDate(day),
): RatePoint {
  const point = { rate_date: rateDate, value: columnValue(column, at) }
  const rounded_to = columnDecimals(column, at)
  return rounded_to === undefined ? point : { ...point, rounded_to }
}

/** Indexes of the values within a range: from `first` to before `end`. */
export function pointRange(column: Column, from: IsoDate, to: IsoDate): { first: number; end: number } {
  const first = findLastIndex(column.days, dayNumber(from) - 1) + 1
  return { first, end: Math.max(first, findLastIndex(column.days, dayNumber(to)) + 1) }
}

/** Index of the last day up to `day`, or -1. */
function findLastIndex(days: Int32Array, day: number): number {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((days[middle] ?? 0) <= day) low = middle + 1
    else high = middle
  }
  return low - 1
}
