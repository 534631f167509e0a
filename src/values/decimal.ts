// Exact decimals. Rates and amounts are canonical strings (decisions#decimals); a Decimal exists only inside a
// calculation. No value goes through a float.

import { Decimal } from 'decimal.js'
import { decimalPlaces, quotient, scaledText, toDecimal, unscaledValue } from './fraction.ts'

// Factors of a conversion have at most 50 and about 40 digits. Products below 250 digits are exact.
const Exact = Decimal.clone({ precision: 250, rounding: Decimal.ROUND_HALF_EVEN, maxE: 9e15, minE: -9e15 })

const AMOUNT_DIGITS = { whole: 30, fraction: 20 }
const UNBOUNDED = { whole: Number.POSITIVE_INFINITY, fraction: Number.POSITIVE_INFINITY }
const PLAIN = /^[+-]?\d*(\.\d*)?$/
const SCIENTIFIC = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/
const WITH_EXPONENT = /^-?\d+(\.\d+)?[eE][+-]?\d{1,2}$/

/** Returns the canonical form of a plain decimal, also of `.5`, `5.` and `+5`; undefined: another text. */
export function canonicalDecimal(text: string): string | undefined {
  return PLAIN.test(text) ? boundedDecimal(text, UNBOUNDED) : undefined
}

export function isCanonicalDecimal(text: string): boolean {
  return canonicalDecimal(text) === text
}

/** Returns true for a canonical decimal above 0. */
export function isPositive(value: string): boolean {
  return value !== '0' && !value.startsWith('-')
}

/** `canonicalDecimal` that also accepts the exponent of a JSON number (`1.5E-05`), exactly. */
export function canonicalNumber(text: string): string | undefined {
  return WITH_EXPONENT.test(text) ? boundedDecimal(text, UNBOUNDED) : canonicalDecimal(text)
}

/**
 * Returns the canonical form of a decimal with an exponent of any size (`1e3`, `.5E-05`), exactly. Undefined: another
 * text, or more digits than `most` on a side of its point, without leading and trailing zeros.
 */
export function boundedDecimal(text: string, most: { whole: number; fraction: number }): string | undefined {
  const [all, sign, whole = '', fraction = '', exponent = '0'] = SCIENTIFIC.exec(text) ?? []
  const digitsText = whole + fraction
  if (all === undefined || digitsText === '') return undefined
  const first = digitsText.search(/[1-9]/)
  if (first < 0) return '0'
  let end = digitsText.length // /0+$/ would take quadratic time for zeros within
  while (digitsText[end - 1] === '0') end -= 1
  const digits = digitsText.slice(first, end)
  const point = whole.length - first + Number(exponent) // index of the point in the digits, or beyond them
  if (point > most.whole || digits.length - point > most.fraction) return undefined
  const wholeText = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0'
  const decimalsText = point > 0 ? digits.slice(point) : '0'.repeat(-point) + digits
  return `${sign === '-' ? '-' : ''}${wholeText}${decimalsText && `.${decimalsText}`}`
}

/**
 * Returns the canonical form of an amount of money from a client. Undefined: not greater than 0, or more than 30 digits
 * before the point or 20 after it.
 */
export function positiveAmount(text: string): string | undefined {
  const amount = boundedDecimal(text.trim(), AMOUNT_DIGITS)
  return amount !== undefined && isPositive(amount) ? amount : undefined
}

/** Converts an amount at a rate: for 1 the rate unchanged, else 15 digits. */
export function convertedAmount(amount: string, rate: string): string {
  return amount === '1' ? rate : ratio([amount, rate], ['1'])
}

/** Returns the exact product of two canonical decimals, as integers: in a fifth of the time of Decimals. */
export function product(a: string, b: string): string {
  return fromUnits(unscaledValue(a) * unscaledValue(b), decimalPlaces(a) + decimalPlaces(b))
}

