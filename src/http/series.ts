import * as v from 'valibot'
import { addDays, type Clock, EARLIEST_DAY, latest, todayIn } from '../dates.ts'
import { pointsBetween } from '../domain/rates.ts'
import { AppError } from '../errors.ts'
import { makeColumn, type RateBook } from '../store/rate-book.ts'
import type { Api } from './api.ts'
import { cachedReply } from './etag.ts'
import { BooleanParam, CurrencyParam, DateParam, IdParam, ProviderParam, reversedRange } from './params.ts'
import { pointsText } from './points.ts'
import { seriesMatching } from './rates.ts'
import { Day, DecimalText, Pair, RateTypeOut } from './shapes.ts'

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
  points: v.array(v.object({ rate_date: Day, value: DecimalText })),
})

export function mountSeries(api: Api, { book, clock }: { book: RateBook; clock: Clock }): void {
  api.get({
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
      const page = book.page()
      return cachedReply(event, page, undefined, () =>
        JSON.stringify(
          seriesMatching(page, query)
            .filter(({ enabled }) => enabled || !query.only_enabled)
            .map(({ revision: _, ...shown }) => shown),
        ),
      )
    },
  })

  api.get({
    path: '/api/v1/series/{series_id}/history',
    summary: 'Daily values of one series',
    params: v.object({ series_id: IdParam }),
    query: v.object({ from: v.optional(DateParam), to: v.optional(DateParam) }),
    answer: SeriesHistoryOut,
    stored: true,
    notFound: 'No such series',
    async handle({ event, params, query }) {
      const page = book.page()
      const series = page.series.find(({ id }) => id === params.series_id)
      const today = query.to === undefined ? todayIn(clock) : undefined
      const date_to = query.to ?? today ?? ''
      const date_from = query.from ?? latest(EARLIEST_DAY, addDays(date_to, -HISTORY_DAYS))
      if (date_from > date_to) throw reversedRange(date_from)
      if (!series) throw new AppError('not-found', 'There is no series with this id; see /api/v1/series')
      const [column = EMPTY] = await page.columns([series])
      const provider = page.providers.find(({ id }) => id === series.provider_id)
      return cachedReply(event, page, today, () => {
        const { first, end } = pointsBetween(column, date_from, date_to)
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
        const points = pointsText(page, series.id, column, first, end)
        return Buffer.concat([Buffer.from(`${JSON.stringify(head).slice(0, -1)},"points":[`), points, END])
      })
    },
  })
}
