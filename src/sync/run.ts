// One run over one provider: takes the lock, opens the record, reads, closes the record. Whatever happens in
// between, the record says it.

import { addDays, type Clock, type IsoDate, todayIn } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Feed, Provider, ProviderSettings, Window } from '../providers/provider.ts'
import { selectCoverage } from '../store/feeds.ts'
import { takeLock } from '../store/lock.ts'
import { selectProviders } from '../store/providers.ts'
import { selectRatesIn, selectSeriesWithRates } from '../store/rates.ts'
import { selectSeries } from '../store/series.ts'
import {
  closeInterruptedRuns,
  closeRun,
  INTERRUPTED,
  insertRun,
  type SyncRunRow,
} from '../store/sync-runs.ts'
import type { Db, SyncStatus, SyncTrigger } from '../store/tables.ts'
import { syncChunk } from './chunk.ts'
import { extendBackward, extendForward, type ForwardEnd, newestEdge } from './directions.ts'
import { currencyOf, type SyncProgress, type SyncState, seriesOf } from './state.ts'
import { forwardFrom, windowsOf } from './window.ts'

export type SyncRequest = {
  trigger: SyncTrigger
  /** Exactly these days, or undefined: what is new, then what is missing. */
  range: Window | undefined
  signal: AbortSignal
  /** Called after each committed chunk. */
  progress?: (progress: SyncProgress) => void
}

export type SyncDeps = {
  db: Db
  dataDir: string
  clock: Clock
  log: Log
  backfillFrom: IsoDate
  /** Read anew for each run. */
  settings: () => ProviderSettings
  /** Called after each commit of ours, so that the read model turns its page. */
  changed: () => Promise<void>
}

export type SyncEnd = { run: SyncRunRow /** Whether today's dollar is stored. */; current: boolean }

const MAX_MESSAGE = 2000
const CHUNK_ALONE_DAYS = 366

/**
 * One run over each enabled provider, in turn.
 * @throws AppError `conflict` when a sync is already running on the data directory
 */
export async function syncAll(
  deps: SyncDeps,
  providers: readonly Provider[],
  request: SyncRequest,
): Promise<SyncEnd[]> {
  const stored = await selectProviders(deps.db)
  const enabled = providers.filter((one) => stored.some(({ code, enabled }) => enabled && code === one.code))
  const ends: SyncEnd[] = []
  for (const provider of enabled) ends.push(await runSync(deps, provider, request))
  return ends
}

/** Whether a value of that day is stored for each enabled side of the dollar in colones. */
export async function hasDollarOf(db: Db, day: IsoDate): Promise<boolean> {
  const dollar = (await selectSeries(db)).filter(
    (one) => one.enabled && one.base_currency === 'USD' && one.quote_currency === 'CRC',
  )
  const ids = dollar.map(({ id }) => id)
  return (await selectRatesIn(db, ids, { from: day, to: day })).length === ids.length
}

async function runSync(deps: SyncDeps, provider: Provider, request: SyncRequest): Promise<SyncEnd> {
  const lock = takeLock(deps.dataDir, 'sync.lock')
  if (!lock) throw new AppError('conflict', `a sync is already running on ${deps.dataDir}`)
  try {
    await closeInterruptedRuns(deps.db, deps.clock().toISOString())
    return await recordRun(deps, provider, request)
  } finally {
    lock.release()
  }
}

async function recordRun(deps: SyncDeps, provider: Provider, request: SyncRequest): Promise<SyncEnd> {
  const { db, clock, log } = deps
  const state = await openState(deps, provider, request)
  const about = { run: state.runId, provider: provider.code, trigger: request.trigger }
  log.info('sync started', about)
  try {
    if (request.range) await readRange(state, provider.feeds, request.range)
    else await readEverything(state, provider.feeds, deps.backfillFrom)
  } catch (error) {
    if (request.signal.aborted) state.problems.add(`${INTERRUPTED}: the program was stopped`)
    else {
      state.problems.add(reasonOf(error))
      log.error('sync failed', { ...about, cause: error instanceof Error ? error.stack : String(error) })
    }
  }
  for (const notice of state.session.notices()) state.problems.add(notice.message)
  for (const problem of state.problems) log.warn('sync problem', { ...about, problem })
  const status: SyncStatus = state.problems.size === 0 ? 'ok' : state.answers > 0 ? 'parcial' : 'error'
  const run = await closeRun(db, state.runId, {
    ...state.counts,
    status,
    message: messageOf(state.problems),
    finishedAt: clock().toISOString(),
  })
  log.info('sync finished', { ...about, status, ...state.counts })
  return { run, current: await hasDollarOf(db, state.today) }
}

