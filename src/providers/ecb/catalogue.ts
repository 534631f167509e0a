// Currencies of the European Central Bank that it published in 2026, per euro. The dollar is first, as the benchmark;
// later ones go to the end. A currency that ends stays, and the operator disables its series.

import type { IsoDate } from '../../values/dates.ts'
import type { CatalogueSeries } from '../provider.ts'

export const TABLE = 'ecb'
export const FIRST_DAY = '1999-01-04'

/** The range is that of 2026-02-17 to 2026-03-18, from a fifth below it to a quarter above. */
// biome-ignore format: a table
const CURRENCIES: [code: string, name: string, low: string, high: string][] = [
  ['USD', 'US dollar', '0.91', '1.5'], ['AUD', 'Australian dollar', '1.2', '2.1'],
  ['BRL', 'Brazilian real', '4.7', '7.8'], ['CAD', 'Canadian dollar', '1.2', '2.1'],
  ['CHF', 'Swiss franc', '0.72', '1.2'], ['CNY', 'Chinese yuan renminbi', '6.3', '11'],
  ['CZK', 'Czech koruna', '19', '31'], ['DKK', 'Danish krone', '5.9', '9.4'],
  ['GBP', 'Pound sterling', '0.68', '1.1'], ['HKD', 'Hong Kong dollar', '7.1', '12'],
  ['HUF', 'Hungarian forint', '300', '500'], ['IDR', 'Indonesian rupiah', '15000', '25000'],
  ['ILS', 'Israeli shekel', '2.8', '4.7'], ['INR', 'Indian rupee', '84', '140'],
  ['ISK', 'Icelandic krona', '110', '190'], ['JPY', 'Japanese yen', '140', '240'],
  ['KRW', 'South Korean won', '1300', '2200'], ['MXN', 'Mexican peso', '16', '26'],
  ['MYR', 'Malaysian ringgit', '3.6', '5.8'], ['NOK', 'Norwegian krone', '8.8', '15'],
  ['NZD', 'New Zealand dollar', '1.5', '2.5'], ['PHP', 'Philippine peso', '54', '87'],
  ['PLN', 'Polish zloty', '3.3', '5.4'], ['RON', 'Romanian leu', '4', '6.4'],
  ['SEK', 'Swedish krona', '8.4', '14'], ['SGD', 'Singapore dollar', '1.1', '1.9'],
  ['THB', 'Thai baht', '29', '47'], ['TRY', 'Turkish lira', '40', '65'],
  ['ZAR', 'South African rand', '14', '25'],
]

/** Codes of the currencies, sorted, as a request lists them. */
export const CURRENCY_CODES: readonly string[] = CURRENCIES.map(([code]) => code).sort()

/** First days of the currencies that are not of 1999. A later currency of the table needs its line here. */
const FIRST_DAYS: Readonly<Record<string, IsoDate>> = {
  ...{ TRY: '2005-01-03', CNY: '2005-04-01', IDR: '2005-04-01', MYR: '2005-04-01', PHP: '2005-04-01' },
  ...{ THB: '2005-04-01', RON: '2005-07-01', BRL: '2008-01-02', MXN: '2008-01-02', INR: '2009-01-02' },
  ILS: '2011-01-03',
}

export const ecbCatalogue: readonly CatalogueSeries[] = CURRENCIES.map(([code, name, low, high]) => ({
  externalCode: seriesCode(code),
  name: `${name}, euro foreign exchange reference rate`,
  base: 'EUR',
  quote: code,
  rateType: 'referencia',
  table: TABLE,
  plausibleRange: { low, high },
}))

/** Returns true when a currency has a value on each day that others have one. The krona paused for nine years. */
export function isPublished(currency: string, day: IsoDate): boolean {
  const isPaused = currency === 'ISK' && day >= '2008-12-10' && day <= '2018-01-31'
  return !isPaused && day >= (FIRST_DAYS[currency] ?? day)
}

/** Returns the code of a series, the key of the dataflow EXR. */
export function seriesCode(currency: string): string {
  return `D.${currency}.EUR.SP00.A`
}
