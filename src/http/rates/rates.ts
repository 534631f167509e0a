import * as v from 'valibot'
import { latestRates, listDayRates, type RatesOfDay, type SeriesRate } from '../../domain/rates/queries.ts'
import type { LatestRates } from '../../domain/rates/rates.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { ColumnKinds } from '../endpoint/answers/csv.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import {
  AsOfOut,
  Day,
  DecimalText,
  Integer,
  LastCoveredDay,
  Pair,
  RateTypeOut,
  Rounding,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { AsOfParam, booleanParam, CurrencyParam, OnParam, ProviderParam } from '../endpoint/params.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'
import { FutureOut, futureField, futureHeaders, type RequestedDay, requestedDay } from '../figures/future.ts'
import { tableEndpoints } from './table-endpoints.ts'

const RateOut = titledObject('Rate', {
  provider: v.string(),
  series_id: Integer,
  external_code: v.string(),
  pair: Pair,
  base_currency: v.string(),
  quote_currency: v.string(),
  rate_type: RateTypeOut,
  rate_date: Day,
  value: DecimalText,
  rounded_to: Rounding,
})

export const LatestRatesOut = titledObject('LatestRates', {
  provider: v.string(),
  pair: Pair,
  rate_date: Day,
  compra: v.nullable(DecimalText),
  venta: v.nullable(DecimalText),
  referencia: v.nullable(DecimalText),
  rounded_to: Rounding,
  missing: v.optional(
    withDescription(v.array(RateTypeOut), 'Sides that are null because their day has not been synchronized'),
  ),
  covered_to: LastCoveredDay,
  future: FutureOut,
  as_of: AsOfOut,
})

/** 404 of an endpoint where only `as_of` causes it. */
const NOT_RECORDED = 'Of that instant there is no record'

export function ratesEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/rates/latest',
      about:
        'The value of each side that the pair has: of the day asked for, or the newest before it. A side that the pair ' +
        'does not have is null. A day that was not synchronized is not guessed: 404, or null with the side in `missing`.',
      query: v.object({
        provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
        base: v.optional(CurrencyParam, DEFAULT_PROVIDER.benchmark.base),
        quote: v.optional(CurrencyParam, DEFAULT_PROVIDER.benchmark.quote),
        on: v.optional(OnParam),
        as_of: v.optional(AsOfParam),
        details: v.optional(booleanParam('Whether `covered_to` is shown too'), 'false'),
      }),
      answer: LatestRatesOut,
      notFound: 'No data for that pair or date',
      effective: ({ on, ...pair }, localDay) => ({ ...pair, ...requestedDay(on, localDay(pair.as_of)) }),
      find: latestRates,
      forms: [jsonForm(encodeLatest)],
    }),

    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/rates',
        about:
          'One rate of each series, of the day asked for or the newest before it, with the day that it is of.',
        query: v.object({
          on: v.optional(OnParam),
          as_of: v.optional(AsOfParam),
          provider: v.optional(ProviderParam),
          base: v.optional(CurrencyParam),
          quote: v.optional(CurrencyParam),
          exact: v.optional(booleanParam('Only values of that very day'), 'false'),
        }),
        sends: ['X-Left-Out', 'X-Future'],
        answer: v.array(RateOut),
        notFound: NOT_RECORDED,
        effective: ({ on, ...filter }, localDay) => ({
          ...filter,
          ...requestedDay(on, localDay(filter.as_of)),
        }),
        find: listDayRates,
        forms: [jsonForm(encodeRates, ratesHeaders)],
      },
      { columns: () => RATE_COLUMNS, rows: ({ rates }) => rates.map(rateRow), headers: ratesHeaders },
    ),
  ]
}

const RATE_COLUMNS: ColumnKinds = {
  ...{ provider: 'text', series_id: 'plain', external_code: 'text', pair: 'text', base_currency: 'text' },
  ...{ quote_currency: 'text', rate_type: 'text', rate_date: 'day', value: 'decimal', rounded_to: 'plain' },
}

type PairQuery = RequestedDay & { provider: string; base: string; quote: string; as_of?: string | undefined }

function encodeLatest(rates: LatestRates, query: PairQuery): string {
  const { provider, base, quote, as_of } = query
  return JSON.stringify({ provider, pair: `${base}/${quote}`, ...rates, future: futureField(query), as_of })
}

/** Returns the ids of series with days that were not synchronized, and marks a future day. */
function ratesHeaders({ leftOut }: RatesOfDay, query: RequestedDay): Record<string, string> {
  const headers = futureHeaders(query)
  if (leftOut.length > 0) headers['x-left-out'] = leftOut.join(',')
  return headers
}

function encodeRates({ rates }: RatesOfDay): string {
  const texts = rates.map(({ provider, series, point }) => {
    const rounded = point.rounded_to === undefined ? '' : `,"rounded_to":${point.rounded_to}`
    return `${seriesHead(provider, series)},"rate_date":"${point.rate_date}","value":"${point.value}"${rounded}}`
  })
  return `[${texts.join(',')}]`
}

// Cached for as long as the snapshot: without the cache it is four fifths of the work on a day's rates.
const heads = new WeakMap<SeriesRow, string>()

/** Returns the JSON of a series before its value, without the closing brace. */
function seriesHead(provider: string, series: SeriesRow): string {
  const cachedHead = heads.get(series)
  if (cachedHead !== undefined) return cachedHead
  const text = JSON.stringify(seriesRow(provider, series)).slice(0, -1)
  heads.set(series, text)
  return text
}

function rateRow({ provider, series, point }: SeriesRate) {
  return { ...seriesRow(provider, series), ...point }
}

function seriesRow(provider: string, series: SeriesRow) {
  return {
    provider,
    series_id: series.id,
    external_code: series.external_code,
    pair: `${series.base_currency}/${series.quote_currency}`,
    base_currency: series.base_currency,
    quote_currency: series.quote_currency,
    rate_type: series.rate_type,
  }
}
