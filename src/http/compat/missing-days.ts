// Days of the range of a compat request that were not synchronized (decisions#lists), or are stored rounded. Its
// clients know no field for them and would read them as days without data. The request fails with an error in the form
// of that API. A currency that the client did not name is left out instead, and named in a header.

import type { DamagedDay } from '../../domain/rates/column.ts'
import { type CrossesOfDay, computeCrosses, findUnknownCrosses } from '../../domain/rates/crosses.ts'
import { damageText } from '../../domain/rates/queries.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Interval } from '../../values/intervals.ts'
import type { CompatDeps } from './shape.ts'

/** Days that a range lacks, as of UnknownDays. */
export type MissingDays = { days: readonly Interval[]; isRounded?: boolean; damage?: DamagedDay | undefined }

/** A currency or indicator of a range; without `missing` it is complete. */
export type RangePart<T> = { code: string; value: T; missing: MissingDays | undefined }

/**
 * Returns the complete parts, and the codes of the others.
 * @throws AppError `unavailable` if a named part or every part is incomplete
 */
export async function completeParts<T>(
  deps: Pick<CompatDeps, 'unserved' | 'retryDelay'>,
  shape: string,
  parts: readonly RangePart<T>[],
  { areNamed, provider }: { areNamed: boolean; provider: string },
): Promise<{ whole: T[]; leftOut: string[] }> {
  const whole: T[] = []
  const leftOut: string[] = []
  let first: MissingDays | undefined
  for (const { code, value, missing } of parts) {
    if (!missing) whole.push(value)
    else {
      leftOut.push(code)
      if (!first || firstInterval(missing).from < firstInterval(first).from) first = missing
    }
  }
  if (!first) return { whole, leftOut }
  const isRefused = areNamed || whole.length === 0
  deps.unserved.days(shape, firstInterval(first), { isRefused, isRounded: first.isRounded })
  if (!isRefused) return { whole, leftOut }
  throw new AppError('unavailable', missingDaysMessage(first), {
    details: { missing: first },
    isLogged: true,
    retryAfter: await deps.retryDelay(provider),
  })
}

/** Returns the complete quotes, and the codes that are left out. @throws AppError as completeParts */
export async function completeQuotes(
  deps: Pick<CompatDeps, 'unserved' | 'retryDelay' | 'serveRounded'>,
  shape: string,
  snapshot: RateSnapshot,
  {
    areNamed,
    ...range
  }: Omit<Parameters<typeof findUnknownCrosses>[1], 'servesRounded'> & {
    areNamed: boolean
  },
): Promise<{ quotes: string[]; leftOut: string[] }> {
  const unknown = await findUnknownCrosses(snapshot, { ...range, servesRounded: deps.serveRounded })
  // A currency in itself is 1 on any day, so it does not count as complete.
  const parts = range.quotes.flatMap((code) =>
    code === range.base ? [] : { code, value: code, missing: unknown.get(code) },
  )
  const { leftOut } = await completeParts(deps, shape, parts, { areNamed, provider: range.provider })
  return { quotes: range.quotes.filter((code) => !leftOut.includes(code)), leftOut }
}

/**
 * Computes the rates on a day like computeCrosses.
 * @throws AppError `unavailable` for a damaged value of a named quote, or if no other quote has a rate
 */
export async function computeSoundCrosses(
  snapshot: RateSnapshot,
  query: Parameters<typeof computeCrosses>[1],
  areNamed: boolean,
): Promise<CrossesOfDay> {
  const result = await computeCrosses(snapshot, query)
  const { crosses, holes } = result
  const damaged = holes.size > 0 ? [...holes.values()].find(({ damage }) => damage) : undefined
  if (!damaged?.damage || !(areNamed || crosses.every(({ quote }) => quote === query.base))) return result
  const missing: MissingDays = { days: [damaged.hole], damage: damaged.damage }
  throw new AppError('unavailable', missingDaysMessage(missing), { details: { missing } })
}

/** Returns the missing days of an error; undefined: another error. */
export function readMissingDays(details: unknown): MissingDays | undefined {
  if (typeof details !== 'object' || details === null || !('missing' in details)) return undefined
  return details.missing as MissingDays
}

/** The first of the missing days. */
export function firstInterval({ days: [first] }: MissingDays): Interval {
  if (!first) throw new TypeError('nothing is missing')
  return first
}

function missingDaysMessage(missing: MissingDays): string {
  if (missing.damage) return damageText(missing.damage)
  const { from, to } = firstInterval(missing)
  const reason = missing.isRounded ? 'are stored rounded, and not answered' : 'have not been synchronized'
  return `the days from ${from} to ${to} ${reason}`
}
