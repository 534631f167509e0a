// Which of the published rows we believe, and what they change. Pure. A row is rejected with words rather
// than stored on a guess: of an indicator that was not asked for, outside the days asked for, not a positive
// decimal, or given twice with two values (upstream 1).

import { type IsoDate, isIsoDate } from '../dates.ts'
import { canonicalNumber, isBetween, product, ratio, withinHalfUnit } from '../decimal.ts'
import type { CatalogueSeries, Observation, Window } from '../providers/provider.ts'
import type { StoredRate } from '../store/rates/rates.ts'
import type { RateRevision } from '../store/rates/record.ts'
import type { SyncCounts } from '../store/sync-runs.ts'

/** An accepted value, of the series with this code. */
export type AcceptedRate = { code: string; day: IsoDate; value: string; roundedTo: number | null }

export type ValidatedRows = {
  accepted: AcceptedRate[]
  /** Why a row was not accepted, one sentence each. */
  rejected: string[]
  /** By series that was asked for, the days asked for of which a row was rejected. */
  rejectedDays: Map<string, Set<IsoDate>>
  /** The series that were asked for of which a row had no readable day: which day is missing is not known. */
  undated: Set<string>
}

const MAX_DIGITS = 40 // the bank gives at most about 16; longer, written out, is a fault or malice

/** Judges rows of an answer. `codes` are the series that were asked for. */
export function validateRows(
  rows: readonly Observation[],
  codes: ReadonlySet<string>,
  asked: Window,
): ValidatedRows {
  const accepted: AcceptedRate[] = []
  const rejected: string[] = []
  const rejectedDays = new Map<string, Set<IsoDate>>()
  const undated = new Set<string>()
  const reject = (code: string, day: string, fault: string) => {
    rejected.push(`${code.slice(0, 20)} on ${day.slice(0, 32)}: ${fault}`)
    if (!codes.has(code)) return
    if (!isIsoDate(day)) undated.add(code)
    else if (day >= asked.from && day <= asked.to) {
      rejectedDays.getOrInsertComputed(code, () => new Set()).add(day)
    }
  }
  const dayFaults = new Map<string, string | undefined>() // a table has the same days for all its series
  const seen = new Map<string, Map<IsoDate, AcceptedRate>>() // by code
  const contradicted = new Set<AcceptedRate>()
  for (const { code, day, value: text, roundedTo } of rows) {
    const value = decimalOf(text)
    const fault = codes.has(code)
      ? (dayFaults.getOrInsertComputed(day, () => faultOfDay(day, asked)) ?? faultOfValue(text, value))
      : 'not the indicator asked for'
    if (fault !== undefined || value === undefined) {
      reject(code, day, fault ?? 'not a decimal')
      continue
    }
    const rate = { code, day, value, roundedTo: roundedTo ?? null }
    const first = seen.getOrInsertComputed(code, () => new Map()).getOrInsert(day, rate)
    if (first === rate) accepted.push(rate)
    else if (first.value !== value) contradicted.add(first)
  }
  for (const { code, day } of contradicted) reject(code, day, 'given twice with two values')
  const believed = accepted.filter((rate) => !contradicted.has(rate))
  return { accepted: believed, rejected, rejectedDays, undated }
}

function faultOfDay(day: string, asked: Window): string | undefined {
  if (!isIsoDate(day)) return 'not a date'
  return day < asked.from || day > asked.to ? `outside ${asked.from} to ${asked.to}` : undefined
}

function faultOfValue(text: string, value: string | undefined): string | undefined {
  if (value === undefined) return `${excerpt(text)} is not a decimal`
  return value === '0' || value.startsWith('-') ? `${value} is not positive` : undefined
}

function decimalOf(text: string): string | undefined {
  if (text.length > MAX_DIGITS) return undefined
  const value = canonicalNumber(text)
  return value !== undefined && value.length <= MAX_DIGITS ? value : undefined
}

/**
 * Whether a series is quoted in the other direction than the catalogue says: its newest value is more than
 * 20 percent outside the plausible band and its inverse is inside (upstream 3).
 */
export function isQuotedInversely(value: string, plausibleRange: CatalogueSeries['plausibleRange']): boolean {
  if (!plausibleRange) return false
  const wide = { low: product(plausibleRange.low, '0.8'), high: product(plausibleRange.high, '1.2') }
  return (
    !isBetween(value, wide.low, wide.high) &&
    isBetween(ratio(['1'], [value]), plausibleRange.low, plausibleRange.high)
  )
}

export type Changes = SyncCounts & {
  writes: Omit<StoredRate, 'stored_at'>[]
  /** The ids of the series of which an answer may now be another. */
  changed: Set<number>
  revisions: Omit<RateRevision, 'id' | 'replaced_at' | 'run_id'>[]
}

/** What the accepted values change of the stored ones. */
export function changesOf(
  accepted: readonly AcceptedRate[],
  idOf: ReadonlyMap<string, number>,
  stored: readonly StoredRate[],
): Changes {
  const known = new Map<number, Map<IsoDate, StoredRate>>()
  for (const [id, rates] of Map.groupBy(stored, ({ series_id }) => series_id)) {
    known.set(id, new Map(rates.map((rate) => [rate.rate_date, rate])))
  }
  const changes: Changes = {
    inserted: 0,
    updated: 0,
    unchanged: 0,
    writes: [],
    changed: new Set(),
    revisions: [],
  }
  for (const { code, day, value, roundedTo } of accepted) {
    const id = idOf.get(code)
    if (id === undefined) continue
    const old = known.get(id)?.get(day)
    const isSame = old?.value === value
    if (!old) changes.inserted += 1
    else if (isSame || saysLess(value, roundedTo, old)) changes.unchanged += 1
    else changes.updated += 1
    if (old && !saysMore(value, roundedTo, old)) continue
    changes.changed.add(id)
    changes.writes.push({ series_id: id, rate_date: day, value, rounded_to: roundedTo })
    if (!old) continue
    changes.revisions.push({
      series_id: id,
      rate_date: day,
      kind: isRefined(value, roundedTo, old) ? 'refined' : 'correction',
      old_value: old.value,
      old_rounded_to: old.rounded_to,
      old_stored_at: old.stored_at,
      new_value: value,
    })
  }
  return changes
}

/** Whether an answer says anything that is not known: other digits, or the same from a source that rounds less. */
function saysMore(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (value === old.value) return precisionOf(roundedTo) > precisionOf(old.rounded_to)
  return !saysLess(value, roundedTo, old)
}

/** A rounded value says nothing new about one that is less rounded and that it agrees with (upstream 2). */
function saysLess(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (roundedTo === null || precisionOf(old.rounded_to) <= roundedTo) return false
  return withinHalfUnit(value, old.value, roundedTo)
}

/** Whether a value that is less rounded agrees with the old one: then the bank corrected nothing (decisions 2.6). */
function isRefined(value: string, roundedTo: number | null, old: StoredRate): boolean {
  if (old.rounded_to === null || precisionOf(roundedTo) <= old.rounded_to) return false
  return withinHalfUnit(value, old.value, old.rounded_to)
}

function precisionOf(roundedTo: number | null): number {
  return roundedTo ?? Number.POSITIVE_INFINITY
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
