// Cron patterns; the only door to the library. A pattern has a time zone, by default Costa Rica's, never the host's.

import { Cron } from 'croner'
import { TIME_ZONE } from '../values/dates.ts'

/** Validates a cron pattern; `never`: it matches no future time. */
export function cronState(pattern: string): 'fine' | 'malformed' | 'never' {
  try {
    return parseCron(pattern).nextRun() ? 'fine' : 'never'
  } catch {
    return 'malformed' // messages of the library name internal indexes and wrong values
  }
}

/** Returns the first match of the pattern after `now`. */
export function nextTime(pattern: string, now: Date, timeZone = TIME_ZONE): Date | undefined {
  return parseCron(pattern, timeZone).nextRun(now) ?? undefined
}

/** Returns the last match of the pattern at or before `now`. */
export function previousTime(pattern: string, now: Date, timeZone = TIME_ZONE): Date | undefined {
  // The library searches strictly before its reference, to the second.
  const reference = new Date(now.getTime() + 1000)
  return parseCron(pattern, timeZone).previousRuns(1, reference)[0]
}

function parseCron(pattern: string, timezone = TIME_ZONE): Cron {
  return new Cron(pattern, { timezone, paused: true })
}
