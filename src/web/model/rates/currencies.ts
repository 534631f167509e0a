// Currencies and pairs of the stored series.

import type { Formats } from '../formats.ts'

type CurrencyPair = { base_currency: string; quote_currency: string }

export type Currency = { code: string; name: string; bankName: string }

const HOME = 'CRC'
const FIRST = [HOME, 'USD', 'EUR']

/** Returns true if the pair has two sides: one of its currencies is the colón. */
export function hasTwoSides(pair: string): boolean {
  const [base, quote] = pair.split('/')
  return (base === HOME) !== (quote === HOME)
}

export function pairCode({ base_currency, quote_currency }: CurrencyPair): string {
  return `${base_currency}/${quote_currency}`
}

/** The currency of a parity that is not the dollar; the dollar for USD/CRC. */
export function foreignCurrency({ base_currency, quote_currency }: CurrencyPair): string {
  return base_currency === 'USD' && quote_currency !== HOME ? quote_currency : base_currency
}

/** Name of a currency within a sentence. */
export function lowerFirst(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1)
}

/** First day on which every leg of a pair has a value; undefined: there is none, or it is unknown. */
export function firstRateDay(
  pair: string,
  series: readonly (CurrencyPair & { first_data_date: string | null })[],
): string | undefined {
  const days = pair
    .split('/')
    .filter((code) => code !== 'USD')
    .map((code) => {
      const own = series.filter(({ base_currency, quote_currency }) =>
        [base_currency, quote_currency].includes(code),
      )
      return own
        .map(({ first_data_date: day }) => day ?? '')
        .sort()
        .at(-1)
    })
  return days.includes(undefined) || days.includes('') ? undefined : days.sort().at(-1)
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
