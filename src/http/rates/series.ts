import * as v from 'valibot'
import { historyOf, historyRange, seriesIn } from '../../domain/rates/queries.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import type { AnyEndpoint } from '../api/endpoint.ts'
import { jsonForm } from '../api/forms.ts'
import {
  AsOfParam,
  booleanParam,
  CurrencyParam,
  dateParam,
  idParam,
  ProviderParam,
  reversedRange,
} from '../api/params.ts'
import { AsOfOut, Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'
import { type StoredDeps, storedEndpoint } from '../api/stored.ts'
import { type HistoryEncoder, pointsIn } from './history-encoder.ts'
import { HolesOut, holesHeaders } from './holes.ts'
import { tableEndpoints } from './tables.ts'

const SeriesOut = v.pipe(
  v.object({
    id: v.pipe(v.number(), v.integer()),
    provider_id: v.pipe(v.number(), v.integer()),
    external_code: v.string(),
    name: v.string(),
    base_currency: v.string(),
    quote_currency: v.string(),
    rate_type: RateTypeOut,
    unit: v.nullable(v.string()),
    periodicity: v.nullable(v.string()),
    first_data_date: v.nullable(Day),
    enabled: v.boolean(),
  }),
  v.title('Series'),
)

const SeriesHistoryOut = v.pipe(
  v.object({
    provider: v.string(),
    series_id: v.pipe(v.number(), v.integer()),
    external_code: v.string(),
    pair: Pair,
    rate_type: RateTypeOut,
    date_from: Day,
    date_to: Day,
    count: v.pipe(v.number(), v.integer()),
    as_of: AsOfOut,
    holes: HolesOut,
    points: v.array(v.object({ rate_date: Day, value: DecimalText, rounded_to: RoundedTo })),
  }),
  v.title('SeriesHistory'),
)

export function seriesEndpoints(deps: StoredDeps & { histories: HistoryEncoder }): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/series',
      summary: 'Series catalog',
      about: 'What is published: each pair and side is a series.',
      query: v.object({
        provider: v.optional(ProviderParam),
        base: v.optional(CurrencyParam),
        quote: v.optional(CurrencyParam),
        only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false'),
      }),
      answer: v.array(SeriesOut),
      effective: (given) => given,
      find: (snapshot, { only_enabled, ...filter }) => seriesIn(snapshot, filter, only_enabled),
      forms: [jsonForm(encodeSeries)],
    }),

    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/series/{series_id}/history',
        summary: 'Daily values of one series',
        about: 'The values of the days that have one, both ends included, oldest first.',
        params: v.object({ series_id: idParam('A series, by its id in /api/v1/series') }),
        query: v.object({
          from: v.optional(dateParam('The first day; without it 90 days before the last')),
          to: v.optional(dateParam('The last day; without it today, in Costa Rica')),
          as_of: v.optional(AsOfParam),
        }),
        sends: ['X-Holes'],
        answer: SeriesHistoryOut,
        notFound: 'No such series',
        takesUrlKeys: true,
        effective({ series_id, from, to, as_of }, today) {
          const range = historyRange({ from, to }, today)
          if (!range) throw reversedRange(from ?? '')
          return { seriesId: series_id, ...range, as_of }
        },
        find: historyOf,
        forms: [jsonForm(deps.histories.encode)],
      },
      {
        columns: () => ({ rate_date: 'day', value: 'decimal', rounded_to: 'plain' }),
        rows: pointsIn,
        headers: holesHeaders,
      },
    ),
  ]
}

function encodeSeries(series: readonly SeriesRow[]): string {
  return JSON.stringify(series.map(({ revision: _, ...shown }) => shown))
}
