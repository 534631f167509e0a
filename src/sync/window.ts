// Which days to ask for, and how far an answer lets us call a series covered. Pure: this is where "no gaps
// by construction" is decided. An edge moves only with a valid answer that lists the series, only where the
// days asked for touch what is covered, and forward only to a day that the answer holds a value for, once the
// series' own last days have been read again: a value that came late is never left behind.

import { addDays, dayOf, earliest, type IsoDate, latest } from '../dates.ts'
import type { Window } from '../providers/provider.ts'

/** How many days before the newest are read again on each run, for corrections (upstream 4). */
export const REREAD_DAYS = 15

/** Past values may be missing for so long before the history counts as begun (upstream 3). */
export const EMPTY_YEAR_DAYS = 365

/** Where a run begins to read forward: the last days again, or for an empty series just these. */
export function forwardFrom(edge: IsoDate | undefined, tomorrow: IsoDate): IsoDate {
  const newest = addDays(tomorrow, -REREAD_DAYS)
  return edge === undefined ? newest : earliest(addDays(edge, 1 - REREAD_DAYS), newest)
}

/** The window of at most `days` days from `from` on, not beyond `last`. */
export function windowUp(from: IsoDate, days: number, last: IsoDate): Window {
  return { from, to: earliest(addDays(from, days - 1), last) }
}

/** The window of at most `days` days that ends the day before `edge`, not before `floor`. */
export function windowDown(edge: IsoDate, days: number, floor: IsoDate): Window {
  return { from: latest(addDays(edge, -days), floor), to: addDays(edge, -1) }
}

/**
 * A range cut into windows of at most `days` days: from the last days up to `edge` ascending, the rest
 * descending from there.
 */
export function windowsOf(range: Window, days: number, edge: IsoDate | undefined): Window[][] {
  const up: Window[] = []
  const down: Window[] = []
  const split = edge === undefined ? range.to : earliest(addDays(edge, -REREAD_DAYS), range.to)
  for (let from = latest(range.from, addDays(split, 1)); from <= range.to; ) {
    const window = windowUp(from, days, range.to)
    up.push(window)
    from = addDays(window.to, 1)
  }
  for (let above = addDays(split, 1); above > range.from; ) {
    const window = windowDown(above, days, range.from)
    down.push(window)
    above = window.from
  }
  return [up, down]
}

/** Number of days from the beginning of the window to its end. */
export function daysBetween(from: IsoDate, to: IsoDate): number {
  return dayOf(to) - dayOf(from)
}

/** Whether a window reads the last days of a covered interval again. */
export function rereads(known: Window, asked: Window): boolean {
  return asked.from <= latest(known.from, addDays(known.to, 1 - REREAD_DAYS)) && asked.to >= known.to
}

/**
 * What a series covers after a valid answer that lists it.
 * @param known what it covered before; undefined: nothing yet
 * @param asked the window that was asked for
 * @param newest the newest day that the answer holds a value for; undefined: it holds none
 * @param may.begin whether the answer may begin the coverage of a series without any; not so in a ranged run,
 *   which would otherwise leave a hole between its range and today's rates for the next run to crawl through
 * @param may.advance whether this run has read the last covered days again before; else the window must
 */
export function coverageAfter(
  known: Window | undefined,
  asked: Window,
  newest: IsoDate | undefined,
  may: { begin: boolean; advance: boolean },
): Window | undefined {
  if (!known) return may.begin && newest !== undefined ? { from: asked.from, to: newest } : undefined
  const touches = asked.from <= addDays(known.to, 1) && asked.to >= addDays(known.from, -1)
  if (!touches) return known
  const advances = newest !== undefined && (may.advance || rereads(known, asked))
  return {
    from: earliest(known.from, asked.from),
    to: advances ? latest(known.to, newest) : known.to,
  }
}
