// Currencies of the European Central Bank that it published in 2026, per euro. The dollar is first, as the benchmark;
// later ones go to the end. A currency that ends stays, and the operator disables its series.

import type { CatalogueSeries } from '../provider.ts'

export const TABLE = 'ecb'

// biome-ignore format: a table
const CURRENCIES: [code: string, name: string][] = [
  ['USD', 'US dollar'], ['AUD', 'Australian dollar'], ['BRL', 'Brazilian real'], ['CAD', 'Canadian dollar'],
  ['CHF', 'Swiss franc'], ['CNY', 'Chinese yuan renminbi'], ['CZK', 'Czech koruna'], ['DKK', 'Danish krone'],
  ['GBP', 'Pound sterling'], ['HKD', 'Hong Kong dollar'], ['HUF', 'Hungarian forint'], ['IDR', 'Indonesian rupiah'],
  ['ILS', 'Israeli shekel'], ['INR', 'Indian rupee'], ['ISK', 'Icelandic krona'], ['JPY', 'Japanese yen'],
  ['KRW', 'South Korean won'], ['MXN', 'Mexican peso'], ['MYR', 'Malaysian ringgit'], ['NOK', 'Norwegian krone'],
  ['NZD', 'New Zealand dollar'], ['PHP', 'Philippine peso'], ['PLN', 'Polish zloty'], ['RON', 'Romanian leu'],
  ['SEK', 'Swedish krona'], ['SGD', 'Singapore dollar'], ['THB', 'Thai baht'], ['TRY', 'Turkish lira'],
  ['ZAR', 'South African rand'],
]

/** Codes of the currencies, sorted, as a request lists them. */
export const CURRENCY_CODES: readonly string[] = CURRENCIES.map(([code]) => code).sort()

/** Month in which a series paused for years, though the others went on. */
export const PAUSE_MONTHS: Readonly<Record<string, string>> = { [seriesCode('ISK')]: '2008-12' }

export const ecbCatalogue: readonly CatalogueSeries[] = CURRENCIES.map(([code, name]) => ({
  externalCode: seriesCode(code),
  name: `${name}, euro foreign exchange reference rate`,
  base: 'EUR',
  quote: code,
  rateType: 'referencia',
  unit: `${code} por EUR`,
  periodicity: 'diaria',
  table: TABLE,
  plausibleRange: undefined,
}))

/** Returns the code of a series, the key of the dataflow EXR. */
export function seriesCode(currency: string): string {
  return `D.${currency}.EUR.SP00.A`
}
