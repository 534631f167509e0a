// Merges the histories of a pair into one table by day, for chart, readout, table and files.

import { addMonths } from '../days.ts'
import type { Span, View } from '../fragment.ts'
import type { ComparedLine } from './comparison.ts'
import type { Hole } from './holes.ts'
import type { Point } from './statistics.ts'

/** Lines of the chart: sides of a pair, or the two lines of a comparison. */
export type LineName = 'compra' | 'venta' | 'referencia' | 'main' | 'other'

/** Line with its texts and figures. */
export type TrendLine = ComparedLine & { name: LineName; label: string }

/** Lines of the chart by day. */
export type Trend = {
  days: readonly string[]
  lines: readonly TrendLine[]
  holes: readonly Hole[]
  /** Days without values that a line bridges; undefined: 10. */
  maxGapDays?: number
}

export type ChartLine<Name extends string = string> = { name: Name; points: readonly Point[] }
export type DayTable<Name extends string = string> = {
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
/** Days without values that a line of the chart bridges. */
const MAX_GAP_DAYS = 10
const DAY_MS = 86_400_000

/** Days of the chart. @param newest last day of every span */
export function spanRange({ span, from, to }: Pick<View, 'span' | 'from' | 'to'>, newest: string) {
  if (from !== '' && to !== '') return { from, to }
  return { from: span === 'all' ? EARLIEST : addMonths(newest, -MONTHS[span]), to: newest }
}

/** Aligns the lines by day, over all days on which one of them has a value, in order. */
export function mergeLines<Name extends string>(lines: readonly ChartLine<Name>[]): DayTable<Name> {
  const [first] = lines
  const hasEqualDays = lines.every(
    ({ points }) =>
      points.length === first?.points.length &&
      points.every(({ date }, index) => date === first.points[index]?.date),
  )
  if (first && hasEqualDays) {
    const days = first.points.map(({ date }) => date)
    return {
      days,
      lines: lines.map(({ name, points }) => ({ name, values: points.map(({ value }) => value) })),
    }
  }
  const days = [...new Set(lines.flatMap(({ points }) => points.map(({ date }) => date)))].sort()
  return {
    days,
    lines: lines.map(({ name, points }) => {
      const values = new Map(points.map(({ date, value }) => [date, value]))
      return { name, values: days.map((day) => values.get(day)) }
    }),
  }
}

/** Indexes of the days after a gap: a hole, or more than `maxGapDays` days without values. */
export function lineBreaks(
  days: readonly string[],
  holes: readonly Hole[] = [],
  maxGapDays = MAX_GAP_DAYS,
): number[] {
  const breaks: number[] = []
  let previousTime = Number.POSITIVE_INFINITY
  for (const [index, day] of days.entries()) {
    const time = Date.parse(day)
    const previousDay = days[index - 1] ?? day
    const isHole = holes.some(({ from, to }) => from < day && to > previousDay)
    if (isHole || time - previousTime > maxGapDays * DAY_MS) breaks.push(index)
    previousTime = time
  }
  return breaks
}
