// A series as a column; all answers about rates are computed from columns.

import { dayNumber, type IsoDate, isoDate, latest, parseDayNumber } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'

const LINE_FEED = 0x0a
const ROUNDED_MARK = 0x72 // r, as selectColumnsOfSeries writes it
const DATE_LENGTH = 'YYYY-MM-DD'.length

/**
 * A series: day numbers, ascending, and their values as canonical decimals. The values share a single text: separate
 * strings used half the memory of a full server. /
 */
export type Column = {
  readonly days: Int32Array
  readonly text: string
  /** Start of each value in the text, followed by the end of the text. */
  readonly starts: Uint32Array
  /** Decimals to which each value is rounded, or EXACT; undefined: all are exact. */
  readonly rounded: Int8Array | undefined
  /** Days whose stored values are damaged, and have none here; undefined: none. */
  readonly damage?: Damage
}

/** Lines of a series as of selectColumnsOfSeries, and their number. */
export type Lines = { count: number; lines: string }

/** Day numbers, both inclusive. */
export type DayRange = { first: number; last: number }

/** Days whose stored values cannot be read, ascending. `name`: `series 2` or `indicator 423`. */
export type Damage = { name: string; days: readonly DayRange[] }

/** A day whose stored value is damaged, with the name as of Damage. */
export type DamagedDay = { name: string; day: IsoDate }

/** Marks a value that is not rounded. */
export const EXACT = -1

/** Covered days as day numbers: first and last of each interval, ascending; the last one may have no days. */
export type CoveredDays = Int32Array

/** Converts intervals to day numbers. */
export function toCoveredDays(intervals: readonly Interval[]): CoveredDays {
  return Int32Array.from(intervals.flatMap(({ from, to }) => [dayNumber(from), dayNumber(to)]))
}

export function toInterval({ first, last }: DayRange): Interval {
  return { from: isoDate(first), to: isoDate(last) }
}

/** Converts day numbers to intervals. */
export function coveredIntervals(covered: CoveredDays): Interval[] {
  const intervals: Interval[] = []
  for (let at = 0; at < covered.length; at += 2) {
    const [first = 0, last = 0] = [covered[at], covered[at + 1]]
    if (first <= last) intervals.push(toInterval({ first, last }))
  }
  return intervals
}

/**
 * Parses sound lines of selectColumnsOfSeries. Parses 16,000 lines in a millisecond, because the first request waits for
 * it. Undefined: the days do not ascend.
 */
export function parseSoundColumn({ count, lines: text }: Lines): Column | undefined {
  const days = new Int32Array(count)
  const starts = new Uint32Array(count + 1)
  const values = Buffer.allocUnsafe(text.length)
  let rounded: Int8Array | undefined
  let size = 0
  let from = 0
  let previous = Number.NEGATIVE_INFINITY
  for (let at = 0; at < count; at += 1) {
    const day = parseDayNumber(text, from)
    if (day <= previous) return undefined
    days[at] = day
    previous = day
    from += DATE_LENGTH
    let code = text.charCodeAt(from)
    for (; isLineCharacter(code) && code !== ROUNDED_MARK; code = text.charCodeAt(from)) {
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

/** Creates a column; `days` ascend, with a value for each, and `rounded` is as in Column. */
export function makeColumn(days: Int32Array, values: readonly string[], rounded?: Int8Array): Column {
  const starts = new Uint32Array(values.length + 1)
  for (const [at, value] of values.entries()) starts[at + 1] = (starts[at] ?? 0) + value.length
  return { days, text: values.join(''), starts, rounded }
}

/** Creates a column of ascending days with their values and decimals, EXACT for exact ones. */
export function columnFromRows(rows: { days: number[]; values: string[]; rounded: number[] }): Column {
  const isExact = rows.rounded.every((decimals) => decimals === EXACT)
  return makeColumn(
    Int32Array.from(rows.days),
    rows.values,
    isExact ? undefined : Int8Array.from(rows.rounded),
  )
}

/** Returns a column with damaged days, in any order. */
export function withDamage(column: Column, name: string, days: readonly DayRange[]): Column {
  if (days.length === 0) return column
  return { ...column, damage: { name, days: days.toSorted((a, b) => a.first - b.first) } }
}

/** Column of a series without values. */
export const EMPTY_COLUMN: Column = makeColumn(new Int32Array(), [])

/** Value at an index of the column. */
export function columnValue({ text, starts }: Column, at: number): string {
  return text.slice(starts[at], starts[at + 1])
}

/** Decimals to which the value at an index is rounded; undefined: it is exact. */
export function columnDecimals({ rounded }: Column, at: number): number | undefined {
  const decimals = rounded?.[at]
  return decimals === undefined || decimals === EXACT ? undefined : decimals
}

/** First day of an interval whose stored value is damaged, in one of the series. */
export function findDamage(
  series: readonly { column: Column }[],
  { from, to }: Interval,
): DamagedDay | undefined {
  for (const one of series) {
    const { damage } = one.column
    const days = damage?.days.find(({ first, last }) => first <= dayNumber(to) && last >= dayNumber(from))
    if (damage && days) return { name: damage.name, day: latest(from, isoDate(days.first)) }
  }
  return undefined
}

/** Memory of a column in bytes. */
export function columnBytes({ days, text, starts, rounded }: Column): number {
  return days.byteLength + text.length + starts.byteLength + (rounded?.byteLength ?? 0)
}

/** True for the code of a character before the end of a line; after the text the code is NaN. */
function isLineCharacter(code: number): boolean {
  return code > LINE_FEED
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}
