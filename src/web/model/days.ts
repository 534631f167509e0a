// Days as YYYY-MM-DD. Calculations use UTC, so that the browser's time zone shifts no day.

const DAY_MS = 86_400_000
const COSTA_RICA_MS = 6 * 3_600_000 // UTC-6, without daylight saving

export function costaRicaDay(now: number): string {
  return costaRicaTime(now).slice(0, 10)
}

/** Local time as YYYY-MM-DDTHH:MM:SS. */
export function costaRicaTime(now: number): string {
  return new Date(now - COSTA_RICA_MS).toISOString().slice(0, 19)
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** Number of days from one day to another. */
export function dayDifference(from: string, to: string): number {
  return Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS)
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

/** Returns true for a day of the calendar from 1900 to 2999, the range of the API. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
