// Formats figures and days in a language. Figures are text of the API and never become floats. Rounding is commercial:
// half away from zero, once, from the exact text. Days are dd/mm/yyyy in both languages, times are those of Costa Rica.

import { numericDay } from './date-text.ts'
import { decimalSign } from './decimal.ts'

export type Language = 'es' | 'en'

const LOCALES: Record<Language, string> = { es: 'es-CR', en: 'en' }
const DAY_LOCALES: Record<Language, string> = { es: 'es-CR', en: 'en-GB' } // the day precedes the month
/** Names of currencies that Intl spells otherwise in some browsers. */
const CORRECTED_NAMES: Record<Language, Record<string, string>> = {
  es: { CNY: 'yuan chino', THB: 'baht tailandés' },
  en: {},
}
const JUST_NOW: Record<Language, string> = { es: 'hace un momento', en: 'just now' }
const ZONE = 'America/Costa_Rica'
const MAX_PLACES = 100
const CENTS = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
const ALL_DIGITS = { minimumFractionDigits: 2, maximumFractionDigits: MAX_PLACES }
const SIX_DIGITS = { maximumSignificantDigits: 6 }
const SIGNED = { signDisplay: 'exceptZero' } as const
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

/** Writes a decimal of the API. */
export type FigureFormat = (text: string) => string

export type Formats = ReturnType<typeof createFormats>

export function createFormats(language: Language) {
  const locale = LOCALES[language]
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(locale, { useGrouping: 'always', ...options })
    return (text: string) => format.format(text as Intl.StringNumericLiteral)
  }
  const days = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(DAY_LOCALES[language], { timeZone: 'UTC', ...options })
    return (day: string) => format.format(new Date(day))
  }
  // British English writes 22/11/2026, 05:00.
  const instants = new Intl.DateTimeFormat('en-GB', {
    timeZone: ZONE,
    dateStyle: 'short',
    timeStyle: 'short',
  })
  const times = new Intl.DateTimeFormat('en-GB', { timeZone: ZONE, timeStyle: 'short' })
  const longDays = days({ dateStyle: 'full' })
  const currencies = new Intl.DisplayNames(locale, { type: 'currency', fallback: 'none' })
  const cents = numbers(CENTS)
  const small = numbers(SIX_DIGITS)
  const signedCents = numbers({ ...CENTS, ...SIGNED })
  const signedSmall = numbers({ ...SIX_DIGITS, ...SIGNED })
  const cardinals = new Intl.NumberFormat(locale, { useGrouping: 'always' })
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return {
    /** Writes all digits, with at least two places. */
    exact: numbers(ALL_DIGITS),
    /** Writes all digits, and adds none. */
    whole: numbers({ maximumFractionDigits: MAX_PLACES }),
    /** Rounds to two places. */
    cents,
    /** Rounds a result: to two places, or to six significant digits below 0.01. */
    result: (text: string) => (/^-?0\.00/.test(text) ? small(text) : cents(text)),
    /** Rounds a cross rate: to two places, or to six significant digits below 10. Writes at least two places. */
    cross: (text: string) => {
      const digits = isBelowTen(text) ? small(text) : ''
      return /[.,]\d\d/.test(digits) ? digits : cents(text)
    },
    /** Encloses a negative figure in parentheses. @param format writes a positive decimal */
    accounting: (text: string, format: (text: string) => string) =>
      decimalSign(text) < 0 ? `(${format(text.slice(1))})` : format(text),
    /** Writes the sign, except of zero. */
    signed: numbers({ ...ALL_DIGITS, ...SIGNED }),
    /** @param text hundredths */
    percent: (text: string) => `${signedCents(text)}\u00a0%`, // a line does not break before the sign
    /** Writes the difference of two cross rates with its sign. @param rate one of them */
    crossChange: (text: string, rate: string) => (isBelowTen(rate) ? signedSmall(text) : signedCents(text)),
    /** Labels an axis, the one float: no value of the bank. */
    axis: (position: number, places: number) =>
      new Intl.NumberFormat(locale, { minimumFractionDigits: places, maximumFractionDigits: places }).format(
        position,
      ),
    count: (count: number) => cardinals.format(count),
    longDay: (day: string) => capitalize(longDays(day)),
    day: numericDay,
    /** Writes dd/mm. */
    shortDay: (day: string) => numericDay(day).slice(0, 5),
    weekDay: days({ weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' }),
    monthDay: days({ day: 'numeric', month: 'short' }),
    weekdayName: days({ weekday: 'long' }),
    month: days({ month: 'short', year: '2-digit' }),
    monthName: (month: string) => capitalize(days({ month: 'long' })(month)),
    year: days({ year: 'numeric' }),
    instant: (instant: string | number) => instants.format(new Date(instant)),
    time: (instant: string | number) => times.format(new Date(instant)),
    ago: (instant: string, now: number) => relativeTime(ago, Date.parse(instant) - now) ?? JUST_NOW[language],
    currency: (code: string) => capitalizeName(CORRECTED_NAMES[language][code] ?? currencies.of(code)),
    bytes: (bytes: number) => formatBytes(locale, bytes),
  }
}

/** Number of digits behind the decimal sign, which is the last sign of a figure with decimals. */
export function decimalCount(text: string): number {
  return /[.,](\d+)$/.exec(text)?.[1]?.length ?? 0
}

function isBelowTen(text: string): boolean {
  return /^-?\d(\.|$)/.test(text)
}

/** @returns undefined within the same minute */
function relativeTime(format: Intl.RelativeTimeFormat, ms: number): string | undefined {
  const minutes = Math.round(ms / 60_000)
  if (minutes === 0) return undefined
  if (Math.abs(minutes) < 60) return format.format(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return Math.abs(hours) < 36 ? format.format(hours, 'hour') : format.format(Math.round(hours / 24), 'day')
}

function formatBytes(locale: string, bytes: number): string {
  let [amount, index] = [bytes, 0]
  while (amount >= 1000 && index < BYTE_UNITS.length - 1) {
    amount /= 1000
    index += 1
  }
  const unit = BYTE_UNITS[index] ?? 'byte'
  const maximumFractionDigits = index === 0 || amount >= 100 ? 0 : 1
  return new Intl.NumberFormat(locale, {
    style: 'unit',
    unit,
    unitDisplay: index === 0 ? 'long' : 'short',
    maximumFractionDigits,
  }).format(amount)
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function capitalizeName(text: string | undefined): string | undefined {
  return text === undefined ? undefined : capitalize(text)
}
