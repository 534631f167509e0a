// Figures and days in a language. Numbers go in as the API's text and never become a float on the way.

export type Language = 'es' | 'en'

const LOCALES: Record<Language, string> = { es: 'es-CR', en: 'en' }
const MOST_PLACES = 100
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const

export type Formats = ReturnType<typeof formatsIn>

export function formatsIn(language: Language) {
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
    /** All digits, and at least two places. */
    exact: numbers({ minimumFractionDigits: 2, maximumFractionDigits: MOST_PLACES }),
    /** All digits and no more. */
    whole: numbers({ maximumFractionDigits: MOST_PLACES }),
    /** Two places; below one six digits that say something. */
    rounded: (text: string) => (/^-?0\.\d{3}/.test(text) ? small(text) : cents(text)),
    /** With its sign, but for zero. */
    signed: numbers({
      minimumFractionDigits: 2,
      maximumFractionDigits: MOST_PLACES,
      signDisplay: 'exceptZero',
    }),
    /** What is in hundredths already. */
    percent: (text: string) => `${signedCents(locale, text)} %`,
    /** A place on an axis, which is no figure of the bank's. */
    axis: (place: number) => axes.format(place),
    /** A count. */
    count: (count: number) => cardinals.format(count),
    longDay: (day: string) => capitalized(days({ dateStyle: 'full' })(day)),
    day: days({ day: 'numeric', month: 'short', year: 'numeric' }),
    monthDay: days({ day: 'numeric', month: 'short' }),
    month: days({ month: 'short', year: '2-digit' }),
    monthName: (month: string) => capitalized(days({ month: 'long' })(month)),
    year: days({ year: 'numeric' }),
    instant: (instant: string) => instants.format(new Date(instant)),
    ago: (instant: string, now: number) => agoOf(ago, Date.parse(instant) - now),
    currency: (code: string) => capitalizedOr(currencies.of(code)),
    bytes: (bytes: number) => bytesIn(locale, bytes),
  }
}

function signedCents(locale: string, text: string): string {
  const options = { minimumFractionDigits: 2, maximumFractionDigits: 2, signDisplay: 'exceptZero' } as const
  return new Intl.NumberFormat(locale, { useGrouping: 'always', ...options }).format(
    text as Intl.StringNumericLiteral,
  )
}

function agoOf(format: Intl.RelativeTimeFormat, ms: number): string {
  const minutes = Math.round(ms / 60_000)
  if (Math.abs(minutes) < 60) return format.format(minutes, 'minute')
  const hours = Math.round(minutes / 60)
  return Math.abs(hours) < 36 ? format.format(hours, 'hour') : format.format(Math.round(hours / 24), 'day')
}

function bytesIn(locale: string, bytes: number): string {
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

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function capitalizedOr(text: string | undefined): string | undefined {
  return text === undefined ? undefined : capitalized(text)
}
