// Days as the bank's files write them (upstream 5): 24/03/2026, 2026-03-24, 24 mar 2026. The day comes before the month,
// as in Costa Rica. A year of two digits is no year.

import { type IsoDate, isIsoDate } from '../../../dates.ts'
import type { Cell } from '../../../spreadsheets/cells.ts'
import { plainName } from '../../plain-name.ts'

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
const NUMBERS = /^(\d{1,2})([/-])(\d{1,2})\2(\d{4})$/
const YEAR_FIRST = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?)?$/
const WORDS = /^(\d{1,2})[ -]?(?:de )?([a-z]{3,})\.?(?:[ -](?:de )?(\d{4}))?$/

/** The day of a cell; undefined: it is none. */
export function dayOfCell(cell: Cell | undefined): IsoDate | undefined {
  if (cell?.kind === 'day') return cell.day
  if (cell?.kind !== 'text') return undefined
  const text = plainName(cell.text)
  const [, day, , month, year] = NUMBERS.exec(text) ?? []
  if (day !== undefined) return dateOf(year, month, day)
  const [, first, second, third] = YEAR_FIRST.exec(text) ?? []
  if (first !== undefined) return dateOf(first, second, third)
  const [, dayOfMonth, word = '', itsYear] = WORDS.exec(text) ?? []
  return itsYear === undefined ? undefined : dateOf(itsYear, monthOf(word), dayOfMonth)
}

/** `24 mar`, without a year, as `03-24`; undefined: it is none. */
export function dayOfYear(cell: Cell | undefined): string | undefined {
  if (cell?.kind !== 'text') return undefined
  const [, day = '', word = '', year] = WORDS.exec(plainName(cell.text)) ?? []
  const month = monthOf(word)
  return month === undefined || year !== undefined ? undefined : `${two(month)}-${two(day)}`
}

export function yearOf(cell: Cell | undefined): string | undefined {
  const text = cell?.kind === 'text' ? cell.text : cell?.kind === 'number' ? cell.digits : ''
  return /^(19|2\d)\d\d$/.test(text) ? text : undefined
}

export function isMonth(cell: Cell | undefined): boolean {
  return cell?.kind === 'text' && monthOf(plainName(cell.text)) !== undefined
}

/**
 * How a day is written: as a date of the workbook, or as a text in which day and month are numbers, of which either could
 * be the other; `clear`: neither can.
 */
export type Writing = 'date' | 'numbers' | 'clear'

export function writingOf(cell: Cell | undefined): Writing {
  if (cell?.kind === 'day') return 'date'
  return cell?.kind === 'text' && NUMBERS.test(cell.text) ? 'numbers' : 'clear'
}

function monthOf(word: string): string | undefined {
  const at = MONTHS.findIndex((names) => word.length >= 3 && names.some((name) => name.startsWith(word)))
  return at < 0 ? undefined : String(at + 1)
}

function dateOf(year = '', month = '', day = ''): IsoDate | undefined {
  const date = `${year}-${two(month)}-${two(day)}`
  return isIsoDate(date) ? date : undefined
}

function two(text: string): string {
  return text.padStart(2, '0')
}
