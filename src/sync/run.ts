// Run of a sync over one provider: takes the lock, opens a row, reads, closes the row. The row is closed after errors
// too.

import { hashOfSecret } from '../domain/access/secrets.ts'
import { dueDay, dueInWords, isBenchmark } from '../domain/rates/freshness.ts'
import { renewOutdatedSums } from '../domain/rates/rate-sums.ts'
import { lacksOnlyUnsynchronizedDays } from '../domain/rates/unsynchronized.ts'
import type { Provider, ProviderSettings, SourceConnection, Window } from '../providers/provider.ts'
import { AppError, errorReason } from '../runtime/errors.ts'
import type { Log, LogFields } from '../runtime/log.ts'
import { lostDatabaseError } from '../runtime/storage-error.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { findSyncedRow, selectProviders } from '../store/rates/providers.ts'
import { selectRates } from '../store/rates/rates.ts'
import { selectProviderSeries } from '../store/rates/series.ts'
import { INTERRUPTED, insertRun, type SyncRunRow } from '../store/rates/sync-runs.ts'
import type { ReadDb, RunCause, SyncStatus, SyncTrigger } from '../store/tables.ts'
import type { IsoDate } from '../values/dates.ts'
import { type LockDeps, withSyncLock } from './lock.ts'
import { createMeter, type Meter } from './meter.ts'
import { errorFailure } from './problems.ts'
import type { HistoryProgress, RunProgress } from './progress.ts'
import { finishRun } from './publication.ts'
import { addNotices, loadContext, runProblems, runStatus, unsynchronizedProblem } from './run-context.ts'
import { GAVE_WAY } from './run-queue.ts'
import type { AcceptedJump, RunContext, SyncProgress } from './state.ts'
import { plannedRange, readEverything, readRange } from './windows/order.ts'
import { healYears } from './windows/repairs.ts'

export type SyncRequest = {
  trigger: SyncTrigger
  /** Days to read. Undefined: the newest days, then the missing ones. */
  range: Window | undefined
  /** Accepts the value of a day, however far it is from others. The range is that day. */
  acceptedJump?: AcceptedJump | undefined
  signal: AbortSignal
  /** Called after each committed chunk. */
  progress?: (progress: SyncProgress & RunProgress) => void
}

export type SyncDeps = LockDeps & {
  log: Log
  backfillFrom: IsoDate
  /** Returns the current settings of a provider; called for each run. */
  settings: (provider: Provider) => ProviderSettings
  /** Called after each commit, to refresh the read model. */
  onCommit: () => Promise<void>
  /** Called after the row of a run is closed. */
  onClose?: () => void
  /**
   * Called with a function that returns the progress, when a run begins to read history. Called with undefined at its
   * end.
   */
  onHistory?: (progress: (() => HistoryProgress) | undefined) => void
}

export type SyncResult = {
  run: SyncRunRow
  /** True when the due values of the benchmark are stored. */
  current: boolean
  /** True when the run failed in nothing, except for withheld values. */
  complete: boolean
  /** Words for the due day. */
  due: string
  cause: RunCause | null
}

/** Log event of a run whose row is closed. */
export const RUN_FINISHED = 'sync finished'
const LEVELS = { ok: 'info', parcial: 'warn', error: 'error' } as const satisfies Record<SyncStatus, string>
const PROGRESS_LOG_MS = 30_000

/**
 * Runs a sync over each enabled provider, one after the other; never over the source of invented values.
 * @throws AppError `conflict` when a sync is already running on the data directory
 */
export async function syncAll(
  deps: SyncDeps,
  providers: readonly Provider[],
  request: SyncRequest,
): Promise<SyncResult[]> {
  return withSyncLock(deps, async (lock) => {
    const rows = await selectProviders(deps.db)
    const enabled = providers.filter((one) => findSyncedRow(rows, one)?.enabled)
    await renewOutdatedSums(deps.db, deps.log, lock)
    const signal = AbortSignal.any([request.signal, lock.lost])
    return Array.fromAsync(enabled, (provider) => runProvider(deps, provider, { ...request, signal }, lock))
  })
}

/** Returns true when a day has a value for each enabled side of the benchmark. */
export async function hasBenchmark(db: ReadDb, provider: Provider, day: IsoDate): Promise<boolean> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  const series = row ? await selectProviderSeries(db, row.id) : []
  const ids = series.filter((one) => one.enabled && isBenchmark(provider, one)).map(({ id }) => id)
  return (await selectRates(db, ids, { from: day, to: day })).length === ids.length
}

/** Returns the SHA-256 of the token of a provider; null: no token. */
export function hashToken({ token }: ProviderSettings): string | null {
  const plain = token?.trim()
  return plain ? hashOfSecret(plain) : null
}

/**
 * Reason for another run, for the log. `isSoon`: the first retry does not wait for an hour. `isInterrupted`: no retry
 * does.
 */
export type RetryReason = { why: string; isSoon: boolean; isInterrupted?: boolean }

/** Returns undefined when all runs were complete and the due values are stored. */
export function retryReason(ends: readonly SyncResult[]): RetryReason | undefined {
  const failedRun = ends.find(({ complete }) => !complete)
  const behind = ends.find(({ current }) => !current)
  const isSoon = behind !== undefined || ends.some(isUrgent)
  if (failedRun) {
    const reason = { why: `the sync was ${failedRun.run.status}`, isSoon }
    return failedRun.cause === 'interrupted' ? { ...reason, isInterrupted: true } : reason
  }
  return behind && { why: `${behind.due} is not there yet`, isSoon }
}

