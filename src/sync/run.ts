// One run over one provider: takes the lock, opens the record, reads, closes the record. Whatever happens in
// between, the record says it.

import type { IsoDate } from '../dates.ts'
import { dueDay, dueInWords, isBenchmark } from '../domain/rates/freshness.ts'
import { lacksOnlyUnsynchronizedDays } from '../domain/rates/unsynchronized.ts'
import { hashOfSecret } from '../domain/secrets.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log, LogFields } from '../log.ts'
import type { Provider, ProviderSettings, Session, Window } from '../providers/provider.ts'
import { lostDatabaseError } from '../storage-error.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { selectProviders } from '../store/rates/providers.ts'
import { selectRatesIn } from '../store/rates/rates.ts'
import { selectSeriesOf } from '../store/rates/series.ts'
import { INTERRUPTED, insertRun, type SyncRunRow } from '../store/sync-runs.ts'
import type { Db, SyncStatus, SyncTrigger } from '../store/tables.ts'
import { type LockDeps, underSyncLock } from './lock.ts'
import { createMeter, type Meter } from './meter.ts'
import { plannedRange, readEverything, readRange } from './order.ts'
import type { HistoryProgress, RunProgress } from './progress.ts'
import { closeAndTell } from './publication.ts'
import { messageOf, readRecord, statusOf, unsynchronizedProblem } from './record.ts'
import type { SyncProgress, SyncRecord } from './state.ts'

export type SyncRequest = {
  trigger: SyncTrigger
  /** Exactly these days, or undefined: what is new, then what is missing. */
  range: Window | undefined
  signal: AbortSignal
  /** Called after each committed chunk. */
  progress?: (progress: SyncProgress & RunProgress) => void
}

export type SyncDeps = LockDeps & {
  log: Log
  backfillFrom: IsoDate
  /** A provider's own settings, read anew for each run of it. */
  settings: (provider: Provider) => ProviderSettings
  /** Called after each commit of ours, so that the read model turns its page. */
  changed: () => Promise<void>
  /** Called when the record of a run is closed. */
  ended?: () => void
  /** Called when a run begins that has history to read, with what says how far it is, and without when it ends. */
  readsHistory?: (progress: (() => HistoryProgress) | undefined) => void
}

export type SyncEnd = {
  run: SyncRunRow
  /** Whether the newest values that are due are stored, of the provider's benchmark. */
  current: boolean
  /** What is due, in words. */
  due: string
}

/** The event in the log of a run that has closed its record. */
export const ENDED = 'sync finished'
const LEVELS = { ok: 'info', parcial: 'warn', error: 'error' } as const satisfies Record<SyncStatus, string>
const TELL_EVERY_MS = 30_000

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
  return underSyncLock(deps, async (lock) => {
    const signal = AbortSignal.any([request.signal, lock.lost])
    const ends: SyncEnd[] = []
    for (const provider of enabled) ends.push(await recordRun(deps, provider, { ...request, signal }, lock))
    return ends
  })
}

/** Whether a value of that day is stored for each enabled side of the provider's benchmark. */
export async function hasBenchmarkOf(db: Db, provider: Provider, day: IsoDate): Promise<boolean> {
  const row = (await selectProviders(db)).find(({ code }) => code === provider.code)
  const series = row ? await selectSeriesOf(db, row.id) : []
  const ids = series.filter((one) => one.enabled && isBenchmark(provider, one)).map(({ id }) => id)
  return (await selectRatesIn(db, ids, { from: day, to: day })).length === ids.length
}

/** SHA-256 of the provider's token; null: there is none. */
export function tokenHashOf({ token }: ProviderSettings): string | null {
  const plain = token?.trim()
  return plain ? hashOfSecret(plain) : null
}

/** Why there must be another run, in words for the log; `isSoon`: before the usual hour is over. */
export type RetryReason = { why: string; isSoon: boolean }

/** Undefined when every run was ok and what is due is stored. */
export function retryReason(ends: readonly SyncEnd[]): RetryReason | undefined {
  const failed = ends.find(({ run }) => run.status !== 'ok')
  const behind = ends.find(({ current }) => !current)
  const isSoon = behind !== undefined || ends.some(({ run }) => isUrgent(run))
  if (failed) return { why: `the sync was ${failed.run.status}`, isSoon }
  return behind && { why: `${behind.due} is not there yet`, isSoon }
}

/** Days that the source has not synchronized itself are not there a few minutes later (decisions 2.6). */
function isUrgent({ status, message }: SyncRunRow): boolean {
  return status !== 'ok' && !lacksOnlyUnsynchronizedDays(message)
}

