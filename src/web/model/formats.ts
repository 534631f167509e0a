// Formats figures and days in a language. Figures are text of the API and never become floats.

export type Language = 'es' | 'en'

const LOCALES: Record<Language, string> = { es: 'es-CR', en: 'en' }
const MAX_PLACES = 100
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

export type Formats = ReturnType<typeof createFormats>

export function createFormats(language: Language) {
  const locale = LOCALES[language]
  const numbers = (options: Intl.NumberFormatOptions) => {
    const format = new Intl.NumberFormat(locale, { useGrouping: 'always', ...options })
    return (text: string) => format.format(text as Intl.StringNumericLiteral)
  }
  const days = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { timeZone: 'UTC', ...options })
    return (day: string) => format.format(new Date(day))
  }
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' })
  const currencies = new Intl.DisplayNames(locale, { type: 'currency', fallback: 'none' })
  const cents = numbers({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
  const small = numbers({ maximumSignificantDigits: 6 })
  const axes = new Intl.NumberFormat(locale, { maximumSignificantDigits: 6 })
  const cardinals = new Intl.NumberFormat(locale, { useGrouping: 'always' })
  const ago = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  return {
    /** Writes all digits, with at least two places. */
    exact: numbers({ minimumFractionDigits: 2, maximumFractionDigits: MAX_PLACES }),
    /** Writes all digits, and adds none. */
    whole: numbers({ maximumFractionDigits: MAX_PLACES }),
    /** Rounds to two places; a value below 1 with three or more decimals to six significant digits. */
    rounded: (text: string) => (/^-?0\.\d{3}/.test(text) ? small(text) : cents(text)),
    /** Writes the sign, except of zero. */
    signed: numbers({
      minimumFractionDigits: 2,
      maximumFractionDigits: MAX_PLACES,
      signDisplay: 'exceptZero',
    }),
    /** @param text hundredths */
    percent: (text: string) => `${signedCents(locale, text)} %`,
    /** Labels an axis, the one float: no value of the bank. */
    axis: (position: number) => axes.format(position),
    count: (count: number) => cardinals.format(count),
    longDay: (day: string) => capitalize(days({ dateStyle: 'full' })(day)),
    day: days({ day: 'numeric', month: 'short', year: 'numeric' }),
    monthDay: days({ day: 'numeric', month: 'short' }),
    month: days({ month: 'short', year: '2-digit' }),
    monthName: (month: string) => capitalize(days({ month: 'long' })(month)),
    year: days({ year: 'numeric' }),
    instant: (instant: string) => instants.format(new Date(instant)),
    ago: (instant: string, now: number) => relativeTime(ago, Date.parse(instant) - now),
    currency: (code: string) => capitalizeName(currencies.of(code)),
    bytes: (bytes: number) => formatBytes(locale, bytes),
  }
}

function signedCents(locale: string, text: string): string {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' } as const
  return new Intl.NumberFormat(locale, { useGrouping: 'always', ...options }).format(
    text as Intl.StringNumericLiteral,
  )
}

function relativeTime(format: Intl.RelativeTimeFormat, ms: number): string {
  const minutes = Math.round(ms / 60_000)
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
