import * as v from 'valibot'
import type { Clock, IsoDate } from '../dates.ts'
import { latestOfPair, rateOn } from '../domain/rates.ts'
import { AppError } from '../errors.ts'
import type { Column, RateBook, RatePage } from '../store/rate-book.ts'
import type { SeriesRow } from '../store/series.ts'
import type { Api } from './api.ts'
import { cachedReply } from './etag.ts'
import { askedDay, BooleanParam, CurrencyParam, DateParam, ProviderParam } from './params.ts'
import { Day, DecimalText, Pair, RateTypeOut } from './shapes.ts'

const RateOut = v.object({
  provider: v.string(),
  series_id: v.pipe(v.number(), v.integer()),
  external_code: v.string(),
  pair: Pair,
  base_currency: v.string(),
  quote_currency: v.string(),
  rate_type: RateTypeOut,
  rate_date: Day,
  value: DecimalText,
})

const LatestRatesOut = v.object({
  provider: v.string(),
  pair: Pair,
  rate_date: Day,
  compra: v.nullable(DecimalText),
  venta: v.nullable(DecimalText),
  referencia: v.nullable(DecimalText),
})

export function mountRates(api: Api, { book, clock }: { book: RateBook; clock: Clock }): void {
  api.get({
    path: '/api/v1/rates/latest',
    summary: 'Current rate of one pair',
    query: v.object({
      provider: v.optional(ProviderParam, 'bccr'),
      base: v.optional(CurrencyParam, 'USD'),
      quote: v.optional(CurrencyParam, 'CRC'),
      on: v.optional(DateParam),
    }),
    answer: LatestRatesOut,
    stored: true,
    notFound: 'No data for that pair or date',
    handle({ event, query }) {
      const page = book.page()
      const { day, today } = askedDay(query.on, clock)
      const pair = `${query.base}/${query.quote}`
      const sides = page.pairsOf(query.provider).get(pair) ?? []
      if (sides.length === 0) throw new AppError('not-found', `No series of ${query.provider} gives ${pair}`)
      return whenThere(page.columns(sides), (columns) =>
        cachedReply(event, page, today, () => {
          const found = latestOfPair(sides, columns, day)
          if (!found) throw new AppError('not-found', `No rate of ${pair} is stored on or before ${day}`)
          return JSON.stringify({ provider: query.provider, pair, ...found })
        }),
      )
    },
  })

  api.get({
    path: '/api/v1/rates',
    summary: 'Rates of many series on one date',
    query: v.object({
      on: v.optional(DateParam),
      provider: v.optional(ProviderParam),
      base: v.optional(CurrencyParam),
      quote: v.optional(CurrencyParam),
      exact: v.optional(BooleanParam, 'false'),
    }),
    answer: v.array(RateOut),
    stored: true,
    handle({ event, query }) {
      const page = book.page()
      const { day, today } = askedDay(query.on, clock)
      const matching = seriesMatching(page, query)
      return whenThere(page.columns(matching), (columns) =>
        cachedReply(event, page, today, () => ratesText(page, matching, columns, day, query.exact)),
      )
    },
  })
}

/** Goes on at once where nothing has to be waited for: a turn through the event loop costs more than an answer. */
export function whenThere<T, R>(value: T | Promise<T>, then: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(then) : then(value)
}

/** The series that pass the filters that are given. */
export function seriesMatching(
  page: RatePage,
  filter: { provider?: string | undefined; base?: string | undefined; quote?: string | undefined },
): SeriesRow[] {
  const provider = page.providers.find(({ code }) => code === filter.provider)
  if (filter.provider !== undefined && !provider) return []
  return page.series.filter(
    (one) =>
      (!provider || one.provider_id === provider.id) &&
      (filter.base === undefined || one.base_currency === filter.base) &&
      (filter.quote === undefined || one.quote_currency === filter.quote),
  )
}

/** The values on a day as a JSON array; a series without one is left out. */
function ratesText(
  page: RatePage,
  series: readonly SeriesRow[],
  columns: readonly Column[],
  day: IsoDate,
  exact: boolean,
): string {
  const texts: string[] = []
  for (const [at, one] of series.entries()) {
    const point = columns[at] && rateOn(columns[at], day, exact)
    if (point) {
      texts.push(`${describe(page, one)},"rate_date":"${point.rate_date}","value":"${point.value}"}`)
    }
  }
  return `[${texts.join(',')}]`
}

// The same for as long as the page, and four fifths of the work on a day's rates if it is written each time.
const described = new WeakMap<SeriesRow, string>()

/** A JSON object of what is said of a series before its value, still open. */
function describe(page: RatePage, series: SeriesRow): string {
  const known = described.get(series)
  if (known !== undefined) return known
  const text = JSON.stringify({
    provider: page.providers.find(({ id }) => id === series.provider_id)?.code,
    series_id: series.id,
    external_code: series.external_code,
    pair: `${series.base_currency}/${series.quote_currency}`,
    base_currency: series.base_currency,
    quote_currency: series.quote_currency,
    rate_type: series.rate_type,
  }).slice(0, -1)
  described.set(series, text)
  return text
}
