// Lowest, highest, mean and change of a history, computed on whole numbers of units.

import { countPlaces, decimalText, divideRounded, parseUnits, rescaleUnits, type Scaled } from './decimal.ts'

export type Point = { rate_date: string; value: string; rounded_to?: number }

export type Statistics = {
  low: Point
  high: Point
  /** Mean, rounded to two places more than the values have. */
  mean: string
  /** Last value minus the first. */
  change: string
  /** Change in hundredths of the first value, rounded to two places; undefined unless that is positive. */
  percent: string | undefined
}

const EXTRA_PLACES = 2

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
  const total = { units: sum, scale }
  const change = { units: (units.at(-1) ?? 0n) - (units[0] ?? 0n), scale }
  return {
    low: points[low] ?? first,
    high: points[high] ?? first,
    mean: decimalText({
      units: divideRounded(rescaleUnits(total, scale + EXTRA_PLACES), BigInt(points.length)),
      scale: scale + EXTRA_PLACES,
    }),
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
