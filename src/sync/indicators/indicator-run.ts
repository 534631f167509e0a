// Run over the indicators of a provider (decisions#indicators). Each window has the lock of a sync. Between two windows
// it is free, so that runs of the rates come first. Its row is in a table of its own, and no rule of the rates reads
// it.

import { setTimeout as sleep } from 'node:timers/promises'
import { unsynchronizedInWords } from '../../domain/rates/unsynchronized.ts'
import type { Provider, ProviderSettings } from '../../providers/provider.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { markWaiting, updateIndicator } from '../../store/indicators/changes.ts'
import { countEnabledIndicators, selectIndicators } from '../../store/indicators/indicators.ts'
import {
  closeIndicatorRun,
  closeInterruptedIndicatorRuns,
  countHistoryRequests,
  findTokenRefusal,
  insertIndicatorRun,
  isOpenIndicatorRun,
} from '../../store/indicators/open-runs.ts'
import type { IndicatorRun } from '../../store/indicators/runs.ts'
import { selectIndicatorCoverage, selectValueDays } from '../../store/indicators/values.ts'
import { findSyncedRow, selectProviders } from '../../store/rates/providers.ts'
import { selectNewestRun } from '../../store/rates/sync-runs.ts'
import type { IndicatorTrigger, ReadDb } from '../../store/tables.ts'
import { addDays, currentDay, earliest, endOfDay, latest } from '../../values/dates.ts'
import { waitForSyncLock } from '../lock.ts'
import { addEnd, createProblems } from '../problems.ts'
import { hashToken, type SyncDeps } from '../run.ts'
import { runProblems, runStatus } from '../run-context.ts'
import {
  type IndicatorPlan,
  type IndicatorWindow,
  isHistoryTime,
  nextIndicatorWindow,
  type SourceHoles,
} from './plan.ts'
import { type IndicatorReading, readIndicatorWindow } from './window.ts'

export type IndicatorRequest = {
  trigger: IndicatorTrigger
  signal: AbortSignal
  /** True: the newest days alone. */
  isNewestOnly?: boolean
  /** Pause between two windows, in addition to the pace of the requests; default 250. */
  pauseMs?: number
}

/** Parts of a plan that are equal for all windows of a run. */
type PlanFacts = SourceHoles & Pick<IndicatorPlan, 'goodRunEnd' | 'isNewestOnly' | 'timeZone'>

const PAUSE_MS = 250 // other runs take the lock in between
const MAX_FAILURES = 3 // the source is unavailable then, and the next run tries again

/**
 * Reads the indicators that are due, after a good run of the rates. Returns the row; undefined: nothing was due, or
 * the token is missing or refused.
 */
export async function readIndicators(
  deps: SyncDeps,
  provider: Provider,
  request: IndicatorRequest,
): Promise<IndicatorRun | undefined> {
  const { db, clock } = deps
  if (!provider.indicators || (await countEnabledIndicators(db)) === 0) return undefined
  const row = findSyncedRow(await selectProviders(db), provider)
  const goodRunEnd = row?.enabled ? await findGoodRunEnd(db, row.id) : undefined
  if (!row || goodRunEnd === undefined) return undefined
  const settings = await usableSettings(deps, provider, goodRunEnd)
  if (!settings) {
    const rows = await selectIndicators(db)
    const isUnmarked = rows.some(
      ({ enabled, state }) => enabled && state !== 'waiting' && state !== 'refused',
    )
    if (isUnmarked) await atomically(db, markWaiting)
    return undefined
  }
  const source = await provider.indicators()
  const { isNewestOnly = false } = request
  const holes: SourceHoles = { unsynchronized: new Map(), remaining: new Map() }
  const facts = { goodRunEnd, isNewestOnly, timeZone: provider.timeZone, ...holes }
  if (!nextIndicatorWindow(await loadPlan(deps, facts), clock())) return undefined
  const reading: IndicatorReading = {
    ...{ deps, provider, source, connection: source.connect(settings, request.signal) },
    ...newIndicatorTotals(),
    ...{ failures: 0, isTokenRefused: false, ...holes },
  }
  const firstDay = currentDay(clock)
  try {
    while (reading.failures < MAX_FAILURES && !reading.isTokenRefused && currentDay(clock) === firstDay) {
      if (!(await readNext(reading, request, { providerId: row.id, facts }))) break
      await sleep(request.pauseMs ?? PAUSE_MS, undefined, { signal: request.signal })
    }
    // A run that may read history has also requested the years before these days. The next ones request them tomorrow.
    if (isHistoryTime(await loadPlan(deps, facts), clock())) {
      for (const code of holes.unsynchronized.keys())
        await atomically(db, (trx) => updateIndicator(trx, code, { history_failure: firstDay }))
    }
  } catch (error) {
    const cause = addEnd(reading.problems, error, { of: provider.code, signal: request.signal })
    if (cause !== undefined) deps.log.error('reading indicators failed', { cause })
  }
  return finishIndicatorRun(reading, reading.isTokenRefused ? hashToken(settings) : null)
}

