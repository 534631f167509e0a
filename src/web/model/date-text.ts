// Reads a date as people type it: `12/3/2019`, `12-3-19`, `12032019`, `12 de marzo de 2019`, `2019-03-12`, `hoy`. The
// day precedes the month. A date that does not exist or is out of range is an error, and no other day replaces it.

import { addDays, addMonths } from './days.ts'

/** Days that have rates. `last`: today, or tomorrow once it is published. */
export type RateDays = { first: string; last: string }
/** `day` is YYYY-MM-DD, of a day that may not exist. */
export type DateError =
  | { kind: 'unreadable'; day?: undefined }
  | { kind: 'missing' | 'before' | 'future' | 'order'; day: string }
export type DateReading = { day: string; error?: undefined } | { day?: undefined; error: DateError }

const WORDS: Record<string, number> = { hoy: 0, today: 0, ayer: -1, yesterday: -1 }
const YEAR_FIRST = /^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})$/
const DAY_FIRST = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)$/
const DIGITS = /^(\d\d)(\d\d)(\d{4})$/
const MONTH_NAME = /^(\d{1,2})(?:de|[-/.])?(\p{L}+)\.?(?:del?|[-/.,])?(\d{4}|\d\d)$/u
/** Months in both languages. September has two spellings in Spanish. */
const MONTHS = [
  ['enero', 'january'],
  ['febrero', 'february'],
  ['marzo', 'march'],
  ['abril', 'april'],
  ['mayo', 'may'],
  ['junio', 'june'],
  ['julio', 'july'],
  ['agosto', 'august'],
  ['septiembre', 'setiembre', 'september'],
  ['octubre', 'october'],
  ['noviembre', 'november'],
  ['diciembre', 'december'],
]
const MIN_LETTERS = 3
const UNREADABLE: DateReading = { error: { kind: 'unreadable' } }

export function readDate(input: string, { first, last }: RateDays, today: string): DateReading {
  const text = input.trim().toLowerCase().replace(/\s+/g, ' ')
  const offset = WORDS[text]
  if (offset !== undefined) return checkRange(addDays(today, offset), { first, last })
  const parts = dateParts(text.replace(/ ?([-/.]) ?/g, '$1'))
  if (!parts) return UNREADABLE
  const [year, month, date] = [fullYear(parts.year, today), parts.month, parts.date]
  if (year < 1000) return UNREADABLE
  const day = [year, ...[month, date].map((part) => String(part).padStart(2, '0'))].join('-')
  if (!isCalendarDay(day)) return { error: { kind: 'missing', day } }
  return checkRange(day, { first, last })
}

/** Returns the day to which a key moves the field. Shift moves by a year. Other keys return undefined. */
export function stepDay(day: string, key: string, isShift: boolean): string | undefined {
  const sign = { ArrowUp: 1, PageUp: 1, ArrowDown: -1, PageDown: -1 }[key]
  if (sign === undefined) return undefined
  if (isShift) return addMonths(day, 12 * sign)
  return key.startsWith('Page') ? addMonths(day, sign) : addDays(day, sign)
}

/** Writes a day as dd/mm/yyyy, in both languages. */
export function numericDay(day: string): string {
  return day.split('-').reverse().join('/')
}

function checkRange(day: string, { first, last }: RateDays): DateReading {
  if (day < first) return { error: { kind: 'before', day } }
  return day > last ? { error: { kind: 'future', day } } : { day }
}

function dateParts(text: string): { year: string; month: number; date: number } | undefined {
  const iso = YEAR_FIRST.exec(text)
  if (iso) return { year: iso[1] ?? '', month: Number(iso[2]), date: Number(iso[3]) }
  const numeric = DAY_FIRST.exec(text)
  if (numeric) return { year: numeric[4] ?? '', month: Number(numeric[3]), date: Number(numeric[1]) }
  const digits = DIGITS.exec(text)
  if (digits) return { year: digits[3] ?? '', month: Number(digits[2]), date: Number(digits[1]) }
  const words = MONTH_NAME.exec(text.replace(/ (del?) /g, ' ').replaceAll(' ', ''))
  const month = words ? monthNumber(words[2] ?? '') : 0
  return words && month > 0 ? { year: words[3] ?? '', month, date: Number(words[1]) } : undefined
}

/** Returns 1 to 12 for a name, or its beginning of three letters or more; else 0. */
function monthNumber(text: string): number {
  if (text.length < MIN_LETTERS) return 0
  return MONTHS.findIndex((names) => names.some((name) => name.startsWith(text))) + 1
}

/** A year of two digits is of this century up to next year's, else of the last one. */
function fullYear(text: string, today: string): number {
  const year = Number(text)
  if (text.length > 2) return year
  return year <= Number(today.slice(2, 4)) + 1 ? 2000 + year : 1900 + year
}

function isCalendarDay(day: string): boolean {
  const time = Date.parse(day)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day)
}
