// Currency codes as other services' programs send them, and what the codes are called.

import { AppError } from '../../errors.ts'

const MOST = 200

/** The codes of a comma list, in capitals, each once. @throws AppError `bad-request` for more than 200 */
export function codesIn(list: string | null | undefined): string[] {
  const codes = (list ?? '').split(',').map((one) => one.trim().toUpperCase())
  if (codes.length > MOST) throw new AppError('bad-request', `a list has at most ${MOST} codes`)
  return [...new Set(codes.filter((code) => code !== ''))]
}

/** A currency as an error names it: of what is no code nothing is repeated, for it may be a part of a key. */
export function shownCode(code: string): string {
  return /^[A-Z]{3}$/.test(code) ? code : 'what was sent'
}

let names: Intl.DisplayNames | undefined // made when it is first needed: it takes milliseconds

/** The English name of a currency. */
export function nameOfCurrency(code: string): string {
  names ??= new Intl.DisplayNames('en', { type: 'currency' })
  return names.of(code) ?? code
}

/** The sign of a currency; null: it has none but its code. */
export function symbolOfCurrency(code: string): string | null {
  const format = new Intl.NumberFormat('en', {
    style: 'currency',
    currency: code,
    currencyDisplay: 'narrowSymbol',
  })
  const symbol = format.formatToParts(0).find(({ type }) => type === 'currency')?.value
  return symbol === undefined || symbol === code ? null : symbol
}
