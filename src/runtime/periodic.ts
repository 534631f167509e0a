// Work at the times of a cron pattern, and between them when it is planned: one run at a time. Compares clock readings
// every second instead of sleeping until the time comes, so that a machine that slept or a clock that jumped neither
// skips a run nor repeats one.

import type { Clock } from './dates.ts'
import { nextTime } from './schedule.ts'

/** A run that the pattern does not name, such as a retry. */
export type ExtraRun = {
  at: Date
  /** It begins no later than so many milliseconds after the clock was set back; without it, it is dropped then. */
  wait?: number
}

export type Periodic<Extra extends ExtraRun> = {
  /** Begins to look at the clock; before that nothing runs. */
  start(): void
  /** Runs at once. */
  runNow(extra: Extra): void
  /** Plans a run before the next scheduled one, which drops it; undefined: there is none. */
  plan(extra: Extra | undefined): void
  nextRun(): Date | undefined
  /** Aborted when it is closed. */
  readonly signal: AbortSignal
  /** Stops, and waits for the end of a run that is under way. */
  close(): Promise<void>
}

const LOOK_EVERY_MS = 1000
const CORRECTION_MS = 15 * 60_000

/** `work` gets the time at which it began, and the extra run that it is unless it is a scheduled one; it must not throw. */
export function createPeriodic<Extra extends ExtraRun>({
  cron,
  timeZone,
  clock,
  work,
}: {
  cron: string
  /** By default that of Costa Rica. */
  timeZone?: string
  clock: Clock
  work: (now: Date, extra: Extra | undefined) => Promise<void>
}): Periodic<Extra> {
  const stop = new AbortController()
  let seen = clock()
  let scheduled = nextTime(cron, seen, timeZone)
  let extra: Extra | undefined
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const begin = (now: Date, run: Extra | undefined) => {
    extra = undefined
    running = work(now, run).finally(() => {
      running = undefined
    })
  }
  const heedSetBack = (now: Date) => {
    if (isSetBack(seen, now)) {
      scheduled = nextTime(cron, now, timeZone)
      if (extra?.wait === undefined) extra = undefined
    }
    if (now < seen && extra?.wait !== undefined) {
      extra = { ...extra, at: new Date(Math.min(extra.at.getTime(), now.getTime() + extra.wait)) }
    }
    seen = now
  }
  const look = () => {
    const now = clock()
    heedSetBack(now)
    // What comes due while a run is under way waits for its end: that run may have begun yesterday.
    if (running) return
    if (scheduled !== undefined && now >= scheduled) {
      scheduled = nextTime(cron, now, timeZone)
      begin(now, undefined)
    } else if (extra && now >= extra.at) begin(now, extra)
  }

  return {
    start() {
      timer = setInterval(look, LOOK_EVERY_MS)
    },
    runNow: (run) => begin(clock(), run),
    plan(run) {
      extra = run
    },
    nextRun: () => (extra && !(scheduled && scheduled <= extra.at) ? extra.at : scheduled),
    signal: stop.signal,
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

/**
 * Whether a clock was set back between two looks at it, and not only corrected: then what was planned from the future
 * does not hold. After a correction it does, or the same time would come again and again.
 */
function isSetBack(seen: Date, now: Date): boolean {
  return seen.getTime() - now.getTime() > CORRECTION_MS
}
