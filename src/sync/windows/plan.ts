// Plans the days to request. Pure. The newest days come first, then older ones. A day is requested again for two
// weeks, because values may be late or corrected (upstream 4).

import { EMPTY_DAYS } from '../../domain/rates/holes.ts'
import { addDays, dayNumber, earliest, type IsoDate, latest } from '../../values/dates.ts'
import { addInterval, findGaps, findInterval, type Interval } from '../../values/intervals.ts'

/** Number of days before the newest that each run reads again, for corrections (upstream 4). */
export const REREAD_DAYS = 15

/** Covered days of a series, and the day of its oldest value. */
export type StoredCoverage = { covered: readonly Interval[]; firstValue: IsoDate | undefined }

/** Returns the newest days up to tomorrow, and days since `floor` that are not final yet. */
export function pendingDays(final: readonly Interval[], floor: IsoDate, tomorrow: IsoDate): Interval[] {
  const newest = { from: addDays(tomorrow, -REREAD_DAYS), to: tomorrow }
  const older = { from: floor, to: addDays(newest.from, -1) }
  return addInterval(findGaps(final, older), newest)
}

/** Days without a value after which no late value is expected. */
const SILENT_DAYS = 92

/**
 * Returns the newest day for which an answer is final, so that it is not requested again. `newestValue` is the day of
 * the newest value of the series, or a day long ago.
 */
export function lastFinalDay(requestedOn: IsoDate, newestValue: IsoDate): IsoDate {
  const final = addDays(requestedOn, 1 - REREAD_DAYS)
  return newestValue < addDays(requestedOn, -SILENT_DAYS) ? final : earliest(final, newestValue)
}

/** Returns the oldest day to request, once a year before the oldest value was empty; undefined: unknown. */
export function findBeginning({ covered, firstValue }: StoredCoverage): IsoDate | undefined {
  const oldest = firstValue === undefined ? covered.at(-1) : findInterval(covered, firstValue)
  if (!oldest) return undefined
  const empty = dayNumber(firstValue ?? addDays(oldest.to, 1)) - dayNumber(oldest.from)
  return empty >= EMPTY_DAYS ? oldest.from : undefined
}

/** Returns the newest window of the missing days before a day, of at most `days` days. */
export function nextWindow(
  missing: readonly Interval[],
  before: IsoDate,
  days: number,
): Interval | undefined {
  let to: IsoDate | undefined
  for (const gap of missing) {
    if (gap.from < before) to = latest(to ?? gap.from, earliest(gap.to, addDays(before, -1)))
  }
  if (to === undefined) return undefined
  const oldest = addDays(to, 1 - days)
  let from = to
  for (const gap of missing) {
    if (gap.from <= to && gap.to >= oldest) from = earliest(from, latest(gap.from, oldest))
  }
  return { from, to }
}

/** Splits a range into windows of at most `days` days, newest first. */
export function splitWindows(range: Interval, days: number): Interval[] {
  const windows: Interval[] = []
  for (let to = range.to; to >= range.from; ) {
    const from = latest(range.from, addDays(to, 1 - days))
    windows.push({ from, to })
    to = addDays(from, -1)
  }
  return windows
}
