// Days as YYYY-MM-DD. Calculations use UTC, so that the browser's time zone shifts no day.

import { addDays, dayNumber } from '../../values/dates.ts'

export { addDays, isIsoDate as isDay } from '../../values/dates.ts'

const COSTA_RICA_MS = 6 * 3_600_000 // UTC-6, without daylight saving

export function costaRicaDay(now: number): string {
  return costaRicaTime(now).slice(0, 10)
}

/** Local time as YYYY-MM-DDTHH:MM:SS. */
export function costaRicaTime(now: number): string {
  return new Date(now - COSTA_RICA_MS).toISOString().slice(0, 19)
}

/** Number of days from one day to another. */
export function dayDifference(from: string, to: string): number {
  return dayNumber(to) - dayNumber(from)
}

/** Returns the same day of another month, or its last day if that month is shorter. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))).toISOString().slice(0, 10)
}

/** Last day of the month before. */
export function lastMonthEnd(day: string): string {
  return addDays(`${day.slice(0, 7)}-01`, -1)
}

export const FIRST_DAY = '1983-01-01'
