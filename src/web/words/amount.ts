// Which number was meant by what was typed. `15.000,50`, `15,000.50` and `15 000.50` are one amount: the last
// separator is the decimal one, unless it is the only kind and stands before exactly three digits, or repeats. What
// fits no reading is refused; the page always shows how it was read.

export type AmountFault = 'empty' | 'unreadable' | 'not-positive' | 'too-long'
export type Amount = { value: string; fault?: undefined } | { value?: undefined; fault: AmountFault }

const SPACES = /[\s\u00a0\u2009\u202f'’]/g
const SIGNS = /^[₡$€£¥]\s*/
const MOST_DIGITS = 60

/** The amount as the API takes it: digits and a point. */
export function readAmount(typed: string): Amount {
  const text = typed.trim().replace(SIGNS, '')
  if (text === '') return { fault: 'empty' }
  const signless = text.replace(/^[-−+]/, '')
  const value = decimalIn(signless)
  if (value === undefined) return { fault: 'unreadable' }
  if (value.length > MOST_DIGITS) return { fault: 'too-long' }
  if (/^[-−]/.test(text) || /^[0.]+$/.test(value)) return { fault: 'not-positive' }
  return { value }
}

/**
 * An amount for the field, so that it is read as the same one: three digits after the only separator would be thousands.
 * @param format writes all digits of a decimal in a language
 */
export function writeAmount(value: string, format: (value: string) => string): string {
  const text = format(value)
  return readAmount(text).value === value ? text : `${text}0`
}

function decimalIn(text: string): string | undefined {
  if (!/^[\d.,\s\u00a0\u2009\u202f'’]+$/.test(text) || !/\d/.test(text)) return undefined
  const marks = [...text.matchAll(/[.,]/g)]
  const last = marks.at(-1)
  if (!last) return spelled(text, '')
  const [whole, fraction] = [text.slice(0, last.index), text.slice(last.index + 1)]
  if (isGrouping(text, last[0], whole, fraction)) return spelled(text, '')
  if (whole.includes(last[0]) || !/^\d*$/.test(fraction)) return undefined
  return spelled(whole, fraction)
}

/** Whether the last point or comma stands between thousands. */
function isGrouping(text: string, mark: string, whole: string, fraction: string): boolean {
  const isOnlyKind = !text.replaceAll(mark, '').replace(/\d/g, '')
  if (!isOnlyKind) return false
  if (whole.includes(mark)) return true
  return fraction.length === 3 && whole !== '0' && whole !== ''
}

/** The number in plain digits, if what stands before the decimal separator is plain or in threes. */
function spelled(whole: string, fraction: string): string | undefined {
  const groups = whole.replace(SPACES, ' ')
  const kinds = new Set(groups.replace(/\d/g, ''))
  if (kinds.size > 1) return undefined
  const [kind] = kinds
  const parts = kind === undefined ? [groups] : groups.split(kind)
  const [first = '', ...others] = parts
  const isInThrees = /^[1-9]\d{0,2}$/.test(first) && others.every((part) => /^\d{3}$/.test(part))
  if (others.length > 0 && !isInThrees) return undefined
  const digits = parts.join('').replace(/^0+(?=\d)/, '') || '0'
  const decimals = fraction.replace(/0+$/, '')
  return decimals === '' ? digits : `${digits}.${decimals}`
}
