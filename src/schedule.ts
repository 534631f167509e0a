// The only door to the cron library. A pattern is read in Costa Rica's time, whatever the host's zone.

import { Cron } from 'croner'

export const TIME_ZONE = 'America/Costa_Rica'

const CORRECTION_MS = 15 * 60_000

/** What is wrong with a cron pattern, or undefined when it is fine. */
export function cronFault(pattern: string): string | undefined {
  try {
    return new Cron(pattern, { timezone: TIME_ZONE, paused: true }).nextRun()
      ? undefined
      : 'it never comes true'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** The first time after `now` at which the pattern comes true. */
export function nextTime(pattern: string, now: Date): Date | undefined {
  return new Cron(pattern, { timezone: TIME_ZONE, paused: true }).nextRun(now) ?? undefined
}

/** The last time at or before `now` at which the pattern came true. */
export function previousTime(pattern: string, now: Date): Date | undefined {
  // The library looks strictly before its reference, to the second.
  const reference = new Date(now.getTime() + 1000)
  return new Cron(pattern, { timezone: TIME_ZONE, paused: true }).previousRuns(1, reference)[0]
}

/**
 * Whether a clock was set back between two looks at it, and not only corrected: then what was planned from the future
 * does not hold. After a correction it does, or the same time would come again and again.
 */
export function isSetBack(seen: Date, now: Date): boolean {
  return seen.getTime() - now.getTime() > CORRECTION_MS
}