/** Reads the next window under the lock. Returns false when nothing is due. */
async function readNext(
  reading: IndicatorReading,
  { trigger, signal }: IndicatorRequest,
  { providerId, facts }: { providerId: number; facts: PlanFacts },
): Promise<boolean> {
  const { deps } = reading
  const lock = await waitForSyncLock(deps, signal)
  try {
    const plan = await loadPlan(deps, facts)
    const next = nextIndicatorWindow(plan, deps.clock())
    if (!next) return false
    const runId = await openIndicatorRun(reading, next, { providerId, trigger, lock })
    await readIndicatorWindow(reading, next, { runId, lock, days: plan.days.get(next.row.code) })
    return true
  } finally {
    await lock.release()
  }
}

/** Loads the plan for each window, since commands may have enabled or disabled indicators. */
async function loadPlan({ db, clock }: SyncDeps, facts: PlanFacts): Promise<IndicatorPlan> {
  const dayBegin = new Date(endOfDay(addDays(currentDay(clock), -1))).toISOString()
  return {
    ...facts,
    rows: await selectIndicators(db),
    covered: await selectIndicatorCoverage(db),
    days: await selectValueDays(db),
    historyRequests: await countHistoryRequests(db, dayBegin),
  }
}

/** Returns the end of the newest run of the rates if that was good. */
async function findGoodRunEnd(db: ReadDb, providerId: number): Promise<string | undefined> {
  const run = await selectNewestRun(db, providerId)
  return run?.status === 'ok' ? (run.finished_at ?? undefined) : undefined
}

/** Returns the settings with their token. Undefined: none, or one that was refused after the last good run. */
async function usableSettings(
  { db, settings }: SyncDeps,
  provider: Provider,
  goodRunEnd: string,
): Promise<(ProviderSettings & { token: string }) | undefined> {
  const current = settings(provider)
  const token = current.token?.trim()
  if (!token || !/^[\x21-\x7e]+$/.test(token)) return undefined
  const refusal = await findTokenRefusal(db)
  const isRefused = refusal?.tokenHash === hashToken(current) && goodRunEnd <= (refusal?.at ?? '')
  return isRefused ? undefined : { ...current, token }
}

function newIndicatorTotals() {
  return {
    ...{ runId: undefined, from: '9999-12-31', to: '0000-01-01', answers: 0, history: 0 },
    counts: { inserted: 0, updated: 0, unchanged: 0 },
    problems: createProblems(),
  }
}

/** Opens a run, unless the one of the last window is still open. */
async function openIndicatorRun(
  reading: IndicatorReading,
  { window }: IndicatorWindow,
  { providerId, trigger, lock }: { providerId: number; trigger: IndicatorTrigger; lock: Lock },
): Promise<number> {
  const { db, clock, log } = reading.deps
  let { runId } = reading
  if (runId === undefined || !(await isOpenIndicatorRun(db, runId))) {
    const started_at = clock().toISOString()
    const run = { provider_id: providerId, trigger, date_from: window.from, date_to: window.to, started_at }
    runId = await atomically(
      db,
      async (trx) => {
        await closeInterruptedIndicatorRuns(trx, started_at)
        return insertIndicatorRun(trx, run)
      },
      lock,
    )
    Object.assign(reading, newIndicatorTotals(), { runId })
    log.info('indicators started', { run: runId, trigger })
  }
  reading.from = earliest(reading.from, window.from)
  reading.to = latest(reading.to, window.to)
  return runId
}

async function finishIndicatorRun(
  { deps, provider, runId, counts, problems, unsynchronized, answers, history, from, to }: IndicatorReading,
  refusedToken: string | null,
): Promise<IndicatorRun | undefined> {
  if (runId === undefined) return undefined
  const { db, clock, log } = deps
  const gaps = [...unsynchronized].map(([code, days]) => ({ code, days }))
  const words = unsynchronizedInWords(gaps, false)
  if (words !== undefined) problems.add({ message: words }, provider.code)
  const { message, failures = '[]' } = runProblems(problems)
  const status = runStatus({ problems, answers })
  const end = { ...counts, status, message, failures, finished_at: clock().toISOString() }
  const run = await atomically(db, async (trx) =>
    (await isOpenIndicatorRun(trx, runId))
      ? closeIndicatorRun(trx, runId, { ...end, token_hash: refusedToken, history })
      : undefined,
  )
  for (const problem of problems.messages) log.warn('indicator problem', { run: runId, problem })
  log.info('indicators finished', { run: runId, status, from, to, history, ...counts })
  return run
}
