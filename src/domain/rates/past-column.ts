// A series as it was at an instant, made backwards from how it is now. Pure: no SQL, no clock.

import { dayOf, type IsoDate } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import { type Interval, joined, without } from '../../intervals.ts'
import type { RateRevision } from '../../store/rates/record.ts'
import type { ValueRecord } from '../../store/rates/stored-at.ts'
import { type Column, EXACT, makeColumn, roundedAt, valueAt } from './column.ts'

/** What changed of the covered days of a series. */
export type CoveredDaysChange = { kind: 'added' | 'removed'; days: Interval }

/** A value as it was. */
type PastValue = { value: string; roundedTo: number | null }

/**
 * The values that were known at an instant (milliseconds since 1970). `imported` are days whose values came later with an
 * import, whatever instants they have.
 * @throws AppError `not-found` when it was not written down since when a value was known
 */
export function pastColumn(
  now: Column,
  { stored, revisions, imported }: ValueRecord & { imported: readonly Interval[] },
  instant: number,
): Column {
  const replaced = replacedValues(revisions, instant)
  const spans = imported.map(({ from, to }) => ({ first: dayOf(from), last: dayOf(to) }))
  const runs = stored.map(({ from, storedAt }) => ({ first: dayOf(from), isLater: storedAt > instant }))
  const days: number[] = []
  const values: string[] = []
  const rounded: number[] = []
  const add = (day: number, value: string, roundedTo: number | null | undefined) => {
    if (spans.some(({ first, last }) => first <= day && day <= last)) return
    days.push(day)
    values.push(value)
    rounded.push(roundedTo ?? EXACT)
  }
  const discarded = discardedDays(now, replaced)
  let next = 0
  const addDiscarded = (before: number) => {
    for (let day = discarded[next]; day !== undefined && day < before; day = discarded[++next]) {
      const before = replaced.get(day)
      if (before) add(day, before.value, before.roundedTo)
    }
  }
  let run = -1
  for (const [at, day] of now.days.entries()) {
    addDiscarded(day)
    while ((runs[run + 1]?.first ?? Number.POSITIVE_INFINITY) <= day) run += 1
    const before = replaced.get(day)
    if (before) add(day, before.value, before.roundedTo)
    else if (!replaced.has(day) && !runs[run]?.isLater) add(day, valueAt(now, at), roundedAt(now, at))
  }
  addDiscarded(Number.POSITIVE_INFINITY)
  if (days.length === now.days.length && replaced.size === 0) return now
  const isExact = rounded.every((decimals) => decimals === EXACT)
  return makeColumn(Int32Array.from(days), values, isExact ? undefined : Int8Array.from(rounded))
}

/** The days of replaced values that have none now, ascending. */
function discardedDays(now: Column, replaced: ReadonlyMap<number, unknown>): number[] {
  if (replaced.size === 0) return []
  const left = new Set(now.days)
  return [...replaced.keys()].filter((day) => !left.has(day)).sort((a, b) => a - b)
}

/** By day number what a value was that was replaced since; undefined: none was known. */
function replacedValues(
  revisions: readonly RateRevision[],
  instant: number,
): ReadonlyMap<number, PastValue | undefined> {
  const replaced = new Map<number, PastValue | undefined>()
  for (const { rate_date, old_value, old_rounded_to, old_stored_at } of revisions) {
    const day = dayOf(rate_date)
    if (replaced.has(day)) continue // the value that was replaced first is the older one
    if (old_stored_at === null) throw unknownSince(rate_date)
    const isKnown = old_stored_at <= instant
    replaced.set(day, isKnown ? { value: old_value, roundedTo: old_rounded_to } : undefined)
  }
  return replaced
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

function unknownSince(day: IsoDate): AppError {
  return new AppError('not-found', `since when the value of ${day} had been known is not in the record`)
}
