// Weeks of a month, and the keys that move in them.

import { addDays, addMonths } from './days.ts'

/** Weeks from Monday of the month of a day. Cells of other months are undefined. */
export function monthWeeks(day: string): (string | undefined)[][] {
  const month = day.slice(0, 7)
  const first = `${month}-01`
  const weekday = (new Date(first).getUTCDay() + 6) % 7
  const weeks: (string | undefined)[][] = []
  for (let start = addDays(first, -weekday); start.slice(0, 7) <= month; start = addDays(start, 7)) {
    const days = Array.from({ length: 7 }, (_, index) => addDays(start, index))
    weeks.push(days.map((one) => (one.startsWith(month) ? one : undefined)))
  }
  return weeks
}

/** Returns the day to which a key moves; undefined for other keys. PageUp is the month before, with Shift the year. */
export function moveInCalendar(day: string, key: string, isShift: boolean): string | undefined {
  const weekday = (new Date(day).getUTCDay() + 6) % 7
  const months = isShift ? 12 : 1
  switch (key) {
    case 'ArrowLeft':
      return addDays(day, -1)
    case 'ArrowRight':
      return addDays(day, 1)
    case 'ArrowUp':
      return addDays(day, -7)
    case 'ArrowDown':
      return addDays(day, 7)
    case 'Home':
      return addDays(day, -weekday)
    case 'End':
      return addDays(day, 6 - weekday)
    case 'PageUp':
      return addMonths(day, -months)
    case 'PageDown':
      return addMonths(day, months)
    default:
      return undefined
  }
}
