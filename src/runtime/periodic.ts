// Runs work at the times of a cron pattern, and at planned times between them: one run at a time. Polls the clock each
// second instead of sleeping until the next run. So a suspended machine or a clock that jumps neither skips nor repeats
// a run.

import type { Clock } from '../values/dates.ts'
import { nextTime } from './schedule.ts'

/** Run outside of the pattern, such as a retry. */
export type ExtraRun = {
  at: Date
  /** Maximum milliseconds until it begins after the clock was set back; without it, it is dropped then. */
  wait?: number
}

export type Periodic<Extra extends ExtraRun> = {
  /** Starts to poll the clock; nothing runs before. */
  start(): void
  /** Starts a run at once. */
  runNow(extra: Extra): void
  /** Plans a run before the next scheduled one, which drops it; undefined: cancels it. */
  plan(extra: Extra | undefined): void
  nextRun(): Date | undefined
  /** Aborted by `close`. */
  readonly signal: AbortSignal
  /** Resolves when no run is under way. */
  idle(): Promise<void>
  /** Stops, and waits for the end of the current run. */
  close(): Promise<void>
}

const POLL_MS = 1000
const CORRECTION_MS = 15 * 60_000

/** `work` receives its start time, and the extra run unless it was scheduled; it must not throw. */
export function createPeriodic<Extra extends ExtraRun>({
  cron,
  timeZone,
  clock,
  work,
}: {
  cron: string
  /** Default: Costa Rica's. */
  timeZone?: string
  clock: Clock
  work: (now: Date, extra: Extra | undefined) => Promise<void>
}): Periodic<Extra> {
  const stop = new AbortController()
  let lastTime = clock()
  let scheduled = nextTime(cron, lastTime, timeZone)
  let extra: Extra | undefined
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const begin = (now: Date, run: Extra | undefined) => {
    extra = undefined
    running = work(now, run).finally(() => {
      running = undefined
    })
  }
  const handleSetBack = (now: Date) => {
    if (isSetBack(lastTime, now)) {
      scheduled = nextTime(cron, now, timeZone)
      if (extra?.wait === undefined) extra = undefined
    }
    if (now < lastTime && extra?.wait !== undefined) {
      extra = { ...extra, at: new Date(Math.min(extra.at.getTime(), now.getTime() + extra.wait)) }
    }
    lastTime = now
  }
  const poll = () => {
    const now = clock()
    handleSetBack(now)
    // A run that comes due waits for the end of the current one, which may have begun yesterday.
    if (running) return
    if (scheduled !== undefined && now >= scheduled) {
      scheduled = nextTime(cron, now, timeZone)
      begin(now, undefined)
    } else if (extra && now >= extra.at) begin(now, extra)
  }

  return {
    start() {
      timer = setInterval(poll, POLL_MS)
    },
    runNow: (run) => begin(clock(), run),
    plan(run) {
      extra = run
    },
    nextRun: () => (extra && !(scheduled && scheduled <= extra.at) ? extra.at : scheduled),
    signal: stop.signal,
    idle: async () => running,
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

/**
 * Returns true when the clock was set back between two polls by more than a correction of 15 minutes. Then the schedule
 * is computed anew; after a correction it is not, or the same time would come twice.
 */
function isSetBack(lastTime: Date, now: Date): boolean {
  return lastTime.getTime() - now.getTime() > CORRECTION_MS
}
