// Which of the published rows we believe, and what they change. Pure. A row is rejected with words rather
// than stored on a guess: of an indicator nobody asked for, outside the days asked for, not a positive
// decimal, or given twice with two values (upstream 1).

import { type IsoDate, isIsoDate } from '../dates.ts'
import { canonicalNumber, isBetween, product, ratio, withinHalfUnit } from '../decimal.ts'
import type { CatalogueSeries, Observation, Window } from '../providers/provider.ts'
import type { StoredRate } from '../store/rates.ts'
import type { RateRevision } from '../store/revisions.ts'
import type { SyncCounts } from '../store/sync-runs.ts'

/** An accepted value, of the series with this code. */
export type AcceptedRate = { code: string; day: IsoDate; value: string; roundedTo: number | null }

export type Judgement = {
  accepted: AcceptedRate[]
  /** Why a row was not accepted, one sentence each. */
  rejected: string[]
}

const MAX_DIGITS = 40 // the bank gives at most about 16; longer, written out, is a fault or malice

/** Judges rows of an answer. `codes` are the series that were asked for. */
export function judge(rows: readonly Observation[], codes: ReadonlySet<string>, asked: Window): Judgement {
  const accepted: AcceptedRate[] = []
  const rejected: string[] = []
  const dayFaults = new Map<string, string | undefined>() // a table has the same days for all its series
  const seen = new Map<string, Map<IsoDate, AcceptedRate>>() // by code
  const contradicted = new Set<AcceptedRate>()
  for (const { code, day, value: text, roundedTo } of rows) {
    const value = decimalOf(text)
    const fault = codes.has(code)
      ? (dayFaults.getOrInsertComputed(day, () => faultOfDay(day, asked)) ?? faultOfValue(text, value))
      : 'not the indicator asked for'
    if (fault !== undefined || value === undefined) {
      rejected.push(`${code.slice(0, 20)} on ${day.slice(0, 32)}: ${fault}`)
      continue
    }
    const rate = { code, day, value, roundedTo: roundedTo ?? null }
    const first = seen.getOrInsertComputed(code, () => new Map()).getOrInsert(day, rate)
    if (first === rate) accepted.push(rate)
    else if (first.value !== value) contradicted.add(first)
  }
  for (const { code, day } of contradicted) rejected.push(`${code} on ${day}: given twice with two values`)
  return { accepted: accepted.filter((rate) => !contradicted.has(rate)), rejected }
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
export function isQuotedInversely(value: string, band: CatalogueSeries['band']): boolean {
  if (!band) return false
  const wide = { low: product(band.low, '0.8'), high: product(band.high, '1.2') }
  return !isBetween(value, wide.low, wide.high) && isBetween(ratio(['1'], [value]), band.low, band.high)
}

export type Changes = SyncCounts & {
  writes: StoredRate[]
  /** The ids of the series whose values changed. */
  changed: Set<number>
  revisions: Pick<RateRevision, 'series_id' | 'rate_date' | 'old_value' | 'new_value'>[]
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
    const write = { series_id: id, rate_date: day, value, rounded_to: roundedTo }
    const old = known.get(id)?.get(day)
    if (!old) {
      changes.inserted += 1
      changes.changed.add(id)
      changes.writes.push(write)
    } else if (old.value === value || isOnlyRounder(value, roundedTo, old)) {
      changes.unchanged += 1
      // The same digits from the exact source: from now on a rounded value must not replace them.
      if (roundedTo === null && old.rounded_to !== null) changes.writes.push(write)
    } else {
      changes.updated += 1
      changes.changed.add(id)
      changes.writes.push(write)
      changes.revisions.push({ series_id: id, rate_date: day, old_value: old.value, new_value: value })
    }
  }
  return changes
}

/** The website rounds: its value says nothing new about an exact one that it agrees with (upstream 2). */
function isOnlyRounder(value: string, roundedTo: number | null, old: StoredRate): boolean {
  return roundedTo !== null && old.rounded_to === null && withinHalfUnit(value, old.value, roundedTo)
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
}
