// Histories of one pair as one table of days: what the chart, the readout, the table and the files show.

import { addMonths } from './days.ts'
import type { Span, View } from './fragment.ts'
import type { Hole } from './holes.ts'
import type { Point } from './statistics.ts'

export type Line<Name extends string = string> = { name: Name; points: readonly Point[] }
export type Days<Name extends string = string> = {
  days: readonly string[]
  lines: readonly { name: Name; values: readonly (string | undefined)[] }[]
}

const MONTHS: Record<Exclude<Span, 'all'>, number> = {
  '1m': 1,
  '3m': 3,
  '6m': 6,
  '1y': 12,
  '5y': 60,
  '10y': 120,
}
const EARLIEST = '1900-01-01'
/** A line is not drawn over a longer time without values. */
const LONGEST_GAP_MS = 10 * 86_400_000

/** The days that the chart is asked for. @param newest the day that is the end of every span */
export function rangeOf({ span, from, to }: Pick<View, 'span' | 'from' | 'to'>, newest: string) {
  if (from !== '' && to !== '') return { from, to }
  return { from: span === 'all' ? EARLIEST : addMonths(newest, -MONTHS[span]), to: newest }
}

/** The lines over every day on which any of them has a value, in order. */
export function byDay<Name extends string>(lines: readonly Line<Name>[]): Days<Name> {
  const [first] = lines
  const isOneCalendar = lines.every(
    ({ points }) =>
      points.length === first?.points.length &&
      points.every(({ rate_date }, index) => rate_date === first.points[index]?.rate_date),
  )
  if (first && isOneCalendar) {
    const days = first.points.map(({ rate_date }) => rate_date)
    return {
      days,
      lines: lines.map(({ name, points }) => ({ name, values: points.map(({ value }) => value) })),
    }
  }
  const days = [...new Set(lines.flatMap(({ points }) => points.map(({ rate_date }) => rate_date)))].sort()
  return {
    days,
    lines: lines.map(({ name, points }) => {
      const known = new Map(points.map(({ rate_date, value }) => [rate_date, value]))
      return { name, values: days.map((day) => known.get(day)) }
    }),
  }
}

/** Before which of the days a line breaks off: no values for so long, or days that were never synchronized. */
export function breaksIn(days: readonly string[], holes: readonly Hole[] = []): number[] {
  const found: number[] = []
  let before = Number.POSITIVE_INFINITY
  for (const [index, day] of days.entries()) {
    const time = Date.parse(day)
    const last = days[index - 1] ?? day
    const isHole = holes.some(({ from, to }) => from < day && to > last)
    if (isHole || time - before > LONGEST_GAP_MS) found.push(index)
    before = time
  }
  return found
}
