// One run over one provider: takes the lock, opens the record, reads, closes the record. Whatever happens in
// between, the record says it.

import { addDays, type Clock, type IsoDate, todayIn } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Provider, ProviderSettings, Session, Window } from '../providers/provider.ts'
import { selectCoverage } from '../store/feeds.ts'
import { takeLock } from '../store/lock.ts'
import { selectProviders } from '../store/providers.ts'
import { selectRatesIn, selectSeriesWithRates } from '../store/rates.ts'
import { selectSeries, selectSeriesOf } from '../store/series.ts'
import {
  closeInterruptedRuns,
  closeRun,
  INTERRUPTED,
  insertRun,
  type SyncRunRow,
} from '../store/sync-runs.ts'
import type { Db, SyncStatus, SyncTrigger } from '../store/tables.ts'
import { plannedRange, readEverything, readRange } from './order.ts'
import type { SyncProgress, SyncRecord } from './state.ts'

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
  const lock = takeLock(deps.dataDir, 'sync.lock')
  if (!lock) throw new AppError('conflict', `a sync is already running on ${deps.dataDir}`)
  try {
    await closeInterruptedRuns(deps.db, deps.clock().toISOString())
    const ends: SyncEnd[] = []
    for (const provider of enabled) ends.push(await recordRun(deps, provider, request))
    return ends
  } finally {
    lock.release()
  }
}

/** Whether a value of that day is stored for each enabled side of the dollar in colones. */
export async function hasDollarOf(db: Db, day: IsoDate): Promise<boolean> {
  const dollar = (await selectSeries(db)).filter(
    (one) => one.enabled && one.base_currency === 'USD' && one.quote_currency === 'CRC',
  )
  const ids = dollar.map(({ id }) => id)
  return (await selectRatesIn(db, ids, { from: day, to: day })).length === ids.length
}

async function recordRun(deps: SyncDeps, provider: Provider, request: SyncRequest): Promise<SyncEnd> {
  const { db, clock, log } = deps
  const record = await openRecord(deps, provider, request)
  const about = { run: record.runId, provider: provider.code, trigger: request.trigger }
  log.info('sync started', about)
  let session: Session | undefined
  try {
    session = provider.connect(deps.settings(), request.signal)
    const state = Object.assign(record, { session })
    if (request.range) await readRange(state, provider.feeds, request.range)
    else await readEverything(state, provider.feeds, deps.backfillFrom)
  } catch (error) {
    if (request.signal.aborted) record.problems.add(`${INTERRUPTED}: the program was stopped`)
    else {
      record.problems.add(reasonOf(error))
      const told = error instanceof AppError || !(error instanceof Error)
      log.error('sync failed', { ...about, cause: told ? reasonOf(error) : error.stack })
    }
  }
  for (const notice of session?.notices() ?? []) record.problems.add(notice.message)
  for (const problem of record.problems) log.warn('sync problem', { ...about, problem })
  const status: SyncStatus = record.problems.size === 0 ? 'ok' : record.answers > 0 ? 'parcial' : 'error'
  const run = await closeRun(db, record.runId, {
    ...record.counts,
    status,
    message: messageOf(record.problems),
    finishedAt: clock().toISOString(),
  })
  log.info('sync finished', { ...about, status, ...record.counts })
  return { run, current: await hasDollarOf(db, record.today) }
}

/** Opens the row of a run, and gathers what is known when it starts. */
async function openRecord(deps: SyncDeps, provider: Provider, request: SyncRequest): Promise<SyncRecord> {
  const { db, clock } = deps
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  if (!row) throw new AppError('failed', `the provider ${provider.code} is not in the database`)
  const today = todayIn(clock)
  const counts = { inserted: 0, updated: 0, unchanged: 0 }
  const base = {
    db,
    provider,
    providerId: row.id,
    today,
    tomorrow: addDays(today, 1),
    now: clock,
    ranged: request.range !== undefined,
    series: await selectSeriesOf(db, row.id),
    coverage: await selectCoverage(db),
    withRates: await selectSeriesWithRates(db),
    reread: new Set<number>(),
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

function messageOf(problems: ReadonlySet<string>): string | null {
  if (problems.size === 0) return null
  const text = [...problems].join('; ')
  return text.length > MAX_MESSAGE ? `${text.slice(0, MAX_MESSAGE)}…` : text
}
