// Days as the API writes them, YYYY-MM-DD. Calculated in UTC, so that no zone of a browser shifts one.

const DAY_MS = 86_400_000
const COSTA_RICA_MS = 6 * 3_600_000 // UTC-6, without daylight saving

export function todayAt(now: number): string {
  return new Date(now - COSTA_RICA_MS).toISOString().slice(0, 10)
}

export function addDays(day: string, days: number): string {
  return new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)
}

/** The same day of another month, or that month's last day when it is shorter. */
export function addMonths(day: string, months: number): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number)
  const last = new Date(Date.UTC(year, month - 1 + months + 1, 0)).getUTCDate()
  return new Date(Date.UTC(year, month - 1 + months, Math.min(date, last))).toISOString().slice(0, 10)
}

export const FIRST_DAY = '1983-01-01'

/** Why the page asks for no rates of a day. */
export type DayFault = 'unreadable' | 'before' | 'future'

/** Rates of tomorrow are published today; a later day has none. @param day half-typed ones are empty */
export function validateDay(day: string, today: string): DayFault | undefined {
  if (/^\d{4}-\d\d-\d\d$/.test(day) && day < FIRST_DAY) return 'before' // a year being typed has zeros: 0002
  if (!isDay(day)) return 'unreadable'
  return day > addDays(today, 1) ? 'future' : undefined
}

/** Whether it is a day of the calendar that the API takes. */
export function isDay(text: string): boolean {
  if (!/^(19|2\d)\d\d-\d\d-\d\d$/.test(text)) return false
  const time = Date.parse(text)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
