// State of one run: filled at its start, updated after each committed window.

import type { Provider, SeriesGroup, SourceConnection, Window } from '../providers/provider.ts'
import type { Lock } from '../store/engine.ts'
import type { SeriesRow } from '../store/rates/series.ts'
import type { SyncCounts } from '../store/rates/sync-runs.ts'
import type { CoverageKind, WriteDb } from '../store/tables.ts'
import type { IsoDate } from '../values/dates.ts'
import type { Interval } from '../values/intervals.ts'
import type { Problems } from './problems.ts'

/** Last stored window. */
export type SyncProgress = { group: string; window: Window }

export type AcceptedJump = { seriesId: number; day: IsoDate }

export type RunContext = {
  readonly db: WriteDb
  readonly provider: Provider
  readonly providerId: number
  readonly runId: number
  /** Lock of the sync. */
  readonly lock: Lock
  /** Day by the clock of this machine, but not later than by the clock of the source. */
  today: IsoDate
  tomorrow: IsoDate
  readonly now: () => Date
  series: SeriesRow[]
  /** Covered days of each series. */
  covered: Record<CoverageKind, Map<number, readonly Interval[]>>
  /** Day of the oldest stored value by series. */
  firstValues: Map<number, IsoDate>
  /** Day of the newest stored value by series. */
  newestValues: Map<number, IsoDate>
  /** Days of withheld values without a stored one by series, ascending. */
  withheldDays: Map<number, readonly IsoDate[]>
  /** Day of a series whose value the operator accepts. */
  acceptedJump: AcceptedJump | undefined
  /** Days answered in this run by series. */
  answered: Map<number, readonly Interval[]>
  /** Years, as `SERIES YEAR`, with a stored value that this run read again and did not confirm. */
  unconfirmed: Set<string>
  /** Days by series that the source reports as not synchronized. This run does not request them again. */
  unsynchronized: Map<number, readonly Interval[]>
  /** Days by table that are not synchronized. Each series of the table may lack some of them. */
  unsynchronizedTables: Map<string, readonly Interval[]>
  /** Remaining requests around such days. */
  extraRequests: number
  /** True when these requests did not suffice. */
  needsExtraRequests: boolean
  /** Series refused in this run because they are quoted in the other direction. */
  refused: Set<number>
  counts: SyncCounts
  /** Number of valid answers. */
  answers: number
  /** Problems for the operator, each once. */
  problems: Problems
  readonly onStored: (progress: SyncProgress) => Promise<void>
}

/** State of a run that is connected to its provider. */
export type RunState = RunContext & { readonly connection: SourceConnection }

/** Returns the enabled series of a group that this run has not refused. */
export function enabledSeries(state: RunContext, group: SeriesGroup): SeriesRow[] {
  return state.series.filter(
    (one) =>
      one.enabled &&
      !state.refused.has(one.id) &&
      (group.indicators === undefined
        ? seriesTable(state.provider, one) === group.table
        : group.indicators.includes(one.external_code)),
  )
}

/** Returns the table of a stored series, by its pair and side. */
function seriesTable(provider: Provider, series: SeriesRow): string | undefined {
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

/** Names a series by its pair, and by its side if it has one. */
export function describePair({ base_currency, quote_currency, rate_type }: SeriesRow): string {
  return `${base_currency}/${quote_currency}${rate_type === 'referencia' ? '' : ` ${rate_type}`}`
}

/** Returns the currency of a series that is not the pivot. */
export function seriesCurrency(
  { pivot }: Provider,
  series: { base_currency: string; quote_currency: string },
): string {
  return series.base_currency === pivot ? series.quote_currency : series.base_currency
}
