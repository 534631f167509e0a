// A series at a past instant, computed backwards from the current one. Pure: no SQL, no clock.

import { AppError } from '../../../runtime/errors.ts'
import type { RateRevision } from '../../../store/rates/change-log.ts'
import type { StoredAtRun } from '../../../store/rates/stored-at.ts'
import { dayNumber, type IsoDate } from '../../../values/dates.ts'
import { isCanonicalDecimal } from '../../../values/decimal.ts'
import { addInterval, type Interval, subtractInterval } from '../../../values/intervals.ts'
import { type Column, columnDecimals, columnFromRows, columnValue, EXACT, withDamage } from '../column.ts'

/** A change of the covered days of a series. */
export type CoveredDaysChange = { kind: 'added' | 'removed'; days: Interval }

/** Instants of values, and the replaced values in the order of their replacement; with the name as of Damage. */
type ColumnLog = {
  name: string
  stored: readonly StoredAtRun[]
  revisions: readonly Pick<RateRevision, 'rate_date' | 'old_value' | 'old_rounded_to' | 'old_stored_at'>[]
  imported: readonly Interval[]
}

/** A value at the past instant. */
type PastValue = { value: string; roundedTo: number | null }

/**
 * Values known at an instant (milliseconds since 1970). `imported` are days whose values were imported later,
 * whatever instants they have.
 * @throws AppError `not-found` when the instant of a value is not recorded
 */
export function pastColumn(
  now: Column,
  { name, stored, revisions, imported }: ColumnLog,
  instant: number,
): Column {
  const replaced = replacedValues(revisions, instant)
  const spans = imported.map(({ from, to }) => ({ first: dayNumber(from), last: dayNumber(to) }))
  const runs = stored.map(({ from, storedAt }) => ({ first: dayNumber(from), isLater: storedAt > instant }))
  const days: number[] = []
  const values: string[] = []
  const rounded: number[] = []
  const faulty: number[] = [] // days whose replaced value is damaged
  const add = (day: number, value: string, roundedTo: number | null | undefined) => {
    if (spans.some(({ first, last }) => first <= day && day <= last)) return
    days.push(day)
    values.push(value)
    rounded.push(roundedTo ?? EXACT)
  }
  const addFormer = (day: number, { value, roundedTo }: PastValue) => {
    if (isCanonicalDecimal(value)) add(day, value, roundedTo)
    else faulty.push(day)
  }
  const discarded = discardedDays(now, replaced)
  let next = 0
  const addDiscarded = (before: number) => {
    for (let day = discarded[next]; day !== undefined && day < before; day = discarded[++next]) {
      const former = replaced.get(day)
      if (former) addFormer(day, former)
    }
  }
  let run = -1
  for (const [at, day] of now.days.entries()) {
    addDiscarded(day)
    while ((runs[run + 1]?.first ?? Number.POSITIVE_INFINITY) <= day) run += 1
    const former = replaced.get(day)
    if (former) addFormer(day, former)
    else if (!replaced.has(day) && !runs[run]?.isLater)
      add(day, columnValue(now, at), columnDecimals(now, at))
  }
  addDiscarded(Number.POSITIVE_INFINITY)
  if (days.length === now.days.length && replaced.size === 0) return now
  const restored = new Set(days)
  const gaps = now.damage?.days.filter(({ first, last }) => first < last || !restored.has(first)) ?? []
  const damaged = [...gaps, ...faulty.map((day) => ({ first: day, last: day }))]
  return withDamage(columnFromRows({ days, values, rounded }), name, damaged)
}

/** Days of replaced values that have none now, ascending. */
function discardedDays(now: Column, replaced: ReadonlyMap<number, unknown>): number[] {
  if (replaced.size === 0) return []
  const currentDays = new Set(now.days)
  return [...replaced.keys()].filter((day) => !currentDays.has(day)).sort((a, b) => a - b)
}

/** Replaced values by day number; undefined: none was known. */
function replacedValues(
  revisions: ColumnLog['revisions'],
  instant: number,
): ReadonlyMap<number, PastValue | undefined> {
  const replaced = new Map<number, PastValue | undefined>()
  for (const { rate_date, old_value, old_rounded_to, old_stored_at } of revisions) {
    const day = dayNumber(rate_date)
    if (replaced.has(day)) continue // the first replacement has the older value
    if (old_stored_at === null) throw unrecordedError(rate_date)
    const isKnown = old_stored_at <= instant
    replaced.set(day, isKnown ? { value: old_value, roundedTo: old_rounded_to } : undefined)
  }
  return replaced
}

/** Undoes changes of covered days; the newest change comes first. */
export function undoCoverage(
  now: readonly Interval[],
  changes: readonly CoveredDaysChange[],
): readonly Interval[] {
  return changes.reduce<readonly Interval[]>(
    (covered, { kind, days }) =>
      kind === 'added' ? subtractInterval(covered, days) : addInterval(covered, days),
    now,
  )
}

function unrecordedError(day: IsoDate): AppError {
  return new AppError('not-found', `since when the value of ${day} had been known is not in the record`)
}
