// Whether a value may answer for a later day: only if every day between was asked for (decisions 2.6).

import { isoOf } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import type { Interval } from '../../intervals.ts'
import type { CoveredDays } from './column.ts'

/** What stands for covered days of which there is no record. Every look at them is refused, so that none is a guess. */
export const UNKNOWN_DAYS: CoveredDays = new Int32Array()

/**
 * The days that were not synchronized between a value and the day that it is to answer for, as day numbers; undefined
 * when there are none. After the newest covered day the last value goes on answering.
 */
export function holeBetween(covered: CoveredDays, valueDay: number, day: number): Interval | undefined {
  refuseUnknown(covered)
  const last = Math.min(day, covered.at(-1) ?? valueDay)
  let from: number | undefined
  let to = last
  let next = valueDay + 1 // the first day that is not known to be covered
  for (let at = 0; at < covered.length; at += 2) {
    const [begin = 0, end = 0] = [covered[at], covered[at + 1]]
    if (end < next) continue
    if (begin > last || next > last) break
    if (begin > next) {
      from ??= next
      to = begin - 1
    }
    next = end + 1
  }
  if (next <= last) {
    from ??= next
    to = last
  }
  return from === undefined ? undefined : { from: isoOf(from), to: isoOf(to) }
}

/** Whether each of some days was asked for and validly answered. */
export function areCovered(covered: CoveredDays, first: number, last: number): boolean {
  refuseUnknown(covered)
  return last <= (covered.at(-1) ?? Number.NEGATIVE_INFINITY) && !holeBetween(covered, first - 1, last)
}

/** Whether a day was asked for and validly answered. */
export function isCovered(covered: CoveredDays, day: number): boolean {
  refuseUnknown(covered)
  for (let at = 0; at < covered.length; at += 2) {
    if (day >= (covered[at] ?? 0) && day <= (covered[at + 1] ?? 0)) return true
  }
  return false
}

/** @throws AppError `not-found` */
function refuseUnknown(covered: CoveredDays): void {
  if (covered !== UNKNOWN_DAYS) return
  const words = 'which days had been synchronized then is not in the record, and the answer depends on it'
  throw new AppError('not-found', words)
}
