// Weeks, months, quarters and years, as day numbers.

import { dayNumber, isoDate } from '../../../values/dates.ts'

export type PeriodLength = 'day' | 'week' | 'month' | 'quarter' | 'year'

/** First and last day. */
export type Period = { first: number; last: number }

const MONTHS = { month: 1, quarter: 3, year: 12 } as const

/** Finds the period of a day; weeks begin on Monday. */
export function findPeriod(day: number, length: PeriodLength): Period {
  if (length === 'day') return { first: day, last: day }
  if (length === 'week') {
    const first = day - ((((day + 3) % 7) + 7) % 7) // 1970-01-01 was a Thursday
    return { first, last: first + 6 }
  }
  const iso = isoDate(day)
  const month = Number(iso.slice(0, 4)) * 12 + Number(iso.slice(5, 7)) - 1
  const begin = month - (month % MONTHS[length])
  return { first: firstOfMonth(begin), last: firstOfMonth(begin + MONTHS[length]) - 1 }
}

/** First day of a month, counted from January of the year 0. */
function firstOfMonth(month: number): number {
  const number = String((month % 12) + 1).padStart(2, '0')
  return dayNumber(`${Math.floor(month / 12)}-${number}-01`)
}
