// Decides whether a value is valid for a later day: only if every day between was synchronized (decisions#holes).

import { AppError } from '../../runtime/errors.ts'
import { type IsoDate, isoDate } from '../../values/dates.ts'
import { type Interval, subtractInterval } from '../../values/intervals.ts'
import { type CoveredDays, coveredIntervals, type DayRange, toCoveredDays, toInterval } from './column.ts'

/** Placeholder for covered days without a change log. Every access is rejected, so that no answer is a guess. */
export const UNKNOWN_DAYS: CoveredDays = new Int32Array()

/**
 * Finds the days between a value and a later day that were not synchronized; undefined: none. After the newest
 * covered day the last value stays valid.
 */
export function findHole(covered: CoveredDays, valueDay: number, day: number): Interval | undefined {
  rejectUnknown(covered)
  const last = Math.min(day, covered.at(-1) ?? valueDay)
  if (last <= valueDay) return undefined // the usual case: a value of the day itself
  const holes = uncoveredDays(covered, valueDay + 1, last)
  const [first] = holes
  return first && toInterval({ first: first.first, last: holes.at(-1)?.last ?? first.last })
}

/** Newest covered day, if it is before `day`: newer values may have been published. Undefined for a value of `day`. */
export function newestCoveredDay(covered: CoveredDays, valueDay: IsoDate, day: IsoDate): IsoDate | undefined {
  if (valueDay === day) return undefined
  const newest = covered.at(-1)
  const newestDay = newest === undefined ? valueDay : isoDate(newest)
  return newestDay < day ? newestDay : undefined
}

/** Lists the days of a range that are not covered, ascending. */
export function uncoveredDays(covered: CoveredDays, first: number, last: number): DayRange[] {
  const holes: DayRange[] = []
  let next = first // the first day that is not known to be covered
  for (let at = 0; at < covered.length && next <= last; at += 2) {
    const [from = 0, to = 0] = [covered[at], covered[at + 1]]
    if (from > next) holes.push({ first: next, last: Math.min(from - 1, last) })
    next = Math.max(next, to + 1)
  }
  if (next <= last) holes.push({ first: next, last })
  return holes
}

/**
 * Removes days whose values are damaged. A damaged newest day is followed by an interval without days, so that no
 * earlier value is carried to it.
 */
export function withoutDays(covered: CoveredDays, damaged: readonly DayRange[]): CoveredDays {
  const newest = Math.max(covered.at(-1) ?? Number.NEGATIVE_INFINITY, ...damaged.map(({ first }) => first))
  const days = toCoveredDays(damaged.map(toInterval).reduce(subtractInterval, coveredIntervals(covered)))
  return days.at(-1) === newest ? days : Int32Array.from([...days, newest + 1, newest])
}

/** True if every day of a range was requested and validly answered. */
export function areCovered(covered: CoveredDays, first: number, last: number): boolean {
  rejectUnknown(covered)
  return last <= (covered.at(-1) ?? Number.NEGATIVE_INFINITY) && !findHole(covered, first - 1, last)
}

/** True if a day was requested and validly answered. */
export function isCovered(covered: CoveredDays, day: number): boolean {
  return areCovered(covered, day, day)
}

/** Rejects coverage without a change log. @throws AppError `not-found` */
export function rejectUnknown(covered: CoveredDays): void {
  if (covered !== UNKNOWN_DAYS) return
  const words = 'which days had been synchronized then is not in the record, and the answer depends on it'
  throw new AppError('not-found', words)
}
