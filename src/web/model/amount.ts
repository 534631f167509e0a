// Parses an amount as people type it: a sum of terms. A term is a number with an optional currency before or behind it.
// `15.000,50`, `15,000.50` and `15 000.50` are one number. The last separator is decimal, unless it is the only kind and
// repeats or precedes three digits. Text with two readings is rejected. The page always shows the parsed amount.

import { decimalText, parseScaled, rescaleUnits, type Scaled } from './decimal.ts'
import { foldText } from './search.ts'

export type AmountError =
  | 'empty'
  | 'no-amount'
  | 'ambiguous'
  | 'percent'
  | 'zero'
  | 'zero-sum'
  | 'currencies'
  | 'unknown-currency'
  | 'too-long'
export type ParsedAmount = {
  /** Digits and a point, with a minus if negative. */
  value: string
  isSum: boolean
  /** Code of the currency in the text. */
  currency: string | undefined
  /** The currency was written as ¥, a sign of several currencies. */
  hasYenSign: boolean
  error?: undefined
}
/** `code`: the currency without rates. */
export type Amount = ParsedAmount | (AmountFailure & { value?: undefined; currency?: undefined })

type Decimal = { value: string; decimalSign?: string | undefined; groupSign?: string | undefined }
type Term = Decimal & { isNegative: boolean; currencies: readonly string[] }
type AmountFailure = { error: AmountError; code?: string }

