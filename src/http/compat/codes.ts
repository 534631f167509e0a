// Parses currency codes of other services' programs, and names currencies.

import { AppError } from '../../runtime/errors.ts'

const MAX_CODES = 200

/** Parses a comma list: capitals, no duplicates. @throws AppError `bad-request` for more than 200 */
export function parseCodes(list: string | null | undefined): string[] {
  const codes = (list ?? '').split(',').map((one) => one.trim().toUpperCase())
  if (codes.length > MAX_CODES) throw new AppError('bad-request', `a list has at most ${MAX_CODES} codes`)
  return [...new Set(codes.filter((code) => code !== ''))]
}

/** A code in capitals. */
export function parseCode(text = ''): string {
  return text.trim().toUpperCase()
}

/** Returns a code for an error text. Other input is not repeated, since it may be a part of a key. */
export function displayCode(code: string): string {
  return /^[A-Z]{3}$/.test(code) ? code : 'what was sent'
}

let names: Intl.DisplayNames | undefined // made when it is first needed: it takes milliseconds

/** The English name of a currency. */
export function currencyName(code: string): string {
  names ??= new Intl.DisplayNames('en', { type: 'currency' })
  return names.of(code) ?? code
}

/** Sign of a currency; null: only its code. */
export function currencySymbol(code: string): string | null {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  })
  const symbol = format.formatToParts(0).find(({ type }) => type === 'currency')?.value
  return symbol === undefined || symbol === code ? null : symbol
}
