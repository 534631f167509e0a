// Days that were not synchronized, in a range that a shape is asked for (decisions 2.6, lists). Its reader knows no field that
// says so and would take them for days without data: the range is an error in the shape's own form. A currency that nobody
// named is left out instead, and named in a header.

import { holesOfRange } from '../../domain/rates/crosses.ts'
import type { RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../errors.ts'
import type { Interval } from '../../intervals.ts'
import type { ShapeDeps } from './shape.ts'

/** Days that a range lacks, ascending; `isRounded`: they are stored, but rounded, and rounded values are not answered. */
export type MissingDays = { days: readonly Interval[]; isRounded?: boolean }

/** What a range has of a currency or an indicator; without `missing` all. */
export type Part<T> = { code: string; value: T; missing: MissingDays | undefined }

const SOONEST_S = 3600 // before the next sync another try finds the same

/**
 * The parts that lack nothing, and the codes of the others.
 * @throws AppError `unavailable` where a part that was named lacks days, or every part does
 */
export async function wholeParts<T>(
  deps: Pick<ShapeDeps, 'missed' | 'clock' | 'nextSync'>,
  shape: string,
  parts: readonly Part<T>[],
  { areNamed }: { areNamed: boolean },
): Promise<{ whole: T[]; leftOut: string[] }> {
  const whole: T[] = []
  const leftOut: string[] = []
  let first: MissingDays | undefined
  for (const { code, value, missing } of parts) {
    if (!missing) whole.push(value)
    else {
      leftOut.push(code)
      if (!first || firstOf(missing).from < firstOf(first).from) first = missing
    }
  }
  if (!first) return { whole, leftOut }
  const isRefused = areNamed || whole.length === 0
  deps.missed.days(shape, firstOf(first), isRefused)
  if (!isRefused) return { whole, leftOut }
  const next = await deps.nextSync()
  const seconds = next ? (next.getTime() - deps.clock().getTime()) / 1000 : 0
  throw new AppError('unavailable', inWords(first), {
    details: { missing: first },
    isLogged: true,
    retryAfter: Math.max(SOONEST_S, seconds),
  })
}

/** The quotes that a range may show, and those that nobody named and that lack days. @throws AppError as wholeParts does */
export async function wholeQuotes(
  deps: Pick<ShapeDeps, 'missed' | 'clock' | 'nextSync'>,
  shape: string,
  snapshot: RateSnapshot,
  { areNamed, ...asked }: Parameters<typeof holesOfRange>[1] & { areNamed: boolean },
): Promise<{ quotes: string[]; leftOut: string[] }> {
  const holes = await holesOfRange(snapshot, asked)
  // A currency in itself is 1 on any day: it is no answer where all others lack days.
  const parts = asked.quotes.flatMap((code) => {
    const hole = holes.get(code)
    return code === asked.base ? [] : { code, value: code, missing: hole && { days: [hole] } }
  })
  const { leftOut } = await wholeParts(deps, shape, parts, { areNamed })
  return { quotes: asked.quotes.filter((code) => !leftOut.includes(code)), leftOut }
}

/** The days that an error is about; undefined: it is another error. */
export function missingDaysOf(details: unknown): MissingDays | undefined {
  if (typeof details !== 'object' || details === null || !('missing' in details)) return undefined
  return details.missing as MissingDays
}

/** The first of the missing days. */
export function firstOf({ days: [first] }: MissingDays): Interval {
  if (!first) throw new TypeError('nothing is missing')
  return first
}

function inWords(missing: MissingDays): string {
  const { from, to } = firstOf(missing)
  const what = missing.isRounded ? 'are stored rounded, and not answered' : 'have not been synchronized'
  return `the days from ${from} to ${to} ${what}`
}
