// Replaces rounded values by exact ones once a source does not round (decisions#rounded). Windows are read from the
// newest to the oldest. Each has the lock of a sync, which is released in between so that other runs come first.
// Coverage `exact` records requested days, so that none is requested twice.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Provider, SeriesGroup, SourceConnection, Window } from '../providers/provider.ts'
import { atomically, type Lock } from '../store/engine.ts'
import { findSyncedRow, selectProviders } from '../store/rates/providers.ts'
import { findRefinableDay, type RefinableDays } from '../store/rates/rates.ts'
import {
  closeInterruptedRuns,
  closeRun,
  findOpenRefineRun,
  findRefineStart,
  insertRun,
  type SyncRunRow,
  updateRun,
} from '../store/rates/sync-runs.ts'
import type { WriteDb } from '../store/tables.ts'
import {
  addDays,
  currentDay,
  EARLIEST_DAY,
  earliest,
  type IsoDate,
  LATEST_DAY,
  latest,
} from '../values/dates.ts'
import { waitForSyncLock } from './lock.ts'
import { addEnd } from './problems.ts'
import type { SyncDeps } from './run.ts'
import {
  addNotices,
  loadContext,
  newTotals,
  runProblems,
  runStatus,
  unsynchronizedProblem,
} from './run-context.ts'
import { enabledSeries, type RunState, type SyncProgress } from './state.ts'
import { narrowGroup } from './windows/chunk.ts'
import { walk } from './windows/walk.ts'

export type RefineRequest = { signal: AbortSignal; progress?: (progress: SyncProgress) => void }

type ProviderRequest = RefineRequest & Pick<RefinableDays, 'earliestCommit'>

const PAUSE_MS = 250 // between two windows, in addition to the pace of the requests
const ALL_DAYS: Window = { from: EARLIEST_DAY, to: LATEST_DAY }

type RunTotals = Pick<RunState, 'counts' | 'answers' | 'problems' | 'extraRequests'>

/** Id of the open run, with its first day and totals, and the rows of the closed runs. */
type OpenRefining = { runId: number | undefined; from: IsoDate; totals: RunTotals; closedRuns: SyncRunRow[] }

/**
 * Reads the rounded values of each enabled provider again. Returns the recorded runs: none without rounded values,
 * more than one where another run came in between.
 */
export async function refine(
  deps: SyncDeps,
  providers: readonly Provider[],
  request: RefineRequest,
): Promise<SyncRunRow[]> {
  const rows = await selectProviders(deps.db)
  const closedRuns: SyncRunRow[] = []
  for (const provider of providers) {
    const row = findSyncedRow(rows, provider)
    if (!row?.enabled) continue
    const earliestCommit = await findEarliestCommit(deps, provider, row.id)
    closedRuns.push(...(await refineProvider(deps, provider, { ...request, earliestCommit })))
  }
  return closedRuns
}

/**
 * Returns the instant of the oldest value to refine, in milliseconds since 1970. Older values were read again today, and
 * are still rounded.
 */
async function findEarliestCommit(
  { db, clock }: SyncDeps,
  { timeZone }: Provider,
  providerId: number,
): Promise<number> {
  const start = await findRefineStart(db, providerId)
  const isToday = start && currentDay(() => start, timeZone) === currentDay(clock, timeZone)
  return isToday ? start.getTime() : 0
}

async function refineProvider(
  deps: SyncDeps,
  provider: Provider,
  request: ProviderRequest,
): Promise<SyncRunRow[]> {
  const refining: OpenRefining = { runId: undefined, from: LATEST_DAY, totals: newTotals(), closedRuns: [] }
  let connection: SourceConnection | undefined
  try {
    connection = provider.connect(deps.settings(provider), request.signal)
    for (const group of provider.groups) {
      let before: IsoDate | undefined = LATEST_DAY
      while (connection.exact && before !== undefined) {
        before = await refineWindow(deps, provider, connection, group, { before, request, refining })
        if (before !== undefined) await sleep(PAUSE_MS, undefined, { signal: request.signal })
      }
    }
  } catch (error) {
    const cause = addEnd(refining.totals.problems, error, { of: provider.code, signal: request.signal })
    if (cause !== undefined) deps.log.error('refining failed', { cause })
  }
  addNotices(refining.totals.problems, connection?.notices() ?? [], provider.code)
  await closeRefineRun(deps, refining, request.signal.aborted)
  return refining.closedRuns
}

