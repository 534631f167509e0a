// Rounded values become exact by themselves once there is a source that does not round: window by window, from the newest
// to the oldest, each under the lock of a sync, which is given up in between so that every other run comes first. What was
// asked for is remembered (coverage `exact`), so that nothing is asked for twice (decisions 2.6).

import { setTimeout as sleep } from 'node:timers/promises'
import { addDays, EARLIEST_DAY, earliest, type IsoDate, LATEST_DAY, latest } from '../dates.ts'
import { reasonOf } from '../errors.ts'
import type { Provider, SeriesGroup, Session, Window } from '../providers/provider.ts'
import { lostDatabaseError } from '../storage-error.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { selectProviders } from '../store/rates/providers.ts'
import { findRefinableDay } from '../store/rates/rates.ts'
import {
  closeInterruptedRuns,
  closeRun,
  findOpenRefining,
  insertRun,
  type SyncRunRow,
  updateRun,
} from '../store/sync-runs.ts'
import type { Db } from '../store/tables.ts'
import { alone } from './chunk.ts'
import { EXTRA_REQUESTS, messageOf, readRecord, statusOf, unsynchronizedProblem } from './record.ts'
import type { SyncDeps } from './run.ts'
import { type SyncProgress, type SyncState, seriesOf } from './state.ts'
import { walk } from './walk.ts'

export type RefineRequest = { signal: AbortSignal; progress?: (progress: SyncProgress) => void }

const GIVES_WAY_MS = 250 // between two windows, beside the pace of the requests
const TRY_AGAIN_MS = 1000
const ALL_DAYS: Window = { from: EARLIEST_DAY, to: LATEST_DAY }

type Totals = Pick<SyncState, 'counts' | 'answers' | 'problems' | 'extraRequests'>

/** The record that is open, and what is to go into it. */
type Refining = { runId: number | undefined; from: IsoDate; totals: Totals; ended: SyncRunRow[] }

/**
 * Reads the rounded values of each enabled provider again. Returns the runs that it recorded, which are none where there
 * is nothing to do; more than one where others came in between.
 */
export async function refine(
  deps: SyncDeps,
  providers: readonly Provider[],
  request: RefineRequest,
): Promise<SyncRunRow[]> {
  const stored = await selectProviders(deps.db)
  const ended: SyncRunRow[] = []
  for (const provider of providers) {
    if (!stored.some(({ code, enabled }) => enabled && code === provider.code)) continue
    ended.push(...(await refineProvider(deps, provider, request)))
  }
  return ended
}

async function refineProvider(
  deps: SyncDeps,
  provider: Provider,
  request: RefineRequest,
): Promise<SyncRunRow[]> {
  const refining: Refining = { runId: undefined, from: LATEST_DAY, totals: newTotals(), ended: [] }
  let session: Session | undefined
  try {
    session = provider.connect(deps.settings(provider), request.signal)
    for (const group of provider.groups) {
      let before: IsoDate | undefined = LATEST_DAY
      while (session.exact && before !== undefined) {
        before = await refineWindow(deps, provider, session, group, { before, request, refining })
        if (before !== undefined) await sleep(GIVES_WAY_MS, undefined, { signal: request.signal })
      }
    }
  } catch (error) {
    const cause = reasonOf(lostDatabaseError(error))
    refining.totals.problems.add(request.signal.aborted ? 'stopped, goes on later' : cause)
    if (!request.signal.aborted) deps.log.error('refining failed', { cause })
  }
  for (const { message } of session?.notices() ?? []) refining.totals.problems.add(message)
  await closeRecord(deps, refining, request.signal.aborted)
  return refining.ended
}

