// A series as it was at an instant, made backwards from how it is now. Pure: no SQL, no clock.

import { dayOf, type IsoDate } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import { type Interval, joined, without } from '../../intervals.ts'
import type { LaterValues } from '../../store/record.ts'
import { type Column, EXACT, makeColumn, roundedAt, valueAt } from './column.ts'

/** A value as it was; undefined: it was not known. */
type PastValue = { value: string; roundedTo: number | null } | undefined

/** What changed of the covered days of a series. */
export type CoveredDaysChange = { kind: 'added' | 'removed'; days: Interval }

/**
 * The values that were known at an instant (milliseconds since 1970). `imported` are days whose values came later with an
 * import, whatever instants they have.
 * @throws AppError `not-found` when it was not written down since when a value was known
 */
export function pastColumn(
  now: Column,
  { stored, revisions, imported }: LaterValues & { imported: readonly Interval[] },
  instant: number,
): Column {
  const past = new Map<number, PastValue>()
  for (const day of stored) past.set(dayOf(day), undefined)
  const seen = new Set<IsoDate>()
  for (const { rate_date, old_value, old_rounded_to, old_stored_at } of revisions) {
    if (seen.has(rate_date)) continue // the value that was replaced first is the older one
    seen.add(rate_date)
    if (old_stored_at === null) throw unknownSince(rate_date)
    const isKnown = old_stored_at <= instant
    past.set(dayOf(rate_date), isKnown ? { value: old_value, roundedTo: old_rounded_to } : undefined)
  }
  for (const { from, to } of imported) {
    const [first, last] = [dayOf(from), dayOf(to)]
    for (const day of now.days) if (day >= first && day <= last) past.set(day, undefined)
  }
  return past.size === 0 ? now : withValues(now, past)
}

/** The days that were covered before these changes, of which the last one comes first. */
export function coveredBefore(
  now: readonly Interval[],
  changes: readonly CoveredDaysChange[],
): readonly Interval[] {
  return changes.reduce<readonly Interval[]>(
    (covered, { kind, days }) => (kind === 'added' ? without(covered, days) : joined(covered, days)),
    now,
  )
}

/** The column with other values on some of its days, or none. */
function withValues(now: Column, past: ReadonlyMap<number, PastValue>): Column {
  const days: number[] = []
  const values: string[] = []
  const rounded: number[] = []
  for (const [at, day] of now.days.entries()) {
    const own = past.has(day)
      ? past.get(day)
      : { value: valueAt(now, at), roundedTo: roundedAt(now, at) ?? null }
    if (!own) continue
    days.push(day)
    values.push(own.value)
    rounded.push(own.roundedTo ?? EXACT)
  }
  const isExact = rounded.every((decimals) => decimals === EXACT)
  return makeColumn(Int32Array.from(days), values, isExact ? undefined : Int8Array.from(rounded))
}

function unknownSince(day: IsoDate): AppError {
  return new AppError('not-found', `since when the value of ${day} had been known is not in the record`)
}
