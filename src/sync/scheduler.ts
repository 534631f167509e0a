// Scheduler of one provider. Syncs at the scheduled times, and at the start if a sync is due (sync/start.ts). Retries
// after a run that was not ok.

import { AppError, errorReason } from '../runtime/errors.ts'
import type { Log } from '../runtime/log.ts'
import { createPeriodic } from '../runtime/periodic.ts'
import { lostDatabaseError } from '../runtime/storage-error.ts'
import type { SyncTrigger } from '../store/tables.ts'
import type { Clock } from '../values/dates.ts'
import type { RetryReason } from './run.ts'
import {
  FIRST_RETRY_MS,
  LATER_RETRY_MS,
  type NextAttempt,
  planStart,
  type StartFacts,
  type Timetable,
} from './start.ts'

export type Scheduler = {
  /** Starts the timer. No run begins before this call. */
  start(): void
  /** Undefined: the cron pattern never matches. */
  nextRun(): Date | undefined
  /** Resolves when no run is under way. */
  idle(): Promise<void>
  /** Stops, and waits until an open run has closed its row. */
  close(): Promise<void>
}

export type SchedulerDeps = Timetable & {
  /** Code of the provider, for the log. */
  provider: string
  clock: Clock
  log: Log
  /** Runs a sync; returns the reason for another run, or undefined. */
  run: (trigger: SyncTrigger, signal: AbortSignal) => Promise<RetryReason | undefined>
  facts: StartFacts
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { provider, cron, timeZone, clock, log } = deps
  const runs = createPeriodic<NextAttempt>({
    cron,
    timeZone,
    clock,
    work: (_now, extra) => attempt(extra?.trigger ?? 'scheduler'),
  })
  const planNext = (next: NextAttempt | undefined, why: string) => {
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
      else log.error('sync failed', { provider, trigger, reason: errorReason(lostDatabaseError(error)) })
    }
    if (reason === undefined || runs.signal.aborted) return
    const isFirst = trigger !== 'retry' && reason.isSoon
    const wait = isFirst || reason.isInterrupted ? FIRST_RETRY_MS : LATER_RETRY_MS
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
    nextRun: () => runs.nextRun(),
    idle: () => runs.idle(),
    close: () => runs.close(),
  }
}
