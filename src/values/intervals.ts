// Sets of calendar days as intervals, both ends included: ascending, neither overlapping nor adjacent.

import { addDays, dayNumber, earliest, type IsoDate, latest } from './dates.ts'

export type Interval = { from: IsoDate; to: IsoDate }

/** Returns the union of a set and an interval. */
export function addInterval(set: readonly Interval[], added: Interval): Interval[] {
  const result: Interval[] = []
  let { from, to } = added
  let rest: Interval[] = []
  for (const [at, one] of set.entries()) {
    if (addDays(one.to, 1) < from) result.push(one)
    else if (one.from > addDays(to, 1)) {
      rest = set.slice(at)
      break
    } else {
      from = earliest(from, one.from)
      to = latest(to, one.to)
    }
  }
  result.push({ from, to }, ...rest)
  return result
}

/** Returns the days of a set that are not in the interval. */
export function subtractInterval(set: readonly Interval[], removed: Interval): Interval[] {
  const result: Interval[] = []
  for (const one of set) {
    if (one.to < removed.from || one.from > removed.to) result.push(one)
    else {
      if (one.from < removed.from) result.push({ from: one.from, to: addDays(removed.from, -1) })
      if (one.to > removed.to) result.push({ from: addDays(removed.to, 1), to: one.to })
    }
  }
  return result
}

/** Returns the days of a set that are not in the other. */
export function difference(set: readonly Interval[], other: readonly Interval[]): Interval[] {
  // Equal intervals are skipped first: of thousands few differ.
  const intervalKey = ({ from, to }: Interval) => `${from} ${to}`
  const otherKeys = new Set(other.map(intervalKey))
  const ownKeys = new Set(set.map(intervalKey))
  const rest = set.filter((one) => !otherKeys.has(intervalKey(one)))
  return other.filter((one) => !ownKeys.has(intervalKey(one))).reduce(subtractInterval, rest)
}

/** Returns whether intervals are a set: ascending, and no day in two of them. */
export function isDaySet(intervals: readonly Interval[]): boolean {
  return intervals.every(({ from, to }, at) => from <= to && (intervals[at - 1]?.to ?? '') < from)
}

/** Returns the days within the bounds that are not in the set. */
export function findGaps(set: readonly Interval[], within: Interval): Interval[] {
  let gaps: Interval[] = within.from <= within.to ? [within] : []
  for (const one of set) gaps = subtractInterval(gaps, one)
  return gaps
}

/** Returns true when two intervals have a day in common. */
export function intersects(one: Interval, other: Interval): boolean {
  return one.from <= other.to && one.to >= other.from
}

/** Returns the interval of the set that contains the day. */
export function findInterval(set: readonly Interval[], day: IsoDate): Interval | undefined {
  return set.find(({ from, to }) => from <= day && day <= to)
}

export function countDays({ from, to }: Interval): number {
  return dayNumber(to) - dayNumber(from) + 1
}

/** Converts ascending days to intervals. */
export function toIntervals(days: Iterable<IsoDate>): Interval[] {
  const runs: Interval[] = []
  for (const day of days) {
    const last = runs.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else runs.push({ from: day, to: day })
  }
  return runs
}
