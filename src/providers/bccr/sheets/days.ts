// Parses the days of the bank's files (upstream 5): 24/03/2026, 2026-03-24, 24 mar 2026. The day precedes the month, as
// in Costa Rica. Years of two digits are rejected.

import { type Cell, cellExcerpt } from '../../../formats/sheets/cells.ts'
import { type IsoDate, isIsoDate } from '../../../values/dates.ts'
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
const YEAR_FIRST = /^(\d{4})[/-](\d{1,2})[/-](\d{1,2})$/
/** Time of a day with its zone, after `plainName`. */
const TIME =
  /[t ](\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?([ap])\.? ?m\.?)?(?: ?(z|[a-z]{2,4}[-+\d:]*|[-+]\d[\d:]*))?$/
const COSTA_RICA = /^(?:utc|gmt)?-0?6(?::?00)?$/
const WORDS = /^(\d{1,2})[ -]?(?:de )?([a-z]{3,})\.?(?:[ -](?:de )?(\d{4}))?$/

/** Returns the day of a cell, also with a time; undefined: no day. */
export function cellDay(cell: Cell | undefined): IsoDate | undefined {
  if (cell?.kind === 'day') return cell.day
  if (cell?.kind !== 'text') return undefined
  const text = plainName(cell.text).replace(TIME, '')
  const [, day, , month, year] = NUMBERS.exec(text) ?? []
  if (day !== undefined) return validDate(year, month, day)
  const [, first, second, third] = YEAR_FIRST.exec(text) ?? []
  if (first !== undefined) return validDate(first, second, third)
  const [, dayOfMonth, word = '', lastYear] = WORDS.exec(text) ?? []
  return lastYear === undefined ? undefined : validDate(lastYear, monthNumber(word), dayOfMonth)
}

/** Returns the fault of a day whose time is not midnight in Costa Rica. */
export function timeFault(cell: Cell | undefined): string | undefined {
  const time = cell?.kind === 'text' ? TIME.exec(plainName(cell.text)) : null
  if (!cell || !time) return undefined
  const [, hour, minutes, seconds = '0', fraction = '0', half, zone = '-06:00'] = time
  const isMidnight = half === 'a' ? Number(hour) % 12 === 0 : half === undefined && Number(hour) === 0
  const rest = Number(minutes) + Number(seconds) + Number(fraction)
  return isMidnight && rest === 0 && COSTA_RICA.test(zone)
    ? undefined
    : `${cellExcerpt(cell)} is no day: its time is not 00:00 in Costa Rica, -06:00`
}

/** Parses `24 mar`, without a year, as `03-24`; undefined: another text. */
export function cellMonthDay(cell: Cell | undefined): string | undefined {
  if (cell?.kind !== 'text') return undefined
  const [, day = '', word = '', year] = WORDS.exec(plainName(cell.text)) ?? []
  const month = monthNumber(word)
  return month === undefined || year !== undefined ? undefined : `${twoDigits(month)}-${twoDigits(day)}`
}

export function cellYear(cell: Cell | undefined): string | undefined {
  const text = cell?.kind === 'text' ? cell.text : cell?.kind === 'number' ? cell.digits : ''
  return /^(19|2\d)\d\d$/.test(text) ? text : undefined
}

export function isMonth(cell: Cell | undefined): boolean {
  return cell?.kind === 'text' && monthNumber(plainName(cell.text)) !== undefined
}

/** Notation of a day: a date of the workbook, or a text. In `numbers`, day and month may be confused, in `clear` not. */
export type DayNotation = 'date' | 'numbers' | 'clear'

export function dayNotation(cell: Cell | undefined): DayNotation {
  if (cell?.kind === 'day') return 'date'
  return cell?.kind === 'text' && NUMBERS.test(plainName(cell.text).replace(TIME, '')) ? 'numbers' : 'clear'
}

function monthNumber(word: string): string | undefined {
  const at = MONTHS.findIndex((names) => word.length >= 3 && names.some((name) => name.startsWith(word)))
  return at < 0 ? undefined : String(at + 1)
}

function validDate(year = '', month = '', day = ''): IsoDate | undefined {
  const date = `${year}-${twoDigits(month)}-${twoDigits(day)}`
  return isIsoDate(date) ? date : undefined
}

function twoDigits(text: string): string {
  return text.padStart(2, '0')
}
