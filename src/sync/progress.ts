// Estimates the progress and the remaining time of a run, from its remaining days and the pace of its requests. Pure.
// Estimates are upper bounds, since a history may begin after its floor.

import type { IsoDate } from '../values/dates.ts'
import { countDays, type Interval } from '../values/intervals.ts'

/** Progress of a run. */
export type RunProgress = {
  /** Group of the last request. */
  group: string
  /** Years of the group that are stored, up to tomorrow, to a tenth, with those of earlier runs. */
  yearsRead: number
  /** Requests so far, and remaining ones, of all groups. */
  requests: number
  requestsLeft: number
  msLeft: number
}

/** Progress of a run that reads history, for callers outside of sync/. */
export type HistoryProgress = Omit<RunProgress, 'requests' | 'msLeft'> & { provider: string; doneAt: Date }

/** Number of requests, and their milliseconds with the storing of answers. */
export type RequestTotals = { requests: number; ms: number }

/** Counts the requests for days, with `chunkDays` days for each request. */
export function countRequests(days: readonly Interval[], chunkDays: number): number {
  return days.reduce((sum, interval) => sum + Math.ceil(countDays(interval) / chunkDays), 0)
}

/** Returns the years from the floor to tomorrow that are read, to a tenth. */
export function yearsRead(floor: IsoDate, left: readonly Interval[], tomorrow: IsoDate): number {
  const whole = countDays({ from: floor, to: tomorrow })
  const days = left.reduce((rest, interval) => rest - countDays(interval), whole)
  return Math.round((Math.max(0, days) / 365.25) * 10) / 10
}

/**
 * Estimates the milliseconds of the remaining requests, at the pace of each group.
 * @param left remaining requests by group
 * @param totals requests so far by group
 * @param elapsed milliseconds since the run began, the pace before the first answer
 */
export function msLeft(
  left: ReadonlyMap<string, number>,
  totals: ReadonlyMap<string, RequestTotals>,
  elapsed: number,
): number {
  const all = { requests: 0, ms: 0 }
  for (const { requests, ms } of totals.values()) {
    all.requests += requests
    all.ms += ms
  }
  let sum = 0
  for (const [group, requests] of left) {
    const pace = totals.get(group) ?? all
    sum += requests * (pace.requests > 0 ? pace.ms / pace.requests : elapsed)
  }
  return sum
}
