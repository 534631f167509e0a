import * as v from 'valibot'
import { addDays, type Clock, EARLIEST_DAY, latest, todayIn } from '../../dates.ts'
import { makeColumn } from '../../domain/rates/column.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { pointsBetween } from '../../domain/rates/rates.ts'
import { AppError } from '../../errors.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'
import { cachedReply } from '../api/etag.ts'
import {
  BooleanParam,
  CurrencyParam,
  DateParam,
  IdParam,
  ProviderParam,
  reversedRange,
} from '../api/params.ts'
import { Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'
import { encodePoints } from './history-encoder.ts'
import { seriesMatching } from './rates.ts'

const HISTORY_DAYS = 90
const END = Buffer.from(']}')
const EMPTY = makeColumn(new Int32Array(), [])

const SeriesOut = v.object({
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
})

const SeriesHistoryOut = v.object({
  provider: v.string(),
  series_id: v.pipe(v.number(), v.integer()),
  external_code: v.string(),
  pair: Pair,
  rate_type: RateTypeOut,
  date_from: Day,
  date_to: Day,
  count: v.pipe(v.number(), v.integer()),
  points: v.array(v.object({ rate_date: Day, value: DecimalText, rounded_to: RoundedTo })),
})

export function seriesEndpoints({ cache, clock }: { cache: RateCache; clock: Clock }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/series',
      summary: 'Series catalog',
      query: v.object({
        provider: v.optional(ProviderParam),
        base: v.optional(CurrencyParam),
        quote: v.optional(CurrencyParam),
        only_enabled: v.optional(BooleanParam, 'false'),
      }),
      answer: v.array(SeriesOut),
      stored: true,
      handle({ event, query }) {
        const snapshot = cache.snapshot()
        const disabled = new Set(snapshot.providers.filter(({ enabled }) => !enabled).map(({ id }) => id))
        return cachedReply(event, snapshot, undefined, () =>
          JSON.stringify(
            seriesMatching(snapshot, query)
              .filter((one) => !query.only_enabled || (one.enabled && !disabled.has(one.provider_id)))
              .map(({ revision: _, ...shown }) => shown),
          ),
        )
      },
    }),

    get({
      path: '/api/v1/series/{series_id}/history',
      summary: 'Daily values of one series',
      params: v.object({ series_id: IdParam }),
      query: v.object({ from: v.optional(DateParam), to: v.optional(DateParam) }),
      answer: SeriesHistoryOut,
      stored: true,
      notFound: 'No such series',
      async handle({ event, params, query }) {
        const snapshot = cache.snapshot()
        const series = snapshot.series.find(({ id }) => id === params.series_id)
        const today = query.to === undefined ? todayIn(clock) : undefined
        const last = query.to ?? today ?? ''
        const date_from = query.from ?? latest(EARLIEST_DAY, addDays(last, -HISTORY_DAYS))
        if (query.to !== undefined && date_from > query.to) throw reversedRange(date_from)
        // Without `to` nothing after today is shown, also where the range begins later: it is empty (decisions 2.8).
        const date_to = latest(last, date_from)
        if (!series) throw new AppError('not-found', 'There is no series with this id; see /api/v1/series')
        const [column = EMPTY] = await snapshot.columns([series])
        const provider = snapshot.providers.find(({ id }) => id === series.provider_id)
        return cachedReply(event, snapshot, today, () => {
          const { first, end } = pointsBetween(column, date_from, last)
          const head = {
            provider: provider?.code,
            series_id: series.id,
            external_code: series.external_code,
            pair: `${series.base_currency}/${series.quote_currency}`,
            rate_type: series.rate_type,
            date_from,
            date_to,
            count: end - first,
          }
          const points = encodePoints(snapshot, series.id, column, first, end)
          return Buffer.concat([Buffer.from(`${JSON.stringify(head).slice(0, -1)},"points":[`), points, END])
        })
      },
    }),
  ]
}
