// First, lowest, highest, mean, last and change of a history, computed on whole numbers of units.

import { countPlaces, decimalText, divideRounded, parseUnits, quotientText, type Scaled } from './decimal.ts'

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
    percent: percentChange(change, units[0] ?? 0n),
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

function percentChange(change: Scaled, first: bigint): string | undefined {
  if (first <= 0n) return undefined
  return decimalText({ units: divideRounded(change.units * 10_000n, first), scale: 2 })
}
