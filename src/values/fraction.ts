// Exact fractions, for what is summed or divided before it is rounded. No digit goes through a float.

const DIGITS = 15 // of a computed rate (decisions 2.9)
const BITS_TO_DIGITS = Math.log10(2)
const LARGEST_BITS = 1000 // of what a float has an estimate of
const SHORT = 15 // characters
const ZERO = 48

/** `over / under`, not necessarily in lowest terms; what is below is positive. */
export type Fraction = { readonly over: bigint; readonly under: bigint }

const TENS = Array.from({ length: 64 }, (_, power) => 10n ** BigInt(power))

/** Products of canonical decimals, divided: exactly. @throws RangeError for a divisor of 0 */
export function quotient(numerator: readonly string[], denominator: readonly string[]): Fraction {
  let over = digitsOfProduct(numerator)
  let under = digitsOfProduct(denominator)
  if (under === 0n) throw new RangeError('division by zero')
  let places = 0
  for (const factor of denominator) places += decimalsOf(factor)
  for (const factor of numerator) places -= decimalsOf(factor)
  if (places > 0) over *= tenTo(places)
  else if (places < 0) under *= tenTo(-places)
  return under < 0n ? { over: -over, under: -under } : { over, under }
}

/** The exact sum of at least one fraction. In pairs, so that most of the additions are of small numbers. */
export function sum(fractions: readonly Fraction[]): Fraction {
  let terms = fractions
  while (terms.length > 1) {
    const sums: Fraction[] = []
    for (let at = 0; at < terms.length; at += 2) sums.push(added(terms[at], terms[at + 1]))
    terms = sums
  }
  return added(terms[0], undefined)
}

/** Whether one is less than the other. */
export function isLess(a: Fraction, b: Fraction): boolean {
  return a.over * b.under < b.over * a.under
}

/** The canonical decimal that is nearest in 15 significant digits, of two the even one. */
export function toDecimal({ over, under }: Fraction): string {
  if (over === 0n) return '0'
  if (over < 0n) return `-${toDecimal({ over: -over, under })}`
  // One to five digits more than are wanted, whatever the estimate: of fewer it could not be said which way to round.
  let shift = DIGITS - Math.floor((bitsOf(over) - bitsOf(under) - 5) * BITS_TO_DIGITS)
  const dividend = shift >= 0 ? over * tenTo(shift) : over
  const divisor = shift >= 0 ? under : under * tenTo(-shift)
  let whole = dividend / divisor
  const isCut = whole * divisor !== dividend
  const excess = String(whole).length - DIGITS
  const unit = tenTo(excess)
  const rest = whole % unit
  whole /= unit
  shift -= excess
  const twice = rest * 2n
  const isUp = twice > unit || (twice === unit && (isCut || whole % 2n === 1n))
  return placed(isUp ? whole + 1n : whole, shift)
}

function added(a: Fraction | undefined, b: Fraction | undefined): Fraction {
  if (!a) throw new RangeError('there is nothing to add')
  if (!b) return a
  if (a.under === b.under) return { over: a.over + b.over, under: a.under }
  return { over: a.over * b.under + b.over * a.under, under: a.under * b.under }
}

function digitsOfProduct(factors: readonly string[]): bigint {
  let product = 1n
  for (const factor of factors) product = product === 1n ? digitsOf(factor) : product * digitsOf(factor)
  return product
}

/** All digits of a canonical decimal as a whole number. */
export function digitsOf(decimal: string): bigint {
  if (decimal.length > SHORT || decimal.startsWith('-')) return BigInt(decimal.replace('.', ''))
  let number = 0 // a whole number below 2^53 is exact, and made in a third of the time of a text
  for (let at = 0; at < decimal.length; at += 1) {
    const digit = decimal.charCodeAt(at) - ZERO
    if (digit >= 0) number = number * 10 + digit
  }
  return BigInt(number)
}

/** How many digits of a canonical decimal stand after the point. */
export function decimalsOf(decimal: string): number {
  const point = decimal.indexOf('.')
  return point < 0 ? 0 : decimal.length - point - 1
}

function tenTo(power: number): bigint {
  return TENS[power] ?? 10n ** BigInt(power)
}

/** How many binary digits a positive number has, or one less, or up to three more. */
function bitsOf(number: bigint): number {
  const bits = Math.log2(Number(number))
  return bits < LARGEST_BITS ? Math.ceil(bits) : number.toString(16).length * 4
}

/** The canonical decimal of `digits / 10 ** shift`, for digits of 0 or more. */
export function placed(digits: bigint, shift: number): string {
  if (shift <= 0) return String(digits * tenTo(-shift))
  const text = String(digits).padStart(shift + 1, '0')
  let end = text.length
  const point = end - shift
  while (end > point && text[end - 1] === '0') end -= 1
  return end === point ? text.slice(0, point) : `${text.slice(0, point)}.${text.slice(point, end)}`
}
