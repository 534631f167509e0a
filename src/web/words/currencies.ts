// The currencies there are, from the series: their codes, their names, and which series a pair has.

import type { Formats } from './formats.ts'

type Sided = { id: number; name: string; base_currency: string; quote_currency: string; rate_type: string }

export type Currency = { code: string; name: string; bankName: string }

const HOME = 'CRC'
const FIRST = [HOME, 'USD', 'EUR']

export function pairOf({
  base_currency,
  quote_currency,
}: Pick<Sided, 'base_currency' | 'quote_currency'>): string {
  return `${base_currency}/${quote_currency}`
}

/** Of a parity the currency that is not the dollar; of the dollar in colones, the dollar. */
export function foreignOf({
  base_currency,
  quote_currency,
}: Pick<Sided, 'base_currency' | 'quote_currency'>): string {
  return base_currency === 'USD' && quote_currency !== HOME ? quote_currency : base_currency
}

/** Every currency, the most asked for first, then by name. */
export function currenciesOf(series: readonly Sided[], formats: Formats): Currency[] {
  const bankNames = new Map(series.map((one) => [foreignOf(one), one.name]))
  const codes = new Set([...FIRST, ...series.flatMap((one) => [one.base_currency, one.quote_currency])])
  const all = [...codes].map((code) => {
    const bankName = FIRST.includes(code) && code !== 'EUR' ? '' : (bankNames.get(code) ?? '')
    return { code, name: formats.currency(code) ?? (bankName || code), bankName }
  })
  const place = ({ code }: Currency) => (FIRST.includes(code) ? FIRST.indexOf(code) : FIRST.length)
  return all.sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name))
}