/** Returns `numerator / denominator`, each an exact product of its factors, rounded once to 15 digits, half-even. */
export function ratio(numerator: readonly string[], denominator: readonly string[]): string {
  return toDecimal(quotient(numerator, denominator))
}

/** Decimals as multiples of the unit `10 ** -places`. */
export type UnitValues = { units: bigint[]; places: number }

/** Converts 16,000 values in 4 ms; Decimals would take ten times as long. */
export function toUnits(values: readonly string[]): UnitValues {
  const parts = values.map((value) => value.split('.'))
  const places = parts.reduce((most, [, fraction = '']) => Math.max(most, fraction.length), 0)
  return {
    places,
    units: parts.map(([whole, fraction = '']) => BigInt(whole + fraction.padEnd(places, '0'))),
  }
}

/** Returns the canonical decimal of `units * 10 ** -places`. */
export function fromUnits(units: bigint, places: number): string {
  return units < 0n ? `-${scaledText(-units, places)}` : scaledText(units, places)
}

/** Rounds a decimal to `places`, half away from zero, without trailing zeros. */
export function roundDecimal(value: string, places: number): string {
  return new Exact(value).toDecimalPlaces(places, Decimal.ROUND_HALF_UP).toFixed()
}

export const ROUNDING_MODES = ['half-up', 'half-even', 'down'] as const

/** Rounding of a result, to exactly `decimals` decimals. */
export type RoundingRule = { decimals: number; mode: (typeof ROUNDING_MODES)[number] }

const DECIMAL_MODES = {
  'half-up': Decimal.ROUND_HALF_UP,
  'half-even': Decimal.ROUND_HALF_EVEN,
  down: Decimal.ROUND_DOWN,
} as const

/**
 * Rounds a positive decimal once. The text has exactly `decimals` decimals: `2.50`, `0.00`. Without a rule
 * it stays as it is.
 */
export function applyRounding(value: string, rule: RoundingRule | undefined): string {
  return rule ? new Exact(value).toFixed(rule.decimals, DECIMAL_MODES[rule.mode]) : value
}

/** Rounds a decimal to `digits` significant digits, half-even, without trailing zeros. */
export function roundDigits(value: string, digits: number): string {
  return new Exact(value).toSignificantDigits(digits).toFixed()
}

/** Returns true when two decimals differ by at most half a unit of the last of `decimals` places. */
export function withinHalfUnit(a: string, b: string, decimals: number): boolean {
  return new Exact(a).minus(b).abs().times(2).lessThanOrEqualTo(new Exact(10).pow(-decimals))
}

/** Returns the exact difference `a - b`. */
export function decimalDifference(a: string, b: string): string {
  const { units, places } = toUnits([a, b])
  const [first = 0n, second = 0n] = units
  return fromUnits(first - second, places)
}

/** Returns a part in percent of a positive whole, rounded to `places`, half-even, without trailing zeros. */
export function toPercent(part: string, whole: string, places: number): string {
  const [over = 0n, under = 1n] = toUnits([part, whole]).units
  const scaled = (over < 0n ? -over : over) * 10n ** BigInt(places + 2)
  const floor = scaled / under
  const twice = (scaled % under) * 2n
  const isUp = twice > under || (twice === under && floor % 2n === 1n)
  const percent = isUp ? floor + 1n : floor
  return fromUnits(over < 0n ? -percent : percent, places)
}

/** Returns true for `low <= value <= high`. */
export function isInRange(value: string, low: string, high: string): boolean {
  const exact = new Exact(value)
  return exact.greaterThanOrEqualTo(low) && exact.lessThanOrEqualTo(high)
}

/** Returns true when neither of two positive decimals is more than `factor` times the other. */
export function withinFactor(a: string, b: string, factor: bigint): boolean {
  if (a === b) return true
  const places = decimalPlaces(a) - decimalPlaces(b)
  const first = unscaledValue(a) * 10n ** BigInt(Math.max(0, -places))
  const second = unscaledValue(b) * 10n ** BigInt(Math.max(0, places))
  return first <= second * factor && second <= first * factor
}
