// When a provider is synced: at the scheduled times, at start when one is due (sync/start.ts), and again after a run that was
// not ok.

import type { Clock } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { createPeriodic } from '../periodic.ts'
import { lostDatabaseError } from '../storage-error.ts'
import type { SyncTrigger } from '../store/tables.ts'
import type { RetryReason } from './run.ts'
import {
  FIRST_RETRY_MS,
  LATER_RETRY_MS,
  type NextTry,
  planStart,
  type StartFacts,
  type Timetable,
} from './start.ts'

export type SchedulerStatus = {
  state: 'running' | 'disabled' | 'stopped'
  schedule: string
  nextRun: Date | undefined
}

export type Scheduler = {
  /** Begins to look at the clock; before that nothing runs. */
  start(): void
  status(): SchedulerStatus
  /** Stops, and waits until a run that is under way has closed its record. */
  close(): Promise<void>
}

export type SchedulerDeps = Timetable & {
  /** Its code, for the log. */
  provider: string
  clock: Clock
  log: Log
  /** Runs the provider once; why there must be another run, or undefined. */
  run: (trigger: SyncTrigger, signal: AbortSignal) => Promise<RetryReason | undefined>
  facts: StartFacts
}

/** A scheduler that never runs, for an external cron. */
export function disabledScheduler(cron: string): Scheduler {
  return {
    start: () => {},
    status: () => ({ state: 'disabled', schedule: cron, nextRun: undefined }),
    close: async () => {},
  }
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { provider, cron, timeZone, clock, log } = deps
  const runs = createPeriodic<NextTry>({
    cron,
    timeZone,
    clock,
    work: (_now, extra) => attempt(extra?.trigger ?? 'scheduler'),
  })
  const planNext = (next: NextTry | undefined, why: string) => {
    runs.plan(next)
    log.info('next try', { provider, at: runs.nextRun()?.toISOString(), why })
  }
  const attempt = async (trigger: SyncTrigger) => {
    let reason: RetryReason | undefined
    try {
      reason = await deps.run(trigger, runs.signal)
    } catch (error) {
      const isRefused = error instanceof AppError
      reason = { why: isRefused ? 'the sync was refused' : 'the sync failed', isSoon: true }
      if (isRefused) log.warn('sync refused', { provider, trigger, reason: error.message })
      else log.error('sync failed', { provider, trigger, reason: reasonOf(lostDatabaseError(error)) })
    }
    if (reason === undefined || runs.signal.aborted) return
    const wait = trigger === 'retry' || !reason.isSoon ? LATER_RETRY_MS : FIRST_RETRY_MS
    planNext({ trigger: 'retry', at: new Date(clock().getTime() + wait), wait }, reason.why)
  }

  return {
    start() {
      runs.start()
      const now = clock()
      const { why, next } = planStart(deps.facts, deps, now)
      if (!next || next.at > now) return planNext(next, why)
      log.info('sync at start', { provider, why })
      runs.runNow(next)
    },
    status: () => ({
      state: runs.signal.aborted ? 'stopped' : 'running',
      schedule: cron,
      nextRun: runs.nextRun(),
    }),
    close: () => runs.close(),
  }
}
