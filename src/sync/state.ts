// What one run knows while it goes: filled at its start, brought up to date after each committed window.

import type { IsoDate } from '../dates.ts'
import type { Interval } from '../intervals.ts'
import type { Provider, SeriesGroup, Session, Window } from '../providers/provider.ts'
import type { Lock } from '../store/engine.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import type { SyncCounts } from '../store/sync-runs.ts'
import type { CoverageKind, Db } from '../store/tables.ts'

/** What was stored last. */
export type SyncProgress = { group: string; window: Window }

export type SyncRecord = {
  readonly db: Db
  readonly provider: Provider
  readonly providerId: number
  readonly runId: number
  /** That of a sync. */
  readonly lock: Lock
  /** By the clock of this machine, but not later than by that of the source. */
  today: IsoDate
  tomorrow: IsoDate
  readonly now: () => Date
  series: SeriesRow[]
  /** Covered days of each series. */
  covered: Record<CoverageKind, Map<number, readonly Interval[]>>
  /** The day of the oldest stored value of each series that has one. */
  firstValues: Map<number, IsoDate>
  /** The day of the newest one. */
  newestValues: Map<number, IsoDate>
  /** The days of each series that were answered in this run. */
  answered: Map<number, readonly Interval[]>
  /** The days of each series that the source says it has not synchronized itself: not requested again in this run. */
  unsynchronized: Map<number, readonly Interval[]>
  /** The same of whole tables, of whose series each lacks some of these days. */
  unsynchronizedTables: Map<string, readonly Interval[]>
  /** Requests that the run may still make around such days. */
  extraRequests: number
  /** Whether these were too few. */
  needsExtraRequests: boolean
  /** Series refused in this run because they are quoted in the other direction. */
  refused: Set<number>
  counts: SyncCounts
  /** Valid answers so far. */
  answers: number
  /** What failed, in words for the administrator; each once. */
  problems: Set<string>
  readonly stored: (progress: SyncProgress) => Promise<void>
}

/** What a run knows once it talks with its provider. */
export type SyncState = SyncRecord & { readonly session: Session }

/** The enabled series that are read with a group, in this run. */
export function seriesOf(state: SyncRecord, group: SeriesGroup): SeriesRow[] {
  return state.series.filter(
    (one) =>
      one.enabled &&
      !state.refused.has(one.id) &&
      (group.indicators === undefined
        ? tableOf(state.provider, one) === group.table
        : group.indicators.includes(one.external_code)),
  )
}

/** The table that a stored series is read from, found by its pair and side. */
export function tableOf(provider: Provider, series: SeriesRow): string | undefined {
  return catalogueEntry(provider, series)?.table
}

export function catalogueEntry(
  provider: Provider,
  series: SeriesRow,
): Provider['catalogue'][number] | undefined {
  return provider.catalogue.find(
    (entry) =>
      entry.base === series.base_currency &&
      entry.quote === series.quote_currency &&
      entry.rateType === series.rate_type,
  )
}

/** The currency by which an administrator knows a series: the one that is not the pivot. */
export function currencyOf(
  { pivot }: Provider,
  series: { base_currency: string; quote_currency: string },
): string {
  return series.base_currency === pivot ? series.quote_currency : series.base_currency
}
