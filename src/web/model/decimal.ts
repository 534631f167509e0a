// Exact decimals: a whole number of units of 10^-scale. The page uses no floats for rates.

import { decimalPlaces as countPlaces, scaledText } from '../../values/fraction.ts'

export { countPlaces }

export type Scaled = { units: bigint; scale: number }

const QUOTIENT_PLACES = 30
const DECIMAL = /^-?\d+(?:\.\d+)?$/

/** @param text a decimal of the API: digits, at most one point, an optional minus @throws RangeError otherwise */
export function parseScaled(text: string): Scaled {
  const scale = countPlaces(text)
  return { units: parseUnits(text, scale), scale }
}

/** Returns a decimal in units of 10^-scale; its own scale is at most `scale`. @throws RangeError if it is no decimal */
export function parseUnits(text: string, scale: number): bigint {
  if (!DECIMAL.test(text)) throw new RangeError(`not a decimal: ${text}`)
  // Appends zeros: computing a power of ten for each of 32,000 values takes 40 ms.
  return BigInt(text.replace('.', '') + '0'.repeat(scale - countPlaces(text)))
}

/** The canonical decimal: no trailing zeros, and no leading one except before the point. */
export function decimalText({ units, scale }: Scaled): string {
  return units < 0n ? `-${scaledText(-units, scale)}` : scaledText(units, scale)
}

/** Returns a decimal in units of 10^-newScale; its own scale is at most `newScale`. */
export function rescaleUnits({ units, scale }: Scaled, newScale: number): bigint {
  return units * 10n ** BigInt(newScale - scale)
}

/** Returns `a - b`, unrounded. */
export function subtract(a: string, b: string): string {
  const [left, right] = [parseScaled(a), parseScaled(b)]
  const scale = Math.max(left.scale, right.scale)
  return decimalText({ units: rescaleUnits(left, scale) - rescaleUnits(right, scale), scale })
}

/** Rounds the quotient to the nearest whole number, half away from zero. @param divisor positive */
export function divideRounded(dividend: bigint, divisor: bigint): bigint {
  const half = divisor / 2n
  return dividend < 0n ? -((-dividend + half) / divisor) : (dividend + half) / divisor
}

/** Rounds a decimal, half away from zero. */
export function roundPlaces(text: string, places: number): string {
  const { units, scale } = parseScaled(text)
  if (scale <= places) return decimalText({ units, scale })
  return decimalText({ units: divideRounded(units, 10n ** BigInt(scale - places)), scale: places })
}

/** Returns the sum of decimals with at most two places. */
export function sumCents(texts: readonly string[]): string {
  return decimalText({ units: texts.reduce((sum, text) => sum + parseUnits(text, 2), 0n), scale: 2 })
}

/**
 * Returns a quotient with 30 places more than the dividend. A further 1 marks a quotient that has more digits. Rounding
 * the text to fewer places then rounds the exact quotient. @param divisor positive
 */
export function quotientText({ units, scale }: Scaled, divisor: bigint): string {
  const dividend = units * 10n ** BigInt(QUOTIENT_PLACES)
  const quotient = { units: dividend / divisor, scale: scale + QUOTIENT_PLACES }
  const remainder = dividend % divisor
  if (remainder === 0n) return decimalText(quotient)
  const mark = remainder < 0n ? -1n : 1n
  return decimalText({ units: quotient.units * 10n + mark, scale: quotient.scale + 1 })
}

export function decimalSign(text: string): -1 | 0 | 1 {
  const { units } = parseScaled(text)
  if (units === 0n) return 0
  return units < 0n ? -1 : 1
}