const SPACES = /[\s\u00a0\u2009\u202f'’]/g
const SIGNS: Record<string, string> = { US$: 'USD', '₡': 'CRC', $: 'USD', '€': 'EUR', '£': 'GBP', '¥': 'JPY' }
const NAMES: Record<string, RegExp> = {
  USD: /^(dolar(es)?|dollars?)$/,
  CRC: /^(colon(es)?|colons)$/,
  EUR: /^euros?$/,
  GBP: /^(libras?( esterlinas?)?|pounds?( sterling)?)$/,
  JPY: /^(yen(es)?|yens)$/,
}
const TERM = /^([^\d.,]*)((?:\d|[.,](?=\d))(?:[\d.,\s\u00a0\u2009\u202f'’]*[\d.,])?)([^\d.,]*)$/
const MAX_DIGITS = 60

/**
 * @param codes currencies that have rates; undefined: any in upper case
 * @param decimalSign decimal sign of a column; undefined: as the text shows
 */
export function parseAmount(input: string, codes?: ReadonlySet<string>, decimalSign?: ',' | '.'): Amount {
  const text = input.trim().replace(/[−–]/g, '-')
  if (!/\d/.test(text)) return { error: isCurrency(text, codes) ? 'empty' : 'no-amount' }
  if (text.includes('%')) return { error: 'percent' }
  const [, inner] = /^\(\s*([^-()][^()]*)\)$/.exec(text) ?? []
  const pieces = (inner ?? text).match(/[+-]?[^+-]+|[+-]/g) ?? []
  const terms: Term[] = []
  for (const piece of pieces) {
    const term = parseTerm(piece, codes, decimalSign)
    if ('error' in term) return term
    terms.push(term)
  }
  const currencies = new Set(terms.flatMap((term) => term.currencies))
  if (currencies.size > 1) return { error: 'currencies' }
  if (hasTwoNotations(terms)) return { error: 'ambiguous' }
  const isSum = terms.length > 1
  const sum = addTerms(terms)
  if (sum.units === 0n) return { error: isSum ? 'zero-sum' : 'zero' }
  const value = decimalText(inner === undefined ? sum : { ...sum, units: -sum.units })
  if (value.length > MAX_DIGITS) return { error: 'too-long' }
  const [currency] = currencies
  return { value, isSum, currency, hasYenSign: text.includes('¥') }
}

/**
 * Text for the field that parses as the same amount: three digits after the only separator would be thousands.
 * @param format writes all digits of a decimal in a language
 */
export function formatAmount(value: string, format: (value: string) => string): string {
  const text = format(value)
  return parseAmount(text).value === value ? text : `${text}0`
}

function parseTerm(
  piece: string,
  codes: ReadonlySet<string> | undefined,
  decimalSign: ',' | '.' | undefined,
): Term | AmountFailure {
  const [, before = '', digits, behind = ''] = TERM.exec(piece.replace(/^[+-]\s*/, '')) ?? []
  if (digits === undefined) {
    // Separators alone decide between a number with two readings and other text.
    return { error: /^[+-]?[\d.,\s\u00a0\u2009\u202f'’]+$/.test(piece) ? 'ambiguous' : 'no-amount' }
  }
  const currencies: string[] = []
  for (const mark of [before, behind]) {
    const reading = readCurrencies(mark, codes)
    if ('error' in reading) return reading
    currencies.push(...reading.codes)
  }
  const decimal = parseDecimal(digits, decimalSign)
  if (!decimal) return { error: 'ambiguous' }
  return { ...decimal, isNegative: piece.startsWith('-'), currencies }
}

function isCurrency(text: string, codes: ReadonlySet<string> | undefined): boolean {
  return text === '' || 'codes' in readCurrencies(text, codes)
}

/** Currencies of the text beside a number: signs, codes and names. */
function readCurrencies(
  text: string,
  codes: ReadonlySet<string> | undefined,
): { codes: readonly string[] } | AmountFailure {
  const marks = text.trim()
  const whole = wordCurrency(marks)
  if (whole !== undefined) return { codes: [whole] }
  const tokens = marks.match(/US\$|\p{L}+|\S/giu) ?? []
  const all: string[] = []
  for (const token of tokens) {
    const symbol = SIGNS[token.toUpperCase()] ?? wordCurrency(token)
    const code = symbol ?? token.toUpperCase()
    if (!symbol && !/^[A-Z]{3}$/.test(code)) return { error: 'no-amount' }
    const isListed = codes ? codes.has(code) : symbol !== undefined || code === token
    if (!isListed)
      return code === token || symbol ? { error: 'unknown-currency', code } : { error: 'no-amount' }
    all.push(code)
  }
  return { codes: all }
}

function wordCurrency(text: string): string | undefined {
  const name = foldText(text)
  return Object.keys(NAMES).find((code) => NAMES[code]?.test(name))
}

/** Returns true if one sign is decimal in a term and separates thousands in another, or two signs are decimal. */
function hasTwoNotations(terms: readonly Term[]): boolean {
  const decimalSigns = new Set(terms.flatMap(({ decimalSign }) => decimalSign ?? []))
  return decimalSigns.size > 1 || terms.some(({ groupSign }) => decimalSigns.has(groupSign ?? ''))
}

function addTerms(terms: readonly Term[]): Scaled {
  const decimals = terms.map(({ value, isNegative }) => ({ ...parseScaled(value), isNegative }))
  const scale = Math.max(...decimals.map((one) => one.scale))
  let units = 0n
  for (const one of decimals) units += one.isNegative ? -rescaleUnits(one, scale) : rescaleUnits(one, scale)
  return { units, scale }
}

function parseDecimal(text: string, decimalSign?: ',' | '.'): Decimal | undefined {
  const last = [...text.matchAll(/[.,]/g)].at(-1)
  if (!last) return joinGroups(text, '')
  const [whole, fraction] = [text.slice(0, last.index), text.slice(last.index + 1)]
  if (decimalSign ? last[0] !== decimalSign : isGrouping(text, last[0], whole, fraction)) {
    const grouped = joinGroups(text, '')
    return grouped && { ...grouped, groupSign: last[0] }
  }
  if (whole.includes(last[0]) || !/^\d*$/.test(fraction)) return undefined
  const parts = joinGroups(whole, fraction)
  return parts && { ...parts, decimalSign: last[0], groupSign: /[.,]/.exec(whole)?.[0] }
}

/** Returns true if the last point or comma separates thousands. */
function isGrouping(text: string, separator: string, whole: string, fraction: string): boolean {
  const isOnlyKind = !text.replaceAll(separator, '').replace(/\d/g, '')
  if (!isOnlyKind) return false
  if (whole.includes(separator)) return true
  return fraction.length === 3 && whole !== '0' && whole !== ''
}

/** Plain digits; undefined if the integer part is neither plain nor in groups of three. */
function joinGroups(whole: string, fraction: string): Decimal | undefined {
  const groups = whole.replace(SPACES, ' ')
  const spaces = new Set(groups.replace(/\d/g, ''))
  if (spaces.size > 1) return undefined
  const [kind] = spaces
  const parts = kind === undefined ? [groups] : groups.split(kind)
  const [first = '', ...others] = parts
  const isGrouped = /^[1-9]\d{0,2}$/.test(first) && others.every((part) => /^\d{3}$/.test(part))
  if (others.length > 0 && !isGrouped) return undefined
  const digits = parts.join('').replace(/^0+(?=\d)/, '') || '0'
  const decimals = fraction.replace(/0+$/, '')
  return { value: decimals === '' ? digits : `${digits}.${decimals}` }
}
