// How far a run is and how long the rest will take, from the days that are left and the pace of its own requests. Pure.
// What is left is an upper bound: a history that began later than its floor ends earlier.

import { dayOf, type IsoDate } from '../dates.ts'
import type { Interval } from '../intervals.ts'

/** How far a run is. */
export type RunProgress = {
  /** The group that was asked last. */
  group: string
  /** Years of that group's days up to tomorrow that are read, to a tenth, those of earlier runs included. */
  yearsRead: number
  /** Requests so far, and those that are left, of all groups. */
  requests: number
  requestsLeft: number
  msLeft: number
}

/** The same of a run that reads history, for one that looks at it from outside. */
export type HistoryProgress = Omit<RunProgress, 'requests' | 'msLeft'> & { provider: string; doneAt: Date }

/** How many requests were made, and what they took, the storing of their answers included. */
export type Asked = { requests: number; ms: number }

/** Requests for days, of which one request takes at most so many. */
export function requestsFor(days: readonly Interval[], chunkDays: number): number {
  return days.reduce((sum, interval) => sum + Math.ceil(lengthOf(interval) / chunkDays), 0)
}

/** Years from the floor to tomorrow that are not left, to a tenth. */
export function yearsRead(floor: IsoDate, left: readonly Interval[], tomorrow: IsoDate): number {
  const whole = lengthOf({ from: floor, to: tomorrow })
  const days = left.reduce((rest, interval) => rest - lengthOf(interval), whole)
  return Math.round((Math.max(0, days) / 365.25) * 10) / 10
}

/**
 * Milliseconds that the requests left will take, each group at its own pace where it has one.
 * @param left requests by group
 * @param asked what was asked so far by group
 * @param elapsed milliseconds since the run began, the pace of one that has no answer yet
 */
export function msLeft(
  left: ReadonlyMap<string, number>,
  asked: ReadonlyMap<string, Asked>,
  elapsed: number,
): number {
  const all = { requests: 0, ms: 0 }
  for (const { requests, ms } of asked.values()) {
    all.requests += requests
    all.ms += ms
  }
  let sum = 0
  for (const [group, requests] of left) {
    const pace = asked.get(group) ?? all
    sum += requests * (pace.requests > 0 ? pace.ms / pace.requests : elapsed)
  }
  return sum
}

function lengthOf({ from, to }: Interval): number {
  return dayOf(to) - dayOf(from) + 1
}
