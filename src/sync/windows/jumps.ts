// Stored values of an optional source that are more than 20 percent from the one before them. The value is stored as
// published, and the message of the run names it. Beyond a factor of five it is withheld (far-values.ts).

import { rateKey, type StoredRate } from '../../store/rates/rates.ts'
import { addDays } from '../../values/dates.ts'
import { isInRange, product } from '../../values/decimal.ts'

/** Days within which a value is compared with the one before it. */
const JUMP_DAYS = 15
const NAMED = 3

type JumpValue = Pick<StoredRate, 'series_id' | 'rate_date' | 'value'>

/** A value, and the published one before it. */
export type Jump = { before: JumpValue; after: JumpValue }

/**
 * Finds neighbours that differ by more than 20 percent, where one of both was written, at most 15 days apart.
 * `stored`: values before the writes, in any order.
 */
export function findJumps(stored: readonly JumpValue[], writes: readonly JumpValue[]): Jump[] {
  const newKeys = new Set(writes.map(rateKey))
  const all = [...stored.filter((one) => !newKeys.has(rateKey(one))), ...writes]
  const jumps: Jump[] = []
  for (const values of Map.groupBy(all, ({ series_id }) => series_id).values()) {
    const byDay = values.toSorted((a, b) => (a.rate_date < b.rate_date ? -1 : 1))
    for (const [at, after] of byDay.entries()) {
      const before = byDay[at - 1]
      if (!before || !(newKeys.has(rateKey(before)) || newKeys.has(rateKey(after)))) continue
      if (addDays(before.rate_date, JUMP_DAYS) < after.rate_date) continue
      const isNear = isInRange(after.value, product(before.value, '0.8'), product(before.value, '1.2'))
      if (!isNear) jumps.push({ before, after })
    }
  }
  return jumps
}

/** Describes each of the first jumps, and the number of the others. `names`: of the series, by id. */
export function describeJumps(
  group: string,
  jumps: readonly Jump[],
  names: ReadonlyMap<number, string>,
): string[] {
  const words = jumps
    .slice(0, NAMED)
    .map(
      ({ before, after }) =>
        `${group}: ${names.get(after.series_id)} of ${after.rate_date} is ${after.value}, more than 20 percent from ` +
        `${before.value} of ${before.rate_date}, stored as published`,
    )
  const others = jumps.length - words.length
  return others > 0 ? [...words, `${group}: ${others} more values are far from the one before them`] : words
}
