// What a history says in four figures. Sums and quotients are of whole numbers of units, so they are the same whoever
// computes them.

import { dividedBy, placesOf, type Scaled, textOf, unitsAt, unitsOf } from './decimal.ts'

export type Point = { rate_date: string; value: string }

export type Statistics = {
  low: Point
  high: Point
  /** Rounded to two places more than the values have. */
  mean: string
  /** The last value less the first. */
  change: string
  /** The same in hundredths, rounded to two places; undefined if the first value is 0. */
  percent: string | undefined
}

const PLACES_MORE = 2

/** @returns undefined when there is no point */
export function statisticsOf(points: readonly Point[]): Statistics | undefined {
  const [first] = points
  const last = points.at(-1)
  if (!first || !last) return undefined
  const scale = points.reduce((most, { value }) => Math.max(most, placesOf(value)), 0)
  const units = points.map(({ value }) => unitsOf(value, scale))
  const [low, high] = extremesOf(units)
  let sum = 0n
  for (const one of units) sum += one
  const finer = { units: sum, scale }
  const change = { units: (units.at(-1) ?? 0n) - (units[0] ?? 0n), scale }
  return {
    low: points[low] ?? first,
    high: points[high] ?? first,
    mean: textOf({
      units: dividedBy(unitsAt(finer, scale + PLACES_MORE), BigInt(points.length)),
      scale: scale + PLACES_MORE,
    }),
    change: textOf(change),
    percent: percentOf(change, units[0] ?? 0n),
  }
}

/** Where the lowest and the highest are, of equal ones the first. */
function extremesOf(units: readonly bigint[]): [number, number] {
  let [low, high] = [0, 0]
  for (const [index, one] of units.entries()) {
    if (one < (units[low] ?? one)) low = index
    if (one > (units[high] ?? one)) high = index
  }
  return [low, high]
}

function percentOf(change: Scaled, first: bigint): string | undefined {
  if (first <= 0n) return undefined
  return textOf({ units: dividedBy(change.units * 10_000n, first), scale: 2 })
}
