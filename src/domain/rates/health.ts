// Health of the stored rates of each provider (decisions#health). Reports stale rates, failed runs, progress of the
// first history, holes and rounded values. Holes and rounded values do not make it degraded.

import type { Provider, RateType } from '../../providers/provider.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { selectLastFinishedRun, selectNewestRun } from '../../store/rates/sync-runs.ts'
import type { ReadDb } from '../../store/tables.ts'
import { addDays, type Clock, currentDay, dayNumber, type IsoDate, isoDate } from '../../values/dates.ts'
import { findGaps, type Interval } from '../../values/intervals.ts'
import { activeProviders } from './active-providers.ts'
import { type CoveredDays, coveredIntervals } from './column.ts'
import { type BenchmarkSide, benchmarkSide, dueDay, isBenchmark, staleness } from './freshness.ts'
import { damageText } from './queries.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { lacksOnlyUnsynchronizedDays } from './unsynchronized.ts'

// A rejected row leaves a hole of one day; an unread history, one of a window or more.
const SHORT_HOLE_DAYS = 31

/** Progress of a run that reads a provider's history. */
export type HistoryReading = { provider: string; yearsRead: number; requestsLeft: number; doneAt: Date }

export type SeriesHole = Interval & { series_id: number; pair: string; rate_type: RateType }

/** A reason by its code. `since`: first day that is missing or damaged. `percent`: share of the history that is stored. */
export type ReasonCode =
  | { code: 'stale_side'; provider: string; rate_type: RateType; since: IsoDate }
  | { code: 'no_value'; provider: string; rate_type: RateType }
  | { code: 'history_loading'; provider: string; percent: number }
  | { code: 'last_run_failed'; provider: string }
  | { code: 'damaged'; provider: string; series_id: number; since: IsoDate }

export type RateHealth = {
  /** The same reasons as codes, in the same order. */
  reasonCodes: ReasonCode[]
  /** Reasons for degraded rates; empty: none. With several providers each reason names its own. */
  reasons: string[]
  /** Reasons that are stale sides of a benchmark. */
  stale: string[]
  /** Stale sides of required providers alone. */
  requiredStale: string[]
  /** First provider whose history of the benchmark is being read; undefined: none. */
  history:
    | {
        read_since: IsoDate | null
        wanted_since: IsoDate
        years_read?: number
        requests_left?: number
        done_at?: string
      }
    | undefined
  holes: SeriesHole[]
  /** True if all stored values are as published. */
  exact: boolean
  /** Sources of rounded values and the token that makes them exact, one text for each such provider. */
  rounded: string[]
}

export type HealthQuery = {
  clock: Clock
  providers: readonly Provider[]
  /** First day of a provider's benchmark to fetch. */
  findHistoryStart: (provider: Provider) => IsoDate
  /** Progress of a run that reads history. */
  reading: () => HistoryReading | undefined
  /** True if a second opinion on the dollar is requested. */
  hasSecondOpinion?: boolean
}

/** A provider with its row. */
type StoredProvider = { provider: Provider; row: ProviderRow }

export async function rateHealth(
  db: ReadDb,
  snapshot: RateSnapshot,
  query: HealthQuery,
): Promise<RateHealth> {
  const { clock, providers, findHistoryStart, reading } = query
  const { rounded, roundedSeries } = await snapshot.countRates()
  const health: RateHealth = {
    reasonCodes: [],
    reasons: [],
    stale: [],
    requiredStale: [],
    history: undefined,
    holes: snapshot.series.flatMap((series) => listHoles(series, snapshot.coveredDays(series.id))),
    exact: rounded === 0,
    rounded: [],
  }
  const isSingle = activeProviders(providers, snapshot.providers).length === 1
  for (const entry of storedProviders(snapshot, providers)) {
    const { provider, row } = entry
    const withCode = (words: string) => (isSingle ? words : `${provider.code}: ${words}`)
    const due = dueDay(provider, clock)
    const sides = await benchmarkSides(snapshot, entry, clock)
    const addReason = (reason: string, code: ReasonCode) => {
      health.reasons.push(reason)
      health.reasonCodes.push(code)
    }
    for (const side of sides) {
      const reason = staleness(provider, side, due)
      if (reason === undefined) continue
      health.stale.push(withCode(reason))
      if (!provider.isOptional) health.requiredStale.push(withCode(reason))
      addReason(withCode(reason), sideCode(provider, side))
    }
    const historyStart = findHistoryStart(provider)
    const oldestDay = oldestBenchmark(snapshot, entry)
    const isWhole = oldestDay !== undefined && oldestDay <= historyStart
    if (sides.length > 0 && !isWhole && (await isFetchingHistory(db, row.id, historyStart))) {
      const { noun } = provider.benchmark
      const since = oldestDay === undefined ? 'no day of it is there yet' : `it is there since ${oldestDay}`
      const percent = storedPercent(oldestDay, historyStart, due)
      addReason(withCode(`the history of the ${noun} is being fetched: ${since}`), {
        code: 'history_loading',
        provider: provider.code,
        percent,
      })
      health.history ??= {
        read_since: oldestDay ?? null,
        wanted_since: historyStart,
        ...readingProgress(reading(), provider),
      }
    }
    const last = isJudged(snapshot, row) ? await selectLastFinishedRun(db, row.id) : undefined
    if (last?.status === 'error') {
      const code = { code: 'last_run_failed', provider: provider.code } as const
      addReason(withCode(`the last run failed: ${last.message}`), code)
    }
    for (const { name, days } of snapshot.listDamage()) {
      const series = snapshot.series.find((one) => one.provider_id === row.id && name === `series ${one.id}`)
      if (!series) continue
      const since = isoDate(days[0]?.first ?? 0)
      const code = { code: 'damaged', provider: provider.code, series_id: series.id, since } as const
      addReason(withCode(damageText({ name, day: since })), code)
    }
    const isRounded = snapshot.series.some(
      ({ id, provider_id }) => provider_id === row.id && roundedSeries.has(id),
    )
    if (isRounded) health.rounded.push(roundedInWords(provider))
  }
  return health
}