/** Reads the newest window with rounded values before a day. Returns its first day; undefined at the end. */
async function refineWindow(
  deps: SyncDeps,
  provider: Provider,
  connection: SourceConnection,
  group: SeriesGroup,
  position: { before: IsoDate; request: ProviderRequest; refining: OpenRefining },
): Promise<IsoDate | undefined> {
  const { db } = deps
  const { request, refining } = position
  const lock = await waitForSyncLock(deps, request.signal)
  try {
    // Loads the context for each window, since other runs may have stored values.
    const loaded = await loadContext(
      db,
      provider,
      { clock: deps.clock, trigger: 'refine' },
      async (progress) => {
        await deps.onCommit()
        request.progress?.(progress)
      },
    )
    const context = { ...loaded, lock }
    const series = enabledSeries({ ...context, runId: 0 }, group)
    const { earliestCommit } = request
    const olderDays = { ...ALL_DAYS, to: addDays(position.before, -1), earliestCommit }
    const ids = series.map(({ id }) => id)
    const to = await findRefinableDay(db, ids, olderDays)
    if (to === undefined) return undefined
    const longest = { from: latest(addDays(to, 1 - group.chunkDays), EARLIEST_DAY), to, earliestCommit }
    const window = { from: (await findRefinableDay(db, ids, longest, 'oldest')) ?? to, to }
    const runId = await openRefineRun(deps, refining, context, window)
    const state: RunState = Object.assign(context, { runId, connection, ...refining.totals })
    const codes: string[] = []
    for (const { id, external_code } of series) {
      if ((await findRefinableDay(db, [id], { ...window, earliestCommit })) !== undefined)
        codes.push(external_code)
    }
    const unlisted = new Set<string>()
    const isComplete = await walk(state, group, {
      series: () => series.filter(({ external_code: code }) => codes.includes(code)),
      daysToRead: () => [window],
      isEnd(_window, result) {
        for (const code of group.indicators ? [] : result.unlisted)
          if (codes.includes(code)) unlisted.add(code)
        return false
      },
    })
    // A table that omits a series is no answer for it, so the series is requested alone.
    for (const code of unlisted) await walk(state, narrowGroup(group, code), { daysToRead: () => [window] })
    const unsynchronized = unsynchronizedProblem(state)
    if (unsynchronized) state.problems.add(unsynchronized, provider.code)
    const { counts, answers, problems, extraRequests } = state
    refining.totals = { counts, answers, problems, extraRequests }
    refining.from = earliest(refining.from, window.from)
    // Written for each window: a run that comes in between closes the row with these counts.
    const end = { ...state.counts, date_from: refining.from }
    await atomically(db, (trx) => updateRun(trx, runId, end), lock)
    // A failed source is not read again before the next good run.
    return isComplete ? window.from : undefined
  } finally {
    await lock.release()
  }
}

/** Opens a run, unless the one of the last window is still open. */
async function openRefineRun(
  deps: SyncDeps,
  refining: OpenRefining,
  { providerId, lock }: { providerId: number; lock: Lock },
  window: Window,
): Promise<number> {
  const { db, clock, log } = deps
  const now = clock().toISOString()
  if (refining.runId !== undefined && (await findOpenRefineRun(db)) === refining.runId) return refining.runId
  const dates = { date_from: window.from, date_to: window.to, started_at: now }
  const open = async (trx: WriteDb) => {
    await closeInterruptedRuns(trx, now)
    return insertRun(trx, { provider_id: providerId, trigger: 'refine', ...dates })
  }
  refining.runId = await atomically(db, open, lock)
  refining.totals = newTotals()
  refining.from = window.from
  log.info('refining started', { run: refining.runId })
  return refining.runId
}

async function closeRefineRun(
  { db, clock, log }: SyncDeps,
  refining: OpenRefining,
  stopped: boolean,
): Promise<void> {
  const { runId, totals } = refining
  if (runId === undefined) return
  const status = stopped ? 'parcial' : runStatus(totals)
  const end = {
    ...totals.counts,
    status,
    ...runProblems(totals.problems),
    finished_at: clock().toISOString(),
  }
  const run = await atomically(db, async (trx) =>
    (await findOpenRefineRun(trx)) === runId ? closeRun(trx, runId, end) : undefined,
  )
  if (!run) return // another run came in between and closed it
  refining.closedRuns.push(run)
  log.info('refining finished', { run: runId, status, ...totals.counts })
}
