// The only door to the cron library. A pattern is read in the time of a zone that is named, by default Costa Rica's,
// whatever the host's is.

import { Cron } from 'croner'
import { TIME_ZONE } from './dates.ts'

/** Whether a text is a cron pattern, and one that comes true some day. */
export function cronState(pattern: string): 'fine' | 'malformed' | 'never' {
  try {
    return parsed(pattern).nextRun() ? 'fine' : 'never'
  } catch {
    return 'malformed' // the library's reasons speak of entries that it counts itself, and name wrong values
  }
}

/** The first time after `now` at which the pattern comes true. */
export function nextTime(pattern: string, now: Date, timeZone = TIME_ZONE): Date | undefined {
  return parsed(pattern, timeZone).nextRun(now) ?? undefined
}

/** The last time at or before `now` at which the pattern came true. */
export function previousTime(pattern: string, now: Date, timeZone = TIME_ZONE): Date | undefined {
  // The library looks strictly before its reference, to the second.
  const reference = new Date(now.getTime() + 1000)
  return parsed(pattern, timeZone).previousRuns(1, reference)[0]
}

function parsed(pattern: string, timezone = TIME_ZONE): Cron {
  return new Cron(pattern, { timezone, paused: true })
}
