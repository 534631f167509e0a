// Compares the history of a pair: with another currency, as an index, or with another year. Index values are exact
// fractions, rounded once. A line has its last value on days on which only the other has one.

import { isDay } from '../days.ts'
import { countPlaces, decimalText, divideRounded, parseUnits } from '../decimal.ts'
import type { Point } from './statistics.ts'

export type ComparedLine = {
  /** Index, or values where years are compared. */
  values: readonly (string | undefined)[]
  /** Values that the index was computed from. */
  realValues?: readonly (string | undefined)[]
  /** Days of the values, where years are compared. */
  ownDays?: readonly string[]
  points: readonly Point[]
}
export type Comparison = { days: readonly string[]; lines: readonly [ComparedLine, ComparedLine] }

const INDEX_PLACES = 2
const PERCENT = 100n
/** Longest time that a value is carried. */
const MAX_CARRY_MS = 10 * 86_400_000

/** Returns 100 × value / value on the first common day, from that day on. Undefined without a common day. */
export function compareCurrencies(main: readonly Point[], other: readonly Point[]): Comparison | undefined {
  const otherDays = new Set(other.map(({ date }) => date))
  const first = main.find(({ date }) => otherDays.has(date))?.date
  if (first === undefined) return undefined
  const sides = [main, other].map((points) => points.filter(({ date }) => date >= first))
  const days = unionDays(sides)
  const [mainLine, otherLine] = sides.map((points): ComparedLine => {
    const realValues = carryValues(points, days)
    return { values: indexValues(realValues), realValues, points }
  })
  return mainLine && otherLine && { days, lines: [mainLine, otherLine] }
}

/**
 * Compares the same days of two years. A 29 February that one of them lacks is left out.
 * @param other values of the days that are `years` later, or earlier if it is negative
 */
export function compareYears(
  main: readonly Point[],
  other: readonly Point[],
  years: number,
): Comparison | undefined {
  const mainPoints = main.filter(({ date }) => shiftDay(date, years) !== undefined)
  const [first, last] = [mainPoints[0]?.date ?? '', mainPoints.at(-1)?.date ?? '']
  const otherPoints = other.flatMap(({ date, value }) => {
    const day = shiftDay(date, -years)
    return day !== undefined && day >= first && day <= last ? [{ date: day, value }] : []
  })
  if (otherPoints.length === 0) return undefined
  const days = unionDays([mainPoints, otherPoints])
  const otherDays = days.map((day) => shiftDay(day, years) ?? '')
  const points = otherPoints.map(({ date, value }) => ({ date: shiftDay(date, years) ?? '', value }))
  return {
    days,
    lines: [
      { values: carryValues(mainPoints, days), ownDays: days, points: mainPoints },
      { values: carryValues(otherPoints, days), ownDays: otherDays, points },
    ],
  }
}

/** Same day of another year; undefined: that year has no 29 February. */
function shiftDay(day: string, years: number): string | undefined {
  const shifted = `${Number(day.slice(0, 4)) + years}${day.slice(4)}`
  return day.endsWith('-02-29') && !isDay(shifted) ? undefined : shifted
}

function unionDays(lines: readonly (readonly Point[])[]): string[] {
  return [...new Set(lines.flatMap((points) => points.map(({ date }) => date)))].sort()
}

/** Last value on each day, at most ten days old. */
function carryValues(points: readonly Point[], days: readonly string[]): (string | undefined)[] {
  let at = -1
  return days.map((day) => {
    while (points[at + 1] && (points[at + 1]?.date ?? '') <= day) at += 1
    const point = points[at]
    if (!point) return undefined
    const isOld = point.date !== day && Date.parse(day) - Date.parse(point.date) > MAX_CARRY_MS
    return isOld ? undefined : point.value
  })
}

function indexValues(values: readonly (string | undefined)[]): (string | undefined)[] {
  const scale = values.reduce((widest, value) => Math.max(widest, countPlaces(value ?? '')), 0)
  const first = parseUnits(values[0] ?? '0', scale)
  if (first <= 0n) return values.map(() => undefined)
  const factor = PERCENT * 10n ** BigInt(INDEX_PLACES)
  return values.map(
    (value) =>
      value &&
      decimalText({ units: divideRounded(parseUnits(value, scale) * factor, first), scale: INDEX_PLACES }),
  )
}
