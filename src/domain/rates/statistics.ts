// What a history says in a few figures, and the history with fewer points. No value is made up: a month or a year is
// stood for by its last published value, and where a mean is rounded, it is once.

import { type IsoDate, isoOf } from '../../dates.ts'
import { inUnits, ofUnits, ratio } from '../../decimal.ts'
import { valueAt } from './column.ts'
import type { SeriesHistory } from './queries.ts'
import { pointAt, type RatePoint, smallest } from './rates.ts'

export type DatedValue = { rate_date: IsoDate; value: string }

export type Statistics = {
  count: number
  first: DatedValue
  last: DatedValue
  /** Of equal ones the first. */
  low: DatedValue
  high: DatedValue
  /** To 15 significant digits, half-even, as every computed rate (decisions 2.9). */
  mean: string
  /** The last value less the first, exactly. */
  change: string
  /** The fewest decimals that one of the values is rounded to; undefined: all are exact. */
  roundedTo: number | undefined
}

/** Which points of a history are shown: all, or the last of each month or year. */
export type Every = 'day' | 'month' | 'year'

const PERIOD_LENGTH: Record<Every, number> = { day: 10, month: 7, year: 4 } // of YYYY-MM-DD

/** Undefined for a history without a value. */
export function statisticsOf({ column, first, end }: SeriesHistory): Statistics | undefined {
  if (first >= end) return undefined
  const values = Array.from({ length: end - first }, (_, at) => valueAt(column, first + at))
  const { units, places } = inUnits(values)
  let [low, high, sum] = [0, 0, 0n]
  let roundedTo: number | undefined
  for (const [at, one] of units.entries()) {
    sum += one
    if (one < (units[low] ?? one)) low = at
    if (one > (units[high] ?? one)) high = at
    if (column.rounded) roundedTo = smallest(roundedTo, pointAt(column, first + at).rounded_to)
  }
  const dated = (at: number) => ({ rate_date: isoOf(column.days[first + at] ?? 0), value: values[at] ?? '' })
  return {
    count: values.length,
    first: dated(0),
    last: dated(values.length - 1),
    low: dated(low),
    high: dated(high),
    mean: ratio([ofUnits(sum, places)], [String(values.length)]),
    change: ofUnits((units.at(-1) ?? 0n) - (units[0] ?? 0n), places),
    roundedTo,
  }
}

/** The first `most` points, and whether there are others. */
export function pointsOf(
  { column, first, end }: SeriesHistory,
  every: Every,
  most: number,
): { points: RatePoint[]; hasMore: boolean } {
  const points: RatePoint[] = []
  const periodAt = (at: number) => isoOf(column.days[at] ?? 0).slice(0, PERIOD_LENGTH[every])
  for (let at = first; at < end; at += 1) {
    if (at + 1 < end && periodAt(at) === periodAt(at + 1)) continue
    if (points.length === most) return { points, hasMore: true }
    points.push(pointAt(column, at))
  }
  return { points, hasMore: false }
}
