// Days and instants of the keyed services.

import { dayNumber, earliest, type IsoDate, isIsoDate } from '../../../values/dates.ts'

/** Remaining quota where there is none, so that programs go on. */
export const UNLIMITED = 1_000_000_000

const DAY_S = 86_400

/** Parses a day; future days become today. Undefined: not a day. */
export function parsePastDay(text: string, today: IsoDate): IsoDate | undefined {
  return isIsoDate(text) ? earliest(text, today) : undefined
}

/** Returns midnight UTC, in seconds since 1970. */
export function midnightSeconds(day: IsoDate): number {
  return dayNumber(day) * DAY_S
}

/** Returns noon UTC: programs derive the day from it, and only the outermost time zones change the day. */
export function noonSeconds(day: IsoDate): number {
  return midnightSeconds(day) + DAY_S / 2
}

/** Returns the last second of a day in UTC. */
export function lastSecond(day: IsoDate): number {
  return midnightSeconds(day) + DAY_S - 1
}
