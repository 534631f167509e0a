// A series as a column: what every rates answer is computed from.

import { dayAt, dayOf } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'

const LINE_FEED = 0x0a
const ROUNDED_MARK = 0x72 // r, as selectColumnsOfSeries writes it
const DATE_LENGTH = 'YYYY-MM-DD'.length

/**
 * One series: day numbers, ascending, and beside each its value in canonical decimal form. All values stand in one
 * text, for a string of each took half of what a full server has in memory.
 */
export type Column = {
  readonly days: Int32Array
  readonly text: string
  /** Where in the text each value begins, and at last where the text ends. */
  readonly starts: Uint32Array
  /** To how many decimals each value is rounded, or EXACT; undefined: all are exact. */
  readonly rounded: Int8Array | undefined
}

/** What a column says of a value that is not rounded. */
export const EXACT = -1

/** Covered days as day numbers: first and last of each interval, ascending. */
export type CoveredDays = Int32Array

/** Covered days as day numbers. */
export function dayNumbersOf(intervals: readonly Interval[]): CoveredDays {
  return Int32Array.from(intervals.flatMap(({ from, to }) => [dayOf(from), dayOf(to)]))
}

/** The column of what selectColumnsOfSeries gives: 16,000 lines in a millisecond, for the first request waits for it. */
export function columnOf({ count, lines: text }: { count: number; lines: string }): Column {
  const days = new Int32Array(count)
  const starts = new Uint32Array(count + 1)
  const values = Buffer.allocUnsafe(text.length)
  let rounded: Int8Array | undefined
  let size = 0
  let from = 0
  for (let at = 0; at < count; at += 1) {
    days[at] = dayAt(text, from)
    from += DATE_LENGTH
    let code = text.charCodeAt(from)
    for (; isOfLine(code) && code !== ROUNDED_MARK; code = text.charCodeAt(from)) {
      values[size] = code
      size += 1
      from += 1
    }
    starts[at + 1] = size
    if (code === ROUNDED_MARK) {
      const end = endOfLine(text, from)
      rounded ??= new Int8Array(count).fill(EXACT)
      rounded[at] = Number(text.slice(from + 1, end))
      from = end
    }
    from += 1
  }
  return { days, text: values.toString('latin1', 0, size), starts, rounded }
}

/** A column of as many days, ascending, as values; `rounded` as in Column. */
export function makeColumn(days: Int32Array, values: readonly string[], rounded?: Int8Array): Column {
  const starts = new Uint32Array(values.length + 1)
  for (const [at, value] of values.entries()) starts[at + 1] = (starts[at] ?? 0) + value.length
  return { days, text: values.join(''), starts, rounded }
}

/** The value at an index of the column. */
export function valueAt({ text, starts }: Column, at: number): string {
  return text.slice(starts[at], starts[at + 1])
}

/** To how many decimals the value at an index is rounded; undefined: it is exact. */
export function roundedAt({ rounded }: Column, at: number): number | undefined {
  const decimals = rounded?.[at]
  return decimals === undefined || decimals === EXACT ? undefined : decimals
}

/** What a column takes in memory. */
export function bytesOf({ days, text, starts, rounded }: Column): number {
  return days.byteLength + text.length + starts.byteLength + (rounded?.byteLength ?? 0)
}

/** Whether a code is that of a character before a line's end; after the text there is none. */
function isOfLine(code: number): boolean {
  return code > LINE_FEED
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}
