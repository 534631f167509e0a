// Days and moments, as the services with keys read and write them.

import { dayOf, earliest, type IsoDate, isIsoDate } from '../../../dates.ts'

/** What is left of a quota where there is none: a program that looks at it goes on asking. */
export const WITHOUT_END = 1_000_000_000

const DAY_S = 86_400

/** A day as it was sent; what lies in the future is today. Undefined: it is none. */
export function dayIn(text: string, today: IsoDate): IsoDate | undefined {
  return isIsoDate(text) ? earliest(text, today) : undefined
}

/** The beginning of a day in UTC, in seconds since 1970. */
export function midnightOf(day: IsoDate): number {
  return dayOf(day) * DAY_S
}

/** Noon of a day in UTC: programs take the day from it, and no inhabited time zone but the outermost makes it another. */
export function noonOf(day: IsoDate): number {
  return midnightOf(day) + DAY_S / 2
}

/** The last second of a day in UTC. */
export function endOf(day: IsoDate): number {
  return midnightOf(day) + DAY_S - 1
}