/** Days that the source has not synchronized do not appear within minutes (decisions#mirror). */
function isUrgent({ complete, cause }: SyncResult): boolean {
  return !complete && !lacksOnlyUnsynchronizedDays(cause)
}

async function runProvider(
  deps: SyncDeps,
  provider: Provider,
  request: SyncRequest,
  lock: Lock,
): Promise<SyncResult> {
  const { db, clock, log } = deps
  const settings = runSettings(deps, provider)
  const { context, meter } = await openRun(deps, provider, request, { settings, lock })
  const about = { run: context.runId, provider: provider.code, trigger: request.trigger }
  log.info('sync started', about)
  let connection: SourceConnection | undefined
  try {
    if ('unreadable' in settings) throw settings.unreadable
    using _progress = logHistoryProgress(deps, meter, about)
    connection = provider.connect(settings, request.signal)
    const state = Object.assign(context, { connection: meter.over(connection) })
    if (request.range) await readRange(state, provider.groups, request.range)
    else await readEverything(state, provider.groups, deps.backfillFrom)
    const years = await healYears(state)
    if (years > 0) log.warn('damaged years of rates are whole again', { ...about, years })
    if (years > 0) await deps.onCommit()
  } catch (error) {
    const of = provider.code
    if (request.signal.aborted) {
      const hasGivenWay = request.signal.reason === GAVE_WAY
      const message = `${INTERRUPTED}: ${hasGivenWay ? GAVE_WAY.message : 'the program was stopped'}`
      context.problems.add({ message, failure: { code: 'interrupted', of } }, of)
    } else {
      const failure = lostDatabaseError(error)
      context.problems.add({ message: errorReason(failure), failure: errorFailure(error, of) }, of)
      const isExpected = error instanceof AppError || !(error instanceof Error)
      // A lost database needs no line: the problem and the end of the run are logged.
      if (failure === error)
        log.error('sync failed', { ...about, cause: isExpected ? errorReason(error) : error.stack })
    }
  }
  const unsynchronized = unsynchronizedProblem(context)
  if (unsynchronized) context.problems.add(unsynchronized, provider.code)
  const notices = connection?.notices() ?? []
  const tokenOnly = context.problems.size === 0 && notices.length > 0 && notices.every(({ token }) => token)
  addNotices(context.problems, notices, provider.code)
  for (const problem of context.problems.messages) log.warn('sync problem', { ...about, problem })
  const status = runStatus(context)
  const end = {
    ...context.counts,
    status,
    ...runProblems(context.problems),
    finished_at: clock().toISOString(),
    token_only: Number(tokenOnly),
  }
  const run = await finishRun(db, provider, context.runId, end, {
    reportFailure: !request.signal.aborted, // a stop of the program is no failure
    lock,
  })
  deps.onClose?.()
  const isStopped = status === 'error' && request.signal.aborted // the next run continues
  const level = isStopped ? 'warn' : LEVELS[status]
  log[level](RUN_FINISHED, { ...about, status, ...context.counts })
  const due = dueDay(provider, clock, context.today)
  const current = await hasBenchmark(db, provider, due)
  // Another request does not change a withheld value.
  const complete = context.problems.failures.every(({ code }) => code === 'value_withheld')
  const { cause } = context.problems
  return { run, current, complete, due: dueInWords(provider, due, context.today), cause }
}

/** Returns an error as a value, because the row that stores it is not open yet. */
function runSettings(deps: SyncDeps, provider: Provider): ProviderSettings | { unreadable: unknown } {
  try {
    return deps.settings(provider)
  } catch (unreadable) {
    return { unreadable }
  }
}

/** Logs the progress of a run that reads history, every 30 seconds, and passes it to `onHistory`. */
function logHistoryProgress(
  { clock, log, onHistory }: SyncDeps,
  meter: Meter,
  about: LogFields & { provider: string },
): Disposable {
  if (!meter.readsHistory) return { [Symbol.dispose]: () => {} }
  const progress = (): HistoryProgress => {
    const { group, yearsRead, requestsLeft, msLeft } = meter.progress()
    const endTime = new Date(clock().getTime() + msLeft)
    return { provider: about.provider, group, yearsRead, requestsLeft, doneAt: endTime }
  }
  const timer = setInterval(() => {
    const { doneAt, ...rest } = progress()
    log.info('reading history', { ...about, ...rest, doneAt: doneAt.toISOString() })
  }, PROGRESS_LOG_MS)
  onHistory?.(progress)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      onHistory?.(undefined)
    },
  }
}

/** Inserts the row of a run and loads its context. */
async function openRun(
  deps: SyncDeps,
  provider: Provider,
  request: SyncRequest,
  { settings, lock }: { settings: ProviderSettings | { unreadable: unknown }; lock: Lock },
): Promise<{ context: RunContext; meter: Meter }> {
  const { db, clock } = deps
  const loaded = await loadContext(db, provider, { clock, ...request }, async (progress) => {
    await deps.onCommit()
    request.progress?.({ ...progress, ...meter.progress() })
  })
  const base = { ...loaded, lock }
  const range = request.range ?? plannedRange({ ...base, runId: 0 }, deps.backfillFrom)
  const run = {
    provider_id: base.providerId,
    trigger: request.trigger,
    date_from: range.from,
    date_to: range.to,
    started_at: clock().toISOString(),
    token_hash: 'unreadable' in settings ? null : hashToken(settings),
  }
  const runId = await atomically(db, (trx) => insertRun(trx, run), lock)
  const context: RunContext = { ...base, runId }
  const meter = createMeter(context, { range: request.range, backfillFrom: deps.backfillFrom })
  return { context, meter }
}