/** Reads the newest window before a day that holds rounded values; returns its first day, or undefined at the end. */
async function refineWindow(
  deps: SyncDeps,
  provider: Provider,
  session: Session,
  group: SeriesGroup,
  turn: { before: IsoDate; request: RefineRequest; refining: Refining },
): Promise<IsoDate | undefined> {
  const { db } = deps
  const { request, refining } = turn
  const lock = await nextTurn(deps, request.signal)
  try {
    // Others may have stored since: nothing of an earlier window is believed.
    const read = await readRecord(
      db,
      provider,
      { clock: deps.clock, trigger: 'refine' },
      async (progress) => {
        await deps.changed()
        request.progress?.(progress)
      },
    )
    const record = { ...read, lock }
    const series = seriesOf({ ...record, runId: 0 }, group)
    const older = { ...ALL_DAYS, to: addDays(turn.before, -1) }
    const ids = series.map(({ id }) => id)
    const to = await findRefinableDay(db, ids, older)
    if (to === undefined) return undefined
    const most = { from: latest(addDays(to, 1 - group.chunkDays), EARLIEST_DAY), to }
    const window = { from: (await findRefinableDay(db, ids, most, 'oldest')) ?? to, to }
    const runId = await openRecord(deps, refining, record, window)
    const state: SyncState = Object.assign(record, { runId, session, ...refining.totals })
    const codes: string[] = []
    for (const { id, external_code } of series) {
      if ((await findRefinableDay(db, [id], window)) !== undefined) codes.push(external_code)
    }
    const unlisted = new Set<string>()
    const isRead = await walk(state, group, {
      series: () => series.filter(({ external_code: code }) => codes.includes(code)),
      todoOf: () => [window],
      isEnd(_window, result) {
        for (const code of group.indicators ? [] : result.unlisted)
          if (codes.includes(code)) unlisted.add(code)
        return false
      },
    })
    for (const code of unlisted) await walk(state, alone(group, code), { todoOf: () => [window] })
    const unsynchronized = unsynchronizedProblem(state)
    if (unsynchronized !== undefined) state.problems.add(unsynchronized)
    const { counts, answers, problems, extraRequests } = state
    refining.totals = { counts, answers, problems, extraRequests }
    refining.from = earliest(refining.from, window.from)
    // Should another run come in between, its record is closed as it stands.
    const sofar = { ...state.counts, dateFrom: refining.from }
    await atomically(db, (trx) => updateRun(trx, runId, sofar), lock)
    // A source that fails is left alone until the next good run.
    return isRead ? window.from : undefined
  } finally {
    await lock.release()
  }
}

/** The lock of a sync, as soon as no other run holds it. */
async function nextTurn({ takeLock }: SyncDeps, signal: AbortSignal): Promise<Lock> {
  for (;;) {
    signal.throwIfAborted()
    const lock = await takeLock('sync')
    if (lock) return lock
    await sleep(TRY_AGAIN_MS, undefined, { signal })
  }
}

/** The record to count in: a new one at first, and when another run came in between and closed it. */
async function openRecord(
  deps: SyncDeps,
  refining: Refining,
  { providerId, lock }: { providerId: number; lock: Lock },
  window: Window,
): Promise<number> {
  const { db, clock, log } = deps
  const now = clock().toISOString()
  if (refining.runId !== undefined && (await findOpenRefining(db)) === refining.runId) return refining.runId
  const run = { trigger: 'refine', dateFrom: window.from, dateTo: window.to, startedAt: now } as const
  const open = async (trx: Db) => {
    await closeInterruptedRuns(trx, now)
    return insertRun(trx, { providerId, ...run })
  }
  refining.runId = await atomically(db, open, lock)
  refining.totals = newTotals()
  refining.from = window.from
  log.info('refining started', { run: refining.runId })
  return refining.runId
}

async function closeRecord(
  { db, clock, log }: SyncDeps,
  refining: Refining,
  stopped: boolean,
): Promise<void> {
  const { runId, totals } = refining
  if (runId === undefined) return
  const status = stopped ? 'parcial' : statusOf(totals)
  const end = {
    ...totals.counts,
    status,
    message: messageOf(totals.problems),
    finishedAt: clock().toISOString(),
  }
  const run = await atomically(db, async (trx) =>
    (await findOpenRefining(trx)) === runId ? closeRun(trx, runId, end) : undefined,
  )
  if (!run) return // another run came in between and closed it
  refining.ended.push(run)
  log.info('refining finished', { run: runId, status, ...totals.counts })
}

function newTotals(): Totals {
  return {
    counts: { inserted: 0, updated: 0, unchanged: 0 },
    answers: 0,
    problems: new Set(),
    extraRequests: EXTRA_REQUESTS,
  }
}
