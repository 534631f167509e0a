// A series as a column; all answers about rates are computed from columns.

import {
  dayNumber,
  EARLIEST_DAY,
  findDayNumber,
  type IsoDate,
  isoDate,
  LATEST_DAY,
  latest,
} from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'

const [MINUS, POINT, ZERO, NINE] = [0x2d, 0x2e, 0x30, 0x39]
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

/** Last day of damage whose end is not known. */
export const NO_END = dayNumber(LATEST_DAY)

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

/** Converts day numbers to intervals. */
export function coveredIntervals(covered: CoveredDays): Interval[] {
  const intervals: Interval[] = []
  for (let at = 0; at < covered.length; at += 2) {
    const [first = 0, last = 0] = [covered[at], covered[at + 1]]
    if (first <= last) intervals.push({ from: isoDate(first), to: isoDate(last) })
  }
  return intervals
}

/**
 * Parses the result of selectColumnsOfSeries. Parses 16,000 lines in a millisecond, because the first request waits
 * for it. A line without a day, or without a canonical decimal above 0, is damaged: its days have no value.
 * `name` as of Damage; `anySign`: zero and negative values are sound.
 */
export function parseColumn(
  { name, count, lines: text }: { name: string; count: number; lines: string },
  { anySign = false } = {},
): Column {
  const days = new Int32Array(count)
  const starts = new Uint32Array(count + 1)
  const values = Buffer.allocUnsafe(text.length)
  const damaged: DayRange[] = []
  let rounded: Int8Array | undefined
  let at = 0
  const nextDay = (index: number) => (index < 0 ? dayNumber(EARLIEST_DAY) : (days[index] ?? 0) + 1)
  let isGap = false // a line without a day: the days up to the next value are damaged
  for (let from = 0; from < text.length; ) {
    const day = findDayNumber(text, from)
    const valueStart = from + DATE_LENGTH
    const lineEnd = endOfLine(text, from)
    const end = valueStart < lineEnd ? findDecimalEnd(text, valueStart, anySign) : -1
    const decimals = end === lineEnd ? EXACT : parseDecimals(text.slice(end, lineEnd))
    from = lineEnd + 1
    const isAscending = day >= nextDay(at - 1)
    if (!isAscending || at === count) {
      if (at > 0 && !Number.isNaN(day) && !isAscending) at -= 1 // either of both days may be the wrong one
      isGap = true
      continue
    }
    if (isGap) damaged.push({ first: nextDay(at - 1), last: day - 1 })
    isGap = false
    if (end < 0 || Number.isNaN(decimals)) {
      damaged.push({ first: day, last: day })
      continue
    }
    days[at] = day
    let size = starts[at] ?? 0
    for (let index = valueStart; index < end; index += 1) values[size++] = text.charCodeAt(index)
    at += 1
    starts[at] = size
    if (decimals === EXACT && !rounded) continue
    rounded ??= new Int8Array(count).fill(EXACT)
    rounded[at - 1] = decimals
  }
  if (isGap) damaged.push({ first: nextDay(at - 1), last: NO_END })
  const column: Column = {
    days: days.subarray(0, at),
    text: values.toString('latin1', 0, starts[at]),
    starts: starts.subarray(0, at + 1),
    rounded: rounded?.subarray(0, at),
  }
  return damaged.length === 0 ? column : { ...column, damage: { name, days: damaged } }
}

/** Creates a column; `days` ascend, with a value for each, and `rounded` is as in Column. */
export function makeColumn(days: Int32Array, values: readonly string[], rounded?: Int8Array): Column {
  const starts = new Uint32Array(values.length + 1)
  for (const [at, value] of values.entries()) starts[at + 1] = (starts[at] ?? 0) + value.length
  return { days, text: values.join(''), starts, rounded }
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

/** First day of an interval whose stored value is damaged, in one of the columns. */
export function findDamage(columns: readonly Column[], { from, to }: Interval): DamagedDay | undefined {
  for (const { damage } of columns) {
    const days = damage?.days.find(({ first, last }) => first <= dayNumber(to) && last >= dayNumber(from))
    if (damage && days) return { name: damage.name, day: latest(from, isoDate(days.first)) }
  }
  return undefined
}

/** Memory of a column in bytes. */
export function columnBytes({ days, text, starts, rounded }: Column): number {
  return days.byteLength + text.length + starts.byteLength + (rounded?.byteLength ?? 0)
}

/** End of the canonical decimal at an index of a text; `anySign` as of parseColumn; -1: there is none. */
function findDecimalEnd(text: string, from: number, anySign: boolean): number {
  const first = anySign && text.charCodeAt(from) === MINUS ? from + 1 : from
  let at = first
  while (isDigit(text.charCodeAt(at))) at += 1
  const isWhole = text.charCodeAt(at) !== POINT
  if (at === first) return -1
  if (text.charCodeAt(first) === ZERO && (isWhole ? !anySign || at > from + 1 : at > first + 1)) return -1
  if (isWhole) return at
  const point = at
  do at += 1
  while (isDigit(text.charCodeAt(at)))
  return at > point + 1 && text.charCodeAt(at - 1) !== ZERO ? at : -1
}

/** Parses the decimals of a rounded value from the end of a line; NaN: it has none. */
function parseDecimals(mark: string): number {
  return /^r\d\d?$/.test(mark) ? Number(mark.slice(1)) : Number.NaN
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from)
  return end < 0 ? text.length : end
}