/** Lists the synchronized sides of the benchmark of each provider. */
export function sidesOfProviders(
  snapshot: RateSnapshot,
  { clock, providers }: Pick<HealthQuery, 'clock' | 'providers'>,
): Promise<{ provider: Provider; sides: BenchmarkSide[] }[]> {
  return Array.fromAsync(storedProviders(snapshot, providers), async (entry) => ({
    provider: entry.provider,
    sides: await benchmarkSides(snapshot, entry, clock),
  }))
}

/** True if the runs of a provider count: those of a disabled one do not, unless none is enabled. */
export function isJudged(snapshot: RateSnapshot, row: ProviderRow): boolean {
  return row.enabled || snapshot.providers.every(({ enabled }) => !enabled)
}

function storedProviders(snapshot: RateSnapshot, providers: readonly Provider[]): StoredProvider[] {
  return activeProviders(providers, snapshot.providers).flatMap((provider) => {
    const row = snapshot.providers.find(({ code }) => code === provider.code)
    return row ? [{ provider, row }] : []
  })
}

function sideCode({ code }: Provider, { rateType, newest }: BenchmarkSide): ReasonCode {
  const facts = { provider: code, rate_type: rateType }
  return newest === undefined
    ? { code: 'no_value', ...facts }
    : { code: 'stale_side', ...facts, since: addDays(newest, 1) }
}

/** Whole percent of the days of the history that are stored. */
function storedPercent(oldestDay: IsoDate | undefined, from: IsoDate, to: IsoDate): number {
  if (oldestDay === undefined) return 0
  const days = (first: IsoDate) => dayNumber(to) - dayNumber(first) + 1
  return Math.min(99, Math.max(0, Math.floor((100 * days(oldestDay)) / days(from))))
}

function readingProgress(reading: HistoryReading | undefined, { code }: Provider) {
  if (reading?.provider !== code) return {}
  const { yearsRead, requestsLeft, doneAt } = reading
  return { years_read: yearsRead, requests_left: requestsLeft, done_at: doneAt.toISOString() }
}

function roundedInWords({ roundedSource, settings, code }: Provider): string {
  const values = `values of ${roundedSource ?? code}`
  return settings.token ? `${values}; with ${settings.token.name} they are read again` : values
}

async function benchmarkSides(
  snapshot: RateSnapshot,
  entry: StoredProvider,
  clock: Clock,
): Promise<BenchmarkSide[]> {
  const series = syncedBenchmark(snapshot, entry)
  const columns = await snapshot.columns(series)
  const today = currentDay(clock, entry.provider.timeZone)
  return series.map(({ rate_type }, at) => {
    const newest = columns[at]?.days.at(-1)
    return benchmarkSide(rate_type, newest === undefined ? undefined : isoDate(newest), today)
  })
}

function syncedBenchmark(snapshot: RateSnapshot, { provider, row }: StoredProvider): SeriesRow[] {
  if (!row.enabled) return []
  return snapshot.series.filter(
    (one) => one.enabled && one.provider_id === row.id && isBenchmark(provider, one),
  )
}

/** First day from which every side is covered up to its newest day, apart from short holes. */
function oldestBenchmark(snapshot: RateSnapshot, entry: StoredProvider): IsoDate | undefined {
  const begins = syncedBenchmark(snapshot, entry).map(({ id }) => beginOfNewest(snapshot.coveredDays(id)))
  if (begins.length === 0 || begins.includes(undefined)) return undefined
  return isoDate(Math.max(...(begins as number[])))
}

function beginOfNewest(covered: CoveredDays): number | undefined {
  let begin = covered.at(-2)
  for (let at = covered.length - 4; at >= 0 && begin !== undefined; at -= 2) {
    const hole = begin - (covered[at + 1] ?? 0) - 1
    if (hole > SHORT_HOLE_DAYS) break
    begin = covered[at]
  }
  return begin
}

/** True if a run for the whole history is under way or has not succeeded yet. */
async function isFetchingHistory(db: ReadDb, providerId: number, historyStart: IsoDate): Promise<boolean> {
  const run = await selectNewestRun(db, providerId)
  if (!run || run.date_from === null || run.date_from > historyStart) return false
  if (run.finished_at !== null && run.status === 'ok') return false
  // Days that the source itself has not synchronized are not awaited (decisions#health).
  const last = run.finished_at === null ? await selectLastFinishedRun(db, providerId) : run
  const isOfHistory = last !== undefined && last.date_from !== null && last.date_from <= historyStart
  return !isOfHistory || !lacksOnlyUnsynchronizedDays(last.cause, { isComplete: true })
}

function listHoles(series: SeriesRow, covered: CoveredDays): SeriesHole[] {
  const intervals = coveredIntervals(covered)
  const [first, last] = [intervals[0], intervals.at(-1)]
  if (!first || !last) return []
  return findGaps(intervals, { from: first.from, to: last.to }).map(({ from, to }) => ({
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    from,
    to,
  }))
}
