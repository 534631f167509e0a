// Validates published rows and compares them with stored values. Pure. A row is rejected with a reason rather than
// stored on a guess. Reasons: an unrequested indicator, a day outside the window, no positive decimal, two values for
// a day (upstream 1).

import type { CatalogueSeries, Observation, Window } from '../../providers/provider.ts'
import { publishedNumber } from '../../providers/published-value.ts'
import type { RateRevision } from '../../store/rates/change-log.ts'
import type { NewRate } from '../../store/rates/rate-writer.ts'
import type { StoredRate } from '../../store/rates/rates.ts'
import type { SyncCounts } from '../../store/rates/sync-runs.ts'
import { type IsoDate, isIsoDate } from '../../values/dates.ts'
import {
  isCanonicalDecimal,
  isInRange,
  isPositive,
  product,
  ratio,
  withinHalfUnit,
} from '../../values/decimal.ts'

/** Accepted value of the series with this code. */
export type AcceptedRate = { code: string; day: IsoDate; value: string; roundedTo: number | null }

export type ValidatedRows = {
  accepted: AcceptedRate[]
  /** Reasons, one sentence for each rejected row. */
  rejected: string[]
  /** Requested days with a rejected row, by series. */
  rejectedDays: Map<string, Set<IsoDate>>
  /** Requested series with a row without a valid day, or of a later one: any day may be missing. */
  undated: Set<string>
}

/** Validates the rows of an answer. `codes` are the requested series; `anySign`: negative values and zero are valid. */
export function validateRows(
  rows: readonly Observation[],
  codes: ReadonlySet<string>,
  window: Window,
  { anySign = false } = {},
): ValidatedRows {
  const accepted: AcceptedRate[] = []
  const rejected: string[] = []
  const rejectedDays = new Map<string, Set<IsoDate>>()
  const undated = new Set<string>()
  const reject = (code: string, day: string, fault: string) => {
    rejected.push(`${code.slice(0, 20)} on ${day.slice(0, 32)}: ${fault}`)
    if (!codes.has(code)) return
    if (!isIsoDate(day) || day > window.to) undated.add(code)
    else if (day >= window.from) rejectedDays.getOrInsertComputed(code, () => new Set()).add(day)
  }
  const dayFaults = new Map<string, string | undefined>() // a table has the same days for all its series
  const firstRates = new Map<string, Map<IsoDate, AcceptedRate>>() // by code
  const contradicted = new Set<AcceptedRate>()
  for (const { code, day, value: text, roundedTo } of rows) {
    const value = publishedNumber(text)
    const fault = codes.has(code)
      ? (dayFaults.getOrInsertComputed(day, () => findDayFault(day, window)) ??
        findValueFault(text, value, anySign))
      : 'not the indicator asked for'
    if (fault !== undefined || value === undefined) {
      reject(code, day, fault ?? 'not a decimal')
      continue
    }
    const rate = { code, day, value, roundedTo: roundedTo ?? null }
    const first = firstRates.getOrInsertComputed(code, () => new Map()).getOrInsert(day, rate)
    if (first === rate) accepted.push(rate)
    else if (first.value !== value) contradicted.add(first)
  }
  for (const { code, day } of contradicted) reject(code, day, 'given twice with two values')
  const consistent = accepted.filter((rate) => !contradicted.has(rate))
  return { accepted: consistent, rejected, rejectedDays, undated }
}

function findDayFault(day: string, window: Window): string | undefined {
  if (!isIsoDate(day)) return 'not a date'
  return day < window.from || day > window.to ? `outside ${window.from} to ${window.to}` : undefined
}

function findValueFault(text: string, value: string | undefined, anySign: boolean): string | undefined {
  if (value === undefined) return `${quotedExcerpt(text)} is not a decimal`
  return anySign || isPositive(value) ? undefined : `${value} is not positive`
}

/**
 * Returns true when a series is quoted in the other direction than in the catalogue. Its newest value is more than 20
 * percent outside the plausible band, and its inverse is inside (upstream 3).
 */
export function isQuotedInversely(value: string, plausibleRange: CatalogueSeries['plausibleRange']): boolean {
  if (!plausibleRange) return false
  const wide = { low: product(plausibleRange.low, '0.8'), high: product(plausibleRange.high, '1.2') }
  return (
    !isInRange(value, wide.low, wide.high) &&
    isInRange(ratio(['1'], [value]), plausibleRange.low, plausibleRange.high)
  )
}

export type Changes = SyncCounts & {
  writes: NewRate[]
  revisions: Omit<RateRevision, 'id' | 'replaced_at' | 'run_id'>[]
}

/** Compares accepted values with stored ones. `isDamaged`: whether the sums of the stored value's year show damage. */
export function compareRates(
  accepted: readonly AcceptedRate[],
  idByCode: ReadonlyMap<string, number>,
  stored: readonly StoredRate[],
  isDamaged = (_id: number, _day: IsoDate) => false,
): Changes {
  const storedRates = new Map<number, Map<IsoDate, StoredRate>>()
  for (const [id, rates] of Map.groupBy(stored, ({ series_id }) => series_id)) {
    storedRates.set(id, new Map(rates.map((rate) => [rate.rate_date, rate])))
  }
  const changes: Changes = {
    inserted: 0,
    updated: 0,
    unchanged: 0,
    writes: [],
    revisions: [],
  }
  for (const { code, day, value, roundedTo } of accepted) {
    const id = idByCode.get(code)
    if (id === undefined) continue
    const old = storedRates.get(id)?.get(day)
    const isSame = old?.value === value
    const isSound = old === undefined || isSame || isCanonicalDecimal(old.value)
    if (!old) changes.inserted += 1
    else if (isSame || (isSound && isLessPrecise(value, roundedTo, old))) changes.unchanged += 1
    else changes.updated += 1
    if (old && isSound && !isMorePrecise(value, roundedTo, old)) continue
    const write: NewRate = { series_id: id, rate_date: day, value, rounded_to: roundedTo }
    changes.writes.push(write)
    if (!old) continue
    const isExact = isSound && isRefined(value, roundedTo, old)
    const isRepaired = !isExact && (!isSound || isDamaged(id, day))
    if (isRepaired) write.stored_at = old.stored_at
    changes.revisions.push({
      series_id: id,
      rate_date: day,
      kind: isExact ? 'refined' : isRepaired ? 'repaired' : 'correction',
      old_value: old.value,
      old_rounded_to: old.rounded_to,
      old_stored_at: old.stored_at,
      new_value: value,
    })
  }
  return changes
}

/** Returns true for other digits, or for the same value from a source that rounds less. */
function isMorePrecise(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (value === old.value) return precision(roundedTo) > precision(old.rounded_to)
  return !isLessPrecise(value, roundedTo, old)
}

/** Returns true for a rounded value that agrees with a less rounded stored one (upstream 2). */
function isLessPrecise(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (roundedTo === null || precision(old.rounded_to) <= roundedTo) return false
  return withinHalfUnit(value, old.value, roundedTo)
}

/**
 * Returns true for a less rounded value that agrees with the stored one. Then the bank corrected nothing
 * (decisions#day).
 */
function isRefined(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (old.rounded_to === null || precision(roundedTo) <= old.rounded_to) return false
  return withinHalfUnit(value, old.value, old.rounded_to)
}

function precision(roundedTo: number | null): number {
  return roundedTo ?? Number.POSITIVE_INFINITY
}

function quotedExcerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
