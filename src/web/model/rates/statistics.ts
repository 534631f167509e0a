// First, lowest, highest, mean, last and change of a history, computed on whole numbers of units.

import { countPlaces, decimalText, divideRounded, parseUnits, quotientText } from '../decimal.ts'

export type Point = { date: string; value: string }

export type Statistics = {
  first: Point
  low: Point
  high: Point
  last: Point
  count: number
  /** Mean as quotientText() writes it: it rounds to fewer places as the exact mean does. */
  mean: string
  /** Last value minus the first. */
  change: string
  /** Change in hundredths of the first value, rounded to two places; undefined unless that is positive. */
  percent: string | undefined
}

/** @returns undefined if there is no point */
export function computeStatistics(points: readonly Point[]): Statistics | undefined {
  const [first] = points
  const last = points.at(-1)
  if (!first || !last) return undefined
  const scale = points.reduce((widest, { value }) => Math.max(widest, countPlaces(value)), 0)
  const units = points.map(({ value }) => parseUnits(value, scale))
  const [low, high] = extremeIndexes(units)
  let sum = 0n
  for (const value of units) sum += value
  const change = { units: (units.at(-1) ?? 0n) - (units[0] ?? 0n), scale }
  return {
    ...{ first, last, count: points.length },
    low: points[low] ?? first,
    high: points[high] ?? first,
    mean: quotientText({ units: sum, scale }, BigInt(points.length)),
    change: decimalText(change),
    percent: percentage(decimalText(change), first.value),
  }
}

/** Indexes of the first lowest and the first highest value. */
function extremeIndexes(units: readonly bigint[]): [number, number] {
  let [low, high] = [0, 0]
  for (const [index, value] of units.entries()) {
    if (value < (units[low] ?? value)) low = index
    if (value > (units[high] ?? value)) high = index
  }
  return [low, high]
}

/** Returns a part of a whole in hundredths, rounded to two places; undefined unless the whole is positive. */
export function percentage(part: string, whole: string): string | undefined {
  const scale = Math.max(countPlaces(part), countPlaces(whole))
  const units = parseUnits(whole, scale)
  if (units <= 0n) return undefined
  return decimalText({ units: divideRounded(parseUnits(part, scale) * 10_000n, units), scale: 2 })
}
