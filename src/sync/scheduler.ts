// When a sync runs: at the scheduled times, at start when one was missed, and again after a run that was not
// ok. Compares clock readings every second instead of sleeping until dawn, so that a machine that slept or a
// clock that jumped neither skips a run nor repeats one.

import type { Clock } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { isSetBack, nextTime, previousTime } from '../schedule.ts'
import { INTERRUPTED, type SyncRunRow } from '../store/sync-runs.ts'
import type { SyncTrigger } from '../store/tables.ts'

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

export type SchedulerDeps = {
  cron: string
  clock: Clock
  log: Log
  /** Runs all providers once; true when every run was ok and today's dollar is stored. */
  run: (trigger: SyncTrigger, signal: AbortSignal) => Promise<boolean>
  /** The newest run, read at start. */
  lastRun: SyncRunRow | undefined
  /** Whether today's dollar is stored, at start. */
  current: boolean
}

const LOOK_EVERY_MS = 1000
const FIRST_RETRY_MS = 15 * 60_000
const LATER_RETRY_MS = 60 * 60_000

/** A scheduler that never runs, for an external cron. */
export function disabledScheduler(cron: string): Scheduler {
  return {
    start: () => {},
    status: () => ({ state: 'disabled', schedule: cron, nextRun: undefined }),
    close: async () => {},
  }
}

export function createScheduler(deps: SchedulerDeps): Scheduler {
  const { cron, clock, log } = deps
  const stop = new AbortController()
  let seen = clock()
  let scheduled = nextTime(cron, seen)
  let retryAt: Date | undefined
  let retryWait = 0
  let running: Promise<void> | undefined

  const begin = (trigger: SyncTrigger) => {
    retryAt = undefined
    if (trigger !== 'retry') retryWait = 0
    running = attempt(trigger).finally(() => {
      running = undefined
    })
  }
  const attempt = async (trigger: SyncTrigger) => {
    let ok = false
    try {
      ok = await deps.run(trigger, stop.signal)
    } catch (error) {
      if (error instanceof AppError) log.warn('sync refused', { trigger, reason: error.message })
      else log.error('sync failed', { trigger, reason: reasonOf(error) })
    }
    if (!ok) retryLater()
  }
  const retryLater = () => {
    retryWait = retryWait === 0 ? FIRST_RETRY_MS : LATER_RETRY_MS
    retryAt = new Date(clock().getTime() + retryWait)
  }
  const look = () => {
    const now = clock()
    if (isSetBack(seen, now)) scheduled = nextTime(cron, now)
    if (now < seen && retryAt) {
      retryAt = new Date(Math.min(retryAt.getTime(), now.getTime() + retryWait))
    }
    seen = now
    // What comes due while a run is under way waits for its end: that run may have begun yesterday.
    if (running) return
    if (scheduled !== undefined && now >= scheduled) {
      scheduled = nextTime(cron, now)
      begin('scheduler')
    } else if (retryAt && now >= retryAt) begin('retry')
  }

  let timer: NodeJS.Timeout | undefined

  return {
    start() {
      timer = setInterval(look, LOOK_EVERY_MS)
      if (wasMissed(deps)) begin('startup')
      else if (deps.lastRun?.status !== 'ok' || !deps.current) retryLater()
    },
    status: () => ({
      state: stop.signal.aborted ? 'stopped' : 'running',
      schedule: cron,
      nextRun: retryAt && scheduled && retryAt < scheduled ? retryAt : scheduled,
    }),
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

/** Whether no run has come to its end since the last scheduled time; one that was interrupted has not. */
function wasMissed({ cron, clock, lastRun }: SchedulerDeps): boolean {
  if (!lastRun || lastRun.finished_at === null || lastRun.message?.includes(INTERRUPTED)) return true
  const now = clock()
  const began = new Date(lastRun.started_at)
  const due = previousTime(cron, now)
  // One that began later than now was made under a wrong clock, and says nothing of today.
  return began > now || (due !== undefined && began < due)
}
