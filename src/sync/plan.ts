// Which days a run asks for. Pure. The newest days come first, then the rest, from the newest to the oldest. A day is
// asked for until an answer was had two weeks after it: a value may come late, and be corrected (upstream 4).

import { addDays, dayOf, earliest, type IsoDate, latest } from '../dates.ts'
import { EMPTY_DAYS } from '../domain/rates/holes.ts'
import { gapsIn, type Interval, intervalAt, joined } from '../intervals.ts'

/** How many days before the newest are read again on each run, for corrections (upstream 4). */
export const REREAD_DAYS = 15

/** What is known of a series: the days that were validly answered, and the day of its oldest value. */
export type Known = { covered: readonly Interval[]; firstValue: IsoDate | undefined }

/** The days that a series is to be asked for: the newest up to tomorrow, and since `floor` what is not final yet. */
export function daysToAsk(final: readonly Interval[], floor: IsoDate, tomorrow: IsoDate): Interval[] {
  const newest = { from: addDays(tomorrow, -REREAD_DAYS), to: tomorrow }
  const older = { from: floor, to: addDays(newest.from, -1) }
  return joined(gapsIn(final, older), newest)
}

/** A source that is behind has values to come: after so many days without one, none is expected any more. */
const SILENT_DAYS = 92

/**
 * The newest day that an answer of a day is final for: it is not read again on the days after. `newestValue` is the day of
 * the newest value of the series, or a day long ago.
 */
export function finalBy(askedOn: IsoDate, newestValue: IsoDate): IsoDate {
  const final = addDays(askedOn, 1 - REREAD_DAYS)
  return newestValue < addDays(askedOn, -SILENT_DAYS) ? final : earliest(final, newestValue)
}

/** The oldest day to ask for, once a year before the oldest value has brought nothing; undefined: not known yet. */
export function beginningOf({ covered, firstValue }: Known): IsoDate | undefined {
  const oldest = firstValue === undefined ? covered.at(-1) : intervalAt(covered, firstValue)
  if (!oldest) return undefined
  const empty = dayOf(firstValue ?? addDays(oldest.to, 1)) - dayOf(oldest.from)
  return empty >= EMPTY_DAYS ? oldest.from : undefined
}

/** The newest window, of at most so many days, of what is missing before a day. */
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

/** A range cut into windows of at most so many days, newest first. */
export function windowsOf(range: Interval, days: number): Interval[] {
  const windows: Interval[] = []
  for (let to = range.to; to >= range.from; ) {
    const from = latest(range.from, addDays(to, 1 - days))
    windows.push({ from, to })
    to = addDays(from, -1)
  }
  return windows
}
