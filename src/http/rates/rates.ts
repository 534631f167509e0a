import * as v from 'valibot'
import { latestRates, type RatesOfDay, ratesOn, type SeriesRate } from '../../domain/rates/queries.ts'
import type { LatestRates } from '../../domain/rates/rates.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { jsonForm } from '../api/forms.ts'
import { AsOfParam, booleanParam, CurrencyParam, OnParam, ProviderParam } from '../api/params.ts'
import { AsOfOut, Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'
import { type StoredDeps, storedEndpoint } from '../api/stored.ts'
import { type AskedDay, askedDay, FutureOut, futureField, futureHeaders } from './future.ts'
import { type Columns, tableEndpoints } from './tables.ts'

const RateOut = v.pipe(
  v.object({
    provider: v.string(),
    series_id: v.pipe(v.number(), v.integer()),
    external_code: v.string(),
    pair: Pair,
    base_currency: v.string(),
    quote_currency: v.string(),
    rate_type: RateTypeOut,
    rate_date: Day,
    value: DecimalText,
    rounded_to: RoundedTo,
  }),
  v.title('Rate'),
)

const LatestRatesOut = v.pipe(
  v.object({
    provider: v.string(),
    pair: Pair,
    rate_date: Day,
    compra: v.nullable(DecimalText),
    venta: v.nullable(DecimalText),
    referencia: v.nullable(DecimalText),
    rounded_to: RoundedTo,
    missing: v.optional(
      v.pipe(
        v.array(RateTypeOut),
        v.metadata({ description: 'Sides that are null because their day has not been synchronized' }),
      ),
    ),
    future: FutureOut,
    as_of: AsOfOut,
  }),
  v.title('LatestRates'),
)

/** What a 404 means where only `as_of` brings one about. */
const NOT_RECORDED = 'Of that instant there is no record'

export function ratesEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/rates/latest',
      summary: 'Current rate of one pair',
      about:
        'The value of each side that the pair has: of the day asked for, or the newest before it. A side that the pair ' +
        'does not have is null. A day that was not synchronized is not guessed: 404, or null with the side in `missing`.',
      query: v.object({
        provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
        base: v.optional(CurrencyParam, DEFAULT_PROVIDER.benchmark.base),
        quote: v.optional(CurrencyParam, DEFAULT_PROVIDER.benchmark.quote),
        on: v.optional(OnParam),
        as_of: v.optional(AsOfParam),
      }),
      answer: LatestRatesOut,
      notFound: 'No data for that pair or date',
      takesUrlKeys: true,
      effective: ({ on, ...pair }, today) => ({ ...pair, ...askedDay(on, today) }),
      find: latestRates,
      forms: [jsonForm(encodeLatest)],
    }),

    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/rates',
        summary: 'Rates of many series on one date',
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
        takesUrlKeys: true,
        effective: ({ on, ...filter }, today) => ({ ...filter, ...askedDay(on, today) }),
        find: ratesOn,
        forms: [jsonForm(encodeRates, ratesHeaders)],
      },
      { columns: () => RATE_COLUMNS, rows: ({ rates }) => rates.map(rateRow), headers: ratesHeaders },
    ),
  ]
}

const RATE_COLUMNS: Columns = {
  ...{ provider: 'text', series_id: 'plain', external_code: 'text', pair: 'text', base_currency: 'text' },
  ...{ quote_currency: 'text', rate_type: 'text', rate_date: 'day', value: 'decimal', rounded_to: 'plain' },
}

type AskedPair = AskedDay & { provider: string; base: string; quote: string; as_of?: string | undefined }

function encodeLatest(found: LatestRates, asked: AskedPair): string {
  const { provider, base, quote, as_of } = asked
  return JSON.stringify({ provider, pair: `${base}/${quote}`, ...found, future: futureField(asked), as_of })
}

/** Series that are left out over days that were not synchronized, by id; and that the day is in the future. */
function ratesHeaders({ leftOut }: RatesOfDay, asked: AskedDay): Record<string, string> {
  const headers = futureHeaders(asked)
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

// The same for as long as the snapshot, and four fifths of the work on a day's rates if it is written each time.
const heads = new WeakMap<SeriesRow, string>()

/** A JSON object of what is said of a series before its value, still open. */
function seriesHead(provider: string, series: SeriesRow): string {
  const known = heads.get(series)
  if (known !== undefined) return known
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
