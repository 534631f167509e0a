// Currencies and pairs of the stored series.

import type { Formats } from './formats.ts'

type CurrencyPair = { base_currency: string; quote_currency: string }

export type Currency = { code: string; name: string; bankName: string }

const HOME = 'CRC'
const FIRST = [HOME, 'USD', 'EUR']

export function pairCode({ base_currency, quote_currency }: CurrencyPair): string {
  return `${base_currency}/${quote_currency}`
}

/** The currency of a parity that is not the dollar; the dollar for USD/CRC. */
export function foreignCurrency({ base_currency, quote_currency }: CurrencyPair): string {
  return base_currency === 'USD' && quote_currency !== HOME ? quote_currency : base_currency
}

/** Returns every currency: colón, dollar and euro first, then by name. */
export function listedCurrencies(
  series: readonly (CurrencyPair & { name: string })[],
  formats: Formats,
): Currency[] {
  const bankNames = new Map(series.map((one) => [foreignCurrency(one), one.name]))
  const codes = new Set([...FIRST, ...series.flatMap((one) => [one.base_currency, one.quote_currency])])
  const currencies = [...codes].map((code) => {
    const bankName = FIRST.includes(code) && code !== 'EUR' ? '' : (bankNames.get(code) ?? '')
    return { code, name: formats.currency(code) ?? (bankName || code), bankName }
  })
  const rank = ({ code }: Currency) => (FIRST.includes(code) ? FIRST.indexOf(code) : FIRST.length)
  return currencies.sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name))
}
