// What there is to say of the stored rates, provider by provider: why they are not well, how far the first history is,
// which days are missing between others, whether values are rounded (decisions 2.11). Holes and rounded values are no
// reason to be degraded.

import { type Clock, type IsoDate, isoOf, todayIn } from '../../dates.ts'
import { gapsIn, type Interval } from '../../intervals.ts'
import type { Provider, RateType } from '../../providers/provider.ts'
import type { ProviderRow } from '../../store/rates/providers.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { selectLastFinishedRunOf, selectNewestRun } from '../../store/sync-runs.ts'
import type { Db } from '../../store/tables.ts'
import type { CoveredDays } from './column.ts'
import { type BenchmarkSide, benchmarkSide, dueDay, isBenchmark, staleness } from './freshness.ts'
import type { RateSnapshot } from './rate-cache.ts'
import { lacksOnlyUnsynchronizedDays } from './unsynchronized.ts'

// A row that was rejected leaves a hole of a day; a history that is still to be read, one of a window or more.
const SHORT_HOLE_DAYS = 31

/** How far the reading of a provider's history is, while a run reads it. */
export type HistoryReading = { provider: string; yearsRead: number; requestsLeft: number; doneAt: Date }

export type Hole = { series_id: number; pair: string; rate_type: RateType; from: IsoDate; to: IsoDate }

export type RateHealth = {
  /** Why the rates are not well; empty: they are. Where there are several providers, each reason names its own. */
  reasons: string[]
  /** The reasons that are stale sides of a benchmark. */
  stale: string[]
  /** Of the first provider whose history of the benchmark is being fetched; undefined: there is none. */
  history:
    | {
        read_since: IsoDate | null
        wanted_since: IsoDate
        years_read?: number
        requests_left?: number
        done_at?: string
      }
    | undefined
  holes: Hole[]
  /** Whether all stored values are as published. */
  exact: boolean
  /** Where rounded values are from, and what makes them exact: one text for each provider that has some. */
  rounded: string[]
}

export type HealthQuestion = {
  clock: Clock
  providers: readonly Provider[]
  /** The first day of a provider's benchmark that is fetched. */
  historyFrom: (provider: Provider) => IsoDate
  /** How far a run under way is with the history. */
  reading: () => HistoryReading | undefined
}

/** A provider with its row. */
type Known = { provider: Provider; row: ProviderRow }

export async function rateHealth(
  db: Db,
  snapshot: RateSnapshot,
  question: HealthQuestion,
): Promise<RateHealth> {
  const { clock, providers, historyFrom, reading } = question
  const { rounded, roundedSeries } = await snapshot.countRates()
  const health: RateHealth = {
    reasons: [],
    stale: [],
    history: undefined,
    holes: snapshot.series.flatMap((series) => holesOf(series, snapshot.coveredOf(series.id))),
    exact: rounded === 0,
    rounded: [],
  }
  for (const known of knownOf(snapshot, providers)) {
    const { provider, row } = known
    const named = (words: string) => (providers.length > 1 ? `${provider.code}: ${words}` : words)
    const due = dueDay(provider, clock)
    const sides = await benchmarkSides(snapshot, known, clock)
    const stale = sides.flatMap((side) => staleness(provider, side, due) ?? []).map(named)
    health.stale.push(...stale)
    health.reasons.push(...stale)
    const wantedSince = historyFrom(provider)
    if (await isFetchingHistory(db, snapshot, known, wantedSince)) {
      const readSince = oldestBenchmark(snapshot, known)
      const { noun } = provider.benchmark
      const since = `it is there since ${readSince ?? 'no day yet'}`
      health.reasons.push(named(`the history of the ${noun} is being fetched: ${since}`))
      health.history ??= {
        read_since: readSince ?? null,
        wanted_since: wantedSince,
        ...progressOf(reading(), provider),
      }
    }
    const last = isJudged(snapshot, row) ? await selectLastFinishedRunOf(db, row.id) : undefined
    if (last?.status === 'error') health.reasons.push(named(`the last run failed: ${last.message}`))
    const isRounded = snapshot.series.some(
      ({ id, provider_id }) => provider_id === row.id && roundedSeries.has(id),
    )
    if (isRounded) health.rounded.push(roundedInWords(provider))
  }
  return health
}