async function recordRun(
  deps: SyncDeps,
  provider: Provider,
  request: SyncRequest,
  lock: Lock,
): Promise<SyncEnd> {
  const { db, clock, log } = deps
  const settings = settingsOf(deps, provider)
  const { record, meter } = await openRecord(deps, provider, request, { settings, lock })
  const about = { run: record.runId, provider: provider.code, trigger: request.trigger }
  log.info('sync started', about)
  let session: Session | undefined
  try {
    if ('unreadable' in settings) throw settings.unreadable
    using _telling = tellHistory(deps, meter, about)
    session = provider.connect(settings, request.signal)
    const state = Object.assign(record, { session: meter.over(session) })
    if (request.range) await readRange(state, provider.groups, request.range)
    else await readEverything(state, provider.groups, deps.backfillFrom)
  } catch (error) {
    if (request.signal.aborted) record.problems.add(`${INTERRUPTED}: the program was stopped`)
    else {
      const failure = lostDatabaseError(error)
      record.problems.add(reasonOf(failure))
      const told = error instanceof AppError || !(error instanceof Error)
      // Of a database that went away the problem and the end of the run say enough.
      if (failure === error)
        log.error('sync failed', { ...about, cause: told ? reasonOf(error) : error.stack })
    }
  }
  const unsynchronized = unsynchronizedProblem(record)
  if (unsynchronized !== undefined) record.problems.add(unsynchronized)
  const notices = session?.notices() ?? []
  const tokenOnly = record.problems.size === 0 && notices.length > 0 && notices.every(({ token }) => token)
  for (const notice of notices) record.problems.add(notice.message)
  for (const problem of record.problems) log.warn('sync problem', { ...about, problem })
  const status = statusOf(record)
  const end = {
    ...record.counts,
    status,
    message: messageOf(record.problems),
    finishedAt: clock().toISOString(),
    tokenOnly,
  }
  const run = await closeAndTell(db, provider, record.runId, end, {
    tellFailure: !request.signal.aborted, // a run that ended because the program did is no failure
    lock,
  })
  deps.ended?.()
  log[LEVELS[status]](ENDED, { ...about, status, ...record.counts })
  const due = dueDay(provider, clock, record.today)
  const current = await hasBenchmarkOf(db, provider, due)
  return { run, current, due: dueInWords(provider, due, record.today) }
}

/** What cannot be read is for the record of the run, which is not open yet. */
function settingsOf(deps: SyncDeps, provider: Provider): ProviderSettings | { unreadable: unknown } {
  try {
    return deps.settings(provider)
  } catch (unreadable) {
    return { unreadable }
  }
}

/** Logs how far the history is, as long as it is read, and lets others look. */
function tellHistory(
  { clock, log, readsHistory }: SyncDeps,
  meter: Meter,
  about: LogFields & { provider: string },
): Disposable {
  if (!meter.readsHistory) return { [Symbol.dispose]: () => {} }
  const progress = (): HistoryProgress => {
    const { group, yearsRead, requestsLeft, msLeft } = meter.progress()
    const doneAt = new Date(clock().getTime() + msLeft)
    return { provider: about.provider, group, yearsRead, requestsLeft, doneAt }
  }
  const timer = setInterval(() => {
    const { doneAt, ...rest } = progress()
    log.info('reading history', { ...about, ...rest, doneAt: doneAt.toISOString() })
  }, TELL_EVERY_MS)
  readsHistory?.(progress)
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      readsHistory?.(undefined)
    },
  }
}

/** Opens the row of a run, and gathers what is known when it starts. */
async function openRecord(
  deps: SyncDeps,
  provider: Provider,
  request: SyncRequest,
  { settings, lock }: { settings: ProviderSettings | { unreadable: unknown }; lock: Lock },
): Promise<{ record: SyncRecord; meter: Meter }> {
  const { db, clock } = deps
  const read = await readRecord(db, provider, { clock, trigger: request.trigger }, async (progress) => {
    await deps.changed()
    request.progress?.({ ...progress, ...meter.progress() })
  })
  const base = { ...read, lock }
  const range = request.range ?? plannedRange({ ...base, runId: 0 }, deps.backfillFrom)
  const startedAt = clock().toISOString()
  const run = {
    providerId: base.providerId,
    trigger: request.trigger,
    dateFrom: range.from,
    dateTo: range.to,
    startedAt,
    tokenHash: 'unreadable' in settings ? null : tokenHashOf(settings),
  }
  const runId = await atomically(db, (trx) => insertRun(trx, run), lock)
  const record: SyncRecord = { ...base, runId }
  const meter = createMeter(record, { range: request.range, backfillFrom: deps.backfillFrom })
  return { record, meter }
}