async function openState(deps: SyncDeps, provider: Provider, request: SyncRequest): Promise<SyncState> {
  const { db, clock } = deps
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) throw new AppError('failed', `the provider ${provider.code} is not in the database`)
  const today = todayIn(clock)
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  const base = {
    db,
    provider,
    providerId: row.id,
    session: provider.connect(deps.settings(), request.signal),
    signal: request.signal,
    today,
    tomorrow: addDays(today, 1),
    now: clock,
    ranged: request.range !== undefined,
    series: (await selectSeries(db)).filter((one) => one.provider_id === row.id),
    coverage: await selectCoverage(db),
    withRates: await selectSeriesWithRates(db),
    refused: new Set<number>(),
    counts,
    answers: 0,
    problems: new Set<string>(),
    stored: async (progress: SyncProgress) => {
      await deps.changed()
      request.progress?.(progress)
    },
  }
  const range = request.range ?? plannedRange({ ...base, runId: 0 }, deps.backfillFrom)
  const startedAt = clock().toISOString()
  const runId = await insertRun(db, {
    providerId: row.id,
    trigger: request.trigger,
    dateFrom: range.from,
    dateTo: range.to,
    startedAt,
  })
  return { ...base, runId }
}

/** The days that a run without a range may ask for. */
function plannedRange(state: SyncState, backfillFrom: IsoDate): Window {
  let from = state.tomorrow
  for (const feed of state.provider.feeds) {
    const start = forwardFrom(newestEdge(state, feed), state.tomorrow)
    const floor = feed.startsOn !== undefined && feed.startsOn > backfillFrom ? feed.startsOn : backfillFrom
    const whole = seriesOf(state, feed).every(({ id }) => (state.coverage.get(id)?.from ?? '9') <= floor)
    for (const day of whole ? [start] : [start, floor]) if (day < from) from = day
  }
  return { from, to: state.tomorrow }
}

async function readRange(state: SyncState, feeds: readonly Feed[], range: Window): Promise<void> {
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    for (const direction of windowsOf(range, feed.chunkDays, newestEdge(state, feed))) {
      for (const window of direction) {
        const result = await syncChunk(state, feed, window)
        if (!result) break
        if (window.to >= state.today) reportAbsent(state, feed, result.listed)
      }
    }
  }
}

async function readEverything(
  state: SyncState,
  feeds: readonly Feed[],
  backfillFrom: IsoDate,
): Promise<void> {
  const reached = new Map<Feed, IsoDate>()
  for (const feed of feeds) {
    if (seriesOf(state, feed).length === 0) continue
    const end = await extendForward(state, feed)
    if (!end) continue
    reportAbsent(state, feed, end.last.listed)
    reached.set(feed, end.from)
    for (const alone of laggards(state, feed, end)) {
      const own = await extendForward(state, alone)
      if (own && newestEdge(state, alone) === undefined) reached.set(alone, own.from)
    }
  }
  for (const [feed, below] of reached) {
    const whole = await extendBackward(state, feed, below, backfillFrom)
    if (!whole || feed.indicator !== undefined) continue
    for (const alone of unfinished(state, feed, backfillFrom)) {
      await extendBackward(state, alone, below, backfillFrom)
    }
  }
}

/** Series that the table's answer did not bring to its newest day, each to be asked for alone. */
function laggards(state: SyncState, feed: Feed, end: ForwardEnd): Feed[] {
  const edge = newestEdge(state, feed)
  if (feed.indicator !== undefined || edge === undefined) return []
  return (
    seriesOf(state, feed)
      .filter(({ id }) => (state.coverage.get(id)?.to ?? '') < edge)
      // A source without single series would only show the same table again.
      .filter(({ external_code }) => state.session.asksAlone || end.last.listed.has(external_code))
      .map(({ external_code }) => aloneFeed(feed, external_code))
  )
}

/** Series whose history does not reach down as far as asked for, each to be asked for alone. */
function unfinished(state: SyncState, feed: Feed, backfillFrom: IsoDate): Feed[] {
  return seriesOf(state, feed)
    .filter(({ id }) => (state.coverage.get(id)?.from ?? '') > backfillFrom)
    .map(({ external_code }) => aloneFeed(feed, external_code))
}

function aloneFeed(feed: Feed, indicator: string): Feed {
  return { ...feed, name: `${feed.name}/${indicator}`, indicator, chunkDays: CHUNK_ALONE_DAYS }
}

/** Says which currencies of the catalogue an answer that reaches up to today leaves out (upstream 3). */
function reportAbsent(state: SyncState, feed: Feed, listed: ReadonlySet<string>): void {
  if (feed.indicator !== undefined || listed.size === 0) return
  const absent = seriesOf(state, feed)
    .filter(({ external_code }) => !listed.has(external_code))
    .map(currencyOf)
  for (const entry of state.provider.catalogue) {
    if (entry.table !== feed.table || entry.externalCode !== undefined) continue
    const made = state.series.some(
      (one) => one.base_currency === entry.base && one.quote_currency === entry.quote,
    )
    if (!made) absent.push(currencyOf({ base_currency: entry.base, quote_currency: entry.quote }))
  }
  if (absent.length > 0) state.problems.add(`${feed.name}: absent from the answer: ${absent.join(', ')}`)
}

function messageOf(problems: ReadonlySet<string>): string | null {
  if (problems.size === 0) return null
  const text = [...problems].join('; ')
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}
