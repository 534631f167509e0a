// Exact fractions, for sums and quotients that are rounded at the end. No digit goes through a float.

const DIGITS = 15 // digits of a computed rate (decisions#conversion)
const BITS_TO_DIGITS = Math.log10(2)
const LARGEST_BITS = 1000 // limit for an estimate by a float
const SHORT = 15 // characters
const ZERO = 48

/** `over / under`, not necessarily in lowest terms; `under` is positive. */
export type Fraction = { readonly over: bigint; readonly under: bigint }

const TENS = Array.from({ length: 64 }, (_, power) => 10n ** BigInt(power))

/** Divides two products of canonical decimals, exactly. @throws RangeError for a divisor of 0 */
export function quotient(numerator: readonly string[], denominator: readonly string[]): Fraction {
  let over = unscaledProduct(numerator)
  let under = unscaledProduct(denominator)
  if (under === 0n) throw new RangeError('division by zero')
  let places = 0
  for (const factor of denominator) places += decimalPlaces(factor)
  for (const factor of numerator) places -= decimalPlaces(factor)
  if (places > 0) over *= powerOfTen(places)
  else if (places < 0) under *= powerOfTen(-places)
  return under < 0n ? { over: -over, under: -under } : { over, under }
}

/** Returns the exact sum of at least one fraction. Adds in pairs, so that most operands are small. */
export function sum(fractions: readonly Fraction[]): Fraction {
  let terms = fractions
  while (terms.length > 1) {
    const sums: Fraction[] = []
    for (let at = 0; at < terms.length; at += 2) sums.push(addFractions(terms[at], terms[at + 1]))
    terms = sums
  }
  return addFractions(terms[0], undefined)
}

/** Returns true for `a < b`. */
export function isLess(a: Fraction, b: Fraction): boolean {
  return a.over * b.under < b.over * a.under
}

/** Returns the nearest canonical decimal with 15 significant digits, half-even. */
export function toDecimal({ over, under }: Fraction): string {
  if (over === 0n) return '0'
  if (over < 0n) return `-${toDecimal({ over: -over, under })}`
  // The quotient has one to five digits more than the result, whatever the estimate. Rounding needs at least one.
  let shift = DIGITS - Math.floor((bitLength(over) - bitLength(under) - 5) * BITS_TO_DIGITS)
  const dividend = shift >= 0 ? over * powerOfTen(shift) : over
  const divisor = shift >= 0 ? under : under * powerOfTen(-shift)
  let whole = dividend / divisor
  const isCut = whole * divisor !== dividend
  const excess = String(whole).length - DIGITS
  const unit = powerOfTen(excess)
  const rest = whole % unit
  whole /= unit
  shift -= excess
  const twice = rest * 2n
  const isUp = twice > unit || (twice === unit && (isCut || whole % 2n === 1n))
  return scaledText(isUp ? whole + 1n : whole, shift)
}

function addFractions(a: Fraction | undefined, b: Fraction | undefined): Fraction {
  if (!a) throw new RangeError('there is nothing to add')
  if (!b) return a
  if (a.under === b.under) return { over: a.over + b.over, under: a.under }
  return { over: a.over * b.under + b.over * a.under, under: a.under * b.under }
}

function unscaledProduct(factors: readonly string[]): bigint {
  let product = 1n
  for (const factor of factors)
    product = product === 1n ? unscaledValue(factor) : product * unscaledValue(factor)
  return product
}

/** Returns a canonical decimal without its point, as an integer. */
export function unscaledValue(decimal: string): bigint {
  if (decimal.length > SHORT || decimal.startsWith('-')) return BigInt(decimal.replace('.', ''))
  let number = 0 // exact below 2^53, in a third of the time of parsing a text
  for (let at = 0; at < decimal.length; at += 1) {
    const digit = decimal.charCodeAt(at) - ZERO
    if (digit >= 0) number = number * 10 + digit
  }
  return BigInt(number)
}

/** Counts the digits after the point of a canonical decimal. */
export function decimalPlaces(decimal: string): number {
  const point = decimal.indexOf('.')
  return point < 0 ? 0 : decimal.length - point - 1
}

function powerOfTen(power: number): bigint {
  return TENS[power] ?? 10n ** BigInt(power)
}

/** Estimates the bits of a positive number: at most one too few or three too many. */
function bitLength(number: bigint): number {
  const bits = Math.log2(Number(number))
  return bits < LARGEST_BITS ? Math.ceil(bits) : number.toString(16).length * 4
}

/** Returns the canonical decimal of `digits / 10 ** shift`, for digits of 0 or more. */
export function scaledText(digits: bigint, shift: number): string {
  if (shift <= 0) return String(digits * powerOfTen(-shift))
  const text = String(digits).padStart(shift + 1, '0')
  let end = text.length
  const point = end - shift
  while (end > point && text[end - 1] === '0') end -= 1
  return end === point ? text.slice(0, point) : `${text.slice(0, point)}.${text.slice(point, end)}`
}