/** Of each provider, the sides of its benchmark that are synchronized. */
export async function sidesOfProviders(
  snapshot: RateSnapshot,
  { clock, providers }: Pick<HealthQuestion, 'clock' | 'providers'>,
): Promise<{ provider: Provider; sides: BenchmarkSide[] }[]> {
  const found: { provider: Provider; sides: BenchmarkSide[] }[] = []
  for (const known of knownOf(snapshot, providers)) {
    found.push({ provider: known.provider, sides: await benchmarkSides(snapshot, known, clock) })
  }
  return found
}

/** Whether the runs of a provider count: those of a disabled one do not, unless none is enabled. */
export function isJudged(snapshot: RateSnapshot, row: ProviderRow): boolean {
  return row.enabled || snapshot.providers.every(({ enabled }) => !enabled)
}

function knownOf(snapshot: RateSnapshot, providers: readonly Provider[]): Known[] {
  return providers.flatMap((provider) => {
    const row = snapshot.providers.find(({ code }) => code === provider.code)
    return row ? [{ provider, row }] : []
  })
}

function progressOf(reading: HistoryReading | undefined, { code }: Provider) {
  if (reading?.provider !== code) return {}
  const { yearsRead, requestsLeft, doneAt } = reading
  return { years_read: yearsRead, requests_left: requestsLeft, done_at: doneAt.toISOString() }
}

function roundedInWords({ roundedSource, settings, code }: Provider): string {
  const values = `values of ${roundedSource ?? code}`
  return settings.token ? `${values}; with ${settings.token.name} they are read again` : values
}

async function benchmarkSides(snapshot: RateSnapshot, known: Known, clock: Clock): Promise<BenchmarkSide[]> {
  const series = syncedBenchmark(snapshot, known)
  const columns = await snapshot.columns(series)
  const today = todayIn(clock, known.provider.timeZone)
  return series.map(({ rate_type }, at) => {
    const newest = columns[at]?.days.at(-1)
    return benchmarkSide(rate_type, newest === undefined ? undefined : isoOf(newest), today)
  })
}

function syncedBenchmark(snapshot: RateSnapshot, { provider, row }: Known): SeriesRow[] {
  if (!row.enabled) return []
  return snapshot.series.filter(
    (one) => one.enabled && one.provider_id === row.id && isBenchmark(provider, one),
  )
}

/** The day since which the newest days of every side are covered, but for short holes. */
function oldestBenchmark(snapshot: RateSnapshot, known: Known): IsoDate | undefined {
  const begins = syncedBenchmark(snapshot, known).map(({ id }) => beginOfNewest(snapshot.coveredOf(id)))
  if (begins.length === 0 || begins.includes(undefined)) return undefined
  return isoOf(Math.max(...(begins as number[])))
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

/** Whether a run that asks for the whole history is under way, or has not come to a good end. */
async function isFetchingHistory(
  db: Db,
  snapshot: RateSnapshot,
  known: Known,
  historyFrom: IsoDate,
): Promise<boolean> {
  const readSince = oldestBenchmark(snapshot, known)
  if (syncedBenchmark(snapshot, known).length === 0) return false
  if (readSince !== undefined && readSince <= historyFrom) return false
  const run = await selectNewestRun(db, known.row.id)
  if (!run || run.date_from === null || run.date_from > historyFrom) return false
  if (run.finished_at !== null && run.status === 'ok') return false
  // Days that the source says it has not synchronized itself are no history that is still to come (decisions 2.11).
  const last = run.finished_at === null ? await selectLastFinishedRunOf(db, known.row.id) : run
  const isOfHistory = last !== undefined && last.date_from !== null && last.date_from <= historyFrom
  return !isOfHistory || !lacksOnlyUnsynchronizedDays(last.message, { isComplete: true })
}

function holesOf(series: SeriesRow, covered: CoveredDays): Hole[] {
  const intervals: Interval[] = []
  for (let at = 0; at < covered.length; at += 2) {
    intervals.push({ from: isoOf(covered[at] ?? 0), to: isoOf(covered[at + 1] ?? 0) })
  }
  const [first, last] = [intervals[0], intervals.at(-1)]
  if (!first || !last) return []
  return gapsIn(intervals, { from: first.from, to: last.to }).map(({ from, to }) => ({
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    from,
    to,
  }))
}
