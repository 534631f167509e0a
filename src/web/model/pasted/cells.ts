// Reads cells of pasted tables: dates in three notations, amounts with the decimal sign of their column, currencies.

import { type Amount, parseAmount } from '../amount.ts'
import { type DateReading, type RateDays, readDate } from '../date-text.ts'
import { addDays } from '../days.ts'

export type DateOrder = 'dmy' | 'mdy' | 'serial'
export type DecimalMark = ',' | '.'
export type CurrencyReading = { code: string; isListed: boolean }

const NUMERIC_DATE = /^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)$/
const EIGHT_DIGITS = /^(\d\d)(\d\d)(\d{4})$/
const TIME = /[ t]+\d{1,2}:\d\d(:\d\d)?([.,]\d+)?( ?[ap]\.? ?m\.?|-06:?00)?$/i
const SERIAL = /^(\d{5})([.,]\d+)?$/
const SERIAL_START = '1899-12-30' // day 0 of spreadsheets
const ANY_DAY: RateDays = { first: '1000-01-01', last: '9999-12-31' }
const FIRST_SERIAL = 30317 // 1983-01-01
const ISO_CODES = new Set(Intl.supportedValuesOf('currency'))

/** Reads a date in the order of its column. @param today for years of two digits */
export function readDateCell(cell: string, order: DateOrder, days: RateDays, today: string): DateReading {
  const text = cell.trim().replace(TIME, '')
  if (order === 'serial') return readSerial(text, days, today)
  return readDate(order === 'mdy' ? swapDayAndMonth(text) : text, days, today)
}

/** Orders in which a cell is a date, even one that does not exist, such as 31/11/2026. */
export function dateOrders(cell: string, today: string): DateOrder[] {
  if (!/^\s*(\d|\p{L}{3,9}$)/u.test(cell)) return []
  const text = cell.trim().replace(TIME, '')
  const isDate = (order: 'dmy' | 'mdy') => {
    const { day, error } = readDateCell(text, order, ANY_DAY, today)
    const [, month = 0, date = 0] = (day ?? error?.day ?? '').split('-').map(Number)
    return month >= 1 && month <= 12 && date >= 1 && date <= 31
  }
  if (/^\d{5,}([.,]\d+)?$/.test(text) && !EIGHT_DIGITS.test(text))
    return isSerial(text, today) ? ['serial'] : []
  return (['dmy', 'mdy'] as const).filter(isDate)
}

/**
 * Reads an amount with the decimal sign of its column. Parentheses, and a minus before or behind, make it negative.
 * An unknown code is an error with that code.
 */
export function readAmountCell(cell: string, sign: DecimalMark, codes: ReadonlySet<string>): Amount {
  const text = cell
    .trim()
    .replace(/^(.*\d.*?)\s*[-−–]$/, '-$1')
    .replace(/^([^\d()]*)\(([^()]*)\)([^\d()]*)$/, '($1 $2 $3)')
  const amount = parseAmount(text, codes, sign)
  if (amount.error !== undefined) return amount
  return amount.isSum ? { error: 'no-amount' } : amount
}

/** Returns the decimal sign that a cell shows; undefined: it shows none, or it can be read both ways. */
export function shownDecimalSign(cell: string): DecimalMark | undefined {
  const [text] = /\d[\d.,\s\u00a0\u2009\u202f'’]*/.exec(cell) ?? []
  const signs = text?.trim().match(/[.,](?=\d)/g) ?? []
  const last = signs.at(-1) as DecimalMark | undefined
  if (text === undefined || last === undefined) return undefined
  if (new Set(signs).size > 1) return last
  if (signs.length > 1) return last === ',' ? '.' : ','
  const [whole = '', fraction = ''] = text.trim().split(last)
  const isEither = fraction.trim().length === 3 && /^[1-9]\d{0,2}$/.test(whole)
  return isEither ? undefined : last
}

/** Reads a code, a sign or a name. Codes without rates are read too. */
export function readCurrencyCell(cell: string, codes: ReadonlySet<string>): CurrencyReading | undefined {
  if (cell === '' || /[\d+()%-]/.test(cell) || cell.length > 20) return undefined
  const text = /^[a-z]{3}$/i.test(cell) ? cell.toUpperCase() : cell
  const amount = parseAmount(`1 ${text}`, codes)
  if (amount.error === undefined) {
    return amount.currency === undefined ? undefined : { code: amount.currency, isListed: true }
  }
  const { code } = amount
  return code !== undefined && ISO_CODES.has(code) ? { code, isListed: false } : undefined
}

function readSerial(text: string, days: RateDays, today: string): DateReading {
  const [, digits] = SERIAL.exec(text) ?? []
  if (digits === undefined) return { error: { kind: 'unreadable' } }
  return readDate(addDays(SERIAL_START, Number(digits)), days, today)
}

/** Returns true for days from 1983 to the end of next year. */
function isSerial(text: string, today: string): boolean {
  const [, digits] = SERIAL.exec(text) ?? []
  if (digits === undefined || Number(digits) < FIRST_SERIAL) return false
  return addDays(SERIAL_START, Number(digits)) <= `${Number(today.slice(0, 4)) + 1}-12-31`
}

function swapDayAndMonth(text: string): string {
  return text.replace(NUMERIC_DATE, '$3$2$1$2$4').replace(EIGHT_DIGITS, '$2$1$3')
}
