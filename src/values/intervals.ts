// Sets of calendar days as intervals, ends included: ascending, neither overlapping nor touching.

import { addDays, earliest, type IsoDate, latest } from './dates.ts'

export type Interval = { from: IsoDate; to: IsoDate }

/** The days that are in the set or in the interval. */
export function joined(set: readonly Interval[], added: Interval): Interval[] {
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

/** The days of the set that are not in the interval. */
export function without(set: readonly Interval[], removed: Interval): Interval[] {
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

/** The days of a set that are not in another. */
export function difference(set: readonly Interval[], other: readonly Interval[]): Interval[] {
  // What both have as it is costs nothing: of thousands of intervals few change.
  const textOf = ({ from, to }: Interval) => `${from} ${to}`
  const known = new Set(other.map(textOf))
  const own = new Set(set.map(textOf))
  const rest = set.filter((one) => !known.has(textOf(one)))
  return other.filter((one) => !own.has(textOf(one))).reduce(without, rest)
}

/** The days within the bounds that are not in the set. */
export function gapsIn(set: readonly Interval[], within: Interval): Interval[] {
  let gaps: Interval[] = within.from <= within.to ? [within] : []
  for (const one of set) gaps = without(gaps, one)
  return gaps
}

/** Whether two intervals have a day in common. */
export function intersects(one: Interval, other: Interval): boolean {
  return one.from <= other.to && one.to >= other.from
}

/** The interval of the set that holds the day. */
export function intervalAt(set: readonly Interval[], day: IsoDate): Interval | undefined {
  return set.find(({ from, to }) => from <= day && day <= to)
}

/** Days, ascending, as intervals. */
export function runsOf(days: Iterable<IsoDate>): Interval[] {
  const runs: Interval[] = []
  for (const day of days) {
    const last = runs.at(-1)
    if (last && addDays(last.to, 1) === day) last.to = day
    else runs.push({ from: day, to: day })
  }
  return runs
}
