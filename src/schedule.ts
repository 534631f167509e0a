// The only door to the cron library. A pattern is read in Costa Rica's time, whatever the host's zone.

import { Cron } from 'croner'

export const TIME_ZONE = 'America/Costa_Rica'

/** Whether a text is a cron pattern, and one that comes true some day. */
export function cronState(pattern: string): 'fine' | 'malformed' | 'never' {
  try {
    return new Cron(pattern, { timezone: TIME_ZONE, paused: true }).nextRun() ? 'fine' : 'never'
  } catch {
    return 'malformed' // the library's reasons speak of entries that it counts itself, and name wrong values
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
