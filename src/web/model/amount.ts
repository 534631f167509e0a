// Parses an amount as people type it: `15.000,50`, `15,000.50` and `15 000.50` are one amount. The last separator is
// decimal, unless it is the only kind and repeats or precedes three digits. Ambiguous text is rejected. The page
// always shows the parsed amount.

export type AmountError = 'empty' | 'unreadable' | 'not-positive' | 'too-long'
export type Amount = { value: string; error?: undefined } | { value?: undefined; error: AmountError }

const SPACES = /[\s\u00a0\u2009\u202f'’]/g
const CURRENCY_SIGNS = /^[₡$€£¥]\s*/
const MAX_DIGITS = 60

/** @returns the amount in the notation of the API: digits and a point */
export function parseAmount(input: string): Amount {
  const text = input.trim().replace(CURRENCY_SIGNS, '')
  if (text === '') return { error: 'empty' }
  const unsigned = text.replace(/^[-−+]/, '')
  const value = parseDecimal(unsigned)
  if (value === undefined) return { error: 'unreadable' }
  if (value.length > MAX_DIGITS) return { error: 'too-long' }
  if (/^[-−]/.test(text) || /^[0.]+$/.test(value)) return { error: 'not-positive' }
  return { value }
}

/**
 * Text for the field that parses as the same amount: three digits after the only separator would be thousands.
 * @param format writes all digits of a decimal in a language
 */
export function formatAmount(value: string, format: (value: string) => string): string {
  const text = format(value)
  return parseAmount(text).value === value ? text : `${text}0`
}

function parseDecimal(text: string): string | undefined {
  if (!/^[\d.,\s\u00a0\u2009\u202f'’]+$/.test(text) || !/\d/.test(text)) return undefined
  const separators = [...text.matchAll(/[.,]/g)]
  const last = separators.at(-1)
  if (!last) return joinGroups(text, '')
  const [whole, fraction] = [text.slice(0, last.index), text.slice(last.index + 1)]
  if (isGrouping(text, last[0], whole, fraction)) return joinGroups(text, '')
  if (whole.includes(last[0]) || !/^\d*$/.test(fraction)) return undefined
  return joinGroups(whole, fraction)
}

/** Returns true if the last point or comma separates thousands. */
function isGrouping(text: string, separator: string, whole: string, fraction: string): boolean {
  const isOnlyKind = !text.replaceAll(separator, '').replace(/\d/g, '')
  if (!isOnlyKind) return false
  if (whole.includes(separator)) return true
  return fraction.length === 3 && whole !== '0' && whole !== ''
}

/** Plain digits; undefined if the integer part is neither plain nor in groups of three. */
function joinGroups(whole: string, fraction: string): string | undefined {
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
  return decimals === '' ? digits : `${digits}.${decimals}`
}
