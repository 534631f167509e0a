import * as v from 'valibot'
import { listSeries, seriesHistory } from '../../domain/rates/queries.ts'
import type { SeriesRow } from '../../store/rates/series.ts'
import { jsonForm } from '../endpoint/answers/forms.ts'
import {
  AsOfOut,
  Day,
  DecimalText,
  Integer,
  Pair,
  RateTypeOut,
  Rounding,
  titledObject,
  withDescription,
} from '../endpoint/answers/shapes.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { AsOfParam, booleanParam, CurrencyParam, idParam, ProviderParam } from '../endpoint/params.ts'
import { type StoredDeps, storedEndpoint } from '../endpoint/stored.ts'
import { HISTORY_RANGE, requireRange } from '../figures/history-range.ts'
import { HolesOut, holesHeaders } from '../figures/holes.ts'
import { type HistoryEncoder, listPoints } from './history-encoder.ts'
import { tableEndpoints } from './table-endpoints.ts'

const LastDay = withDescription(Day, 'The newest day with a value, with details=true')

export const SeriesOut = titledObject('Series', {
  id: Integer,
  provider_id: Integer,
  external_code: v.string(),
  name: v.string(),
  base_currency: v.string(),
  quote_currency: v.string(),
  rate_type: RateTypeOut,
  unit: v.nullable(v.string()),
  periodicity: v.nullable(v.string()),
  first_data_date: v.nullable(Day),
  last_data_date: v.optional(v.nullable(LastDay)),
  enabled: v.boolean(),
})

const SeriesHistoryOut = titledObject('SeriesHistory', {
  provider: v.string(),
  series_id: Integer,
  external_code: v.string(),
  pair: Pair,
  rate_type: RateTypeOut,
  date_from: Day,
  date_to: Day,
  count: Integer,
  as_of: AsOfOut,
  holes: HolesOut,
  points: v.array(v.object({ rate_date: Day, value: DecimalText, rounded_to: Rounding })),
})

export function seriesEndpoints(deps: StoredDeps, histories: HistoryEncoder): AnyEndpoint[] {
  return [
    storedEndpoint(deps, {
      path: '/api/v1/series',
      about: 'What is published: each pair and side is a series.',
      query: v.object({
        provider: v.optional(ProviderParam),
        base: v.optional(CurrencyParam),
        quote: v.optional(CurrencyParam),
        only_enabled: v.optional(booleanParam('Only those that are enabled'), 'false'),
        details: v.optional(booleanParam('Whether the newest day with a value is shown too'), 'false'),
      }),
      answer: v.array(SeriesOut),
      effective: (query) => query,
      find: (snapshot, { only_enabled, details: _, ...filter }) => listSeries(snapshot, filter, only_enabled),
      forms: [jsonForm(encodeSeries)],
    }),

    ...tableEndpoints(
      deps,
      {
        path: '/api/v1/series/{series_id}/history',
        tag: 'History',
        about: 'The values of the days that have one, both ends included, oldest first.',
        params: v.object({ series_id: idParam('A series, by its id in /api/v1/series') }),
        query: v.object({
          ...HISTORY_RANGE,
          as_of: v.optional(AsOfParam),
        }),
        sends: ['X-Holes'],
        answer: SeriesHistoryOut,
        notFound: 'No such series',
        effective({ series_id, from, to, as_of }, localDay) {
          return { seriesId: series_id, ...requireRange({ from, to }, localDay(as_of)), as_of }
        },
        find: seriesHistory,
        forms: [jsonForm(histories.encode)],
      },
      {
        columns: () => ({ rate_date: 'day', value: 'decimal', rounded_to: 'plain' }),
        rows: listPoints,
        headers: holesHeaders,
      },
    ),
  ]
}

function encodeSeries(series: readonly SeriesRow[], { details }: { details: boolean }): string {
  return JSON.stringify(
    series.map(({ revision: _, last_data_date, ...row }) => (details ? { ...row, last_data_date } : row)),
  )
}
