import * as v from 'valibot'
import { type PairHistory, type PairHistoryQuery, pairHistory } from '../../domain/rates/pair-history.ts'
import { historyRange } from '../../domain/rates/queries.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { AnyEndpoint } from '../endpoint/endpoint.ts'
import { jsonForm } from '../endpoint/forms.ts'
import {
  AsOfParam,
  CurrencyParam,
  dateParam,
  EveryParam,
  ProviderParam,
  RateTypeParam,
  reversedRange,
  StatParam,
} from '../endpoint/params.ts'
import { AsOfOut, Day, DecimalText, Integer, RateTypeOut, Rounding } from '../endpoint/shapes.ts'
import type { StoredDeps } from '../endpoint/stored.ts'
import { HolesOut, holesField, holesHeaders } from './holes.ts'
import { type TableForm, tableEndpoints } from './tables.ts'

const PairHistoryOut = v.pipe(
  v.object({
    provider: v.string(),
    base: v.string(),
    quote: v.string(),
    rate_type: RateTypeOut,
    date_from: Day,
    date_to: Day,
    every: v.picklist(['day', 'week', 'month', 'quarter', 'year']),
    stat: v.picklist(['last', 'mean', 'low', 'high']),
    count: Integer,
    as_of: AsOfOut,
    holes: HolesOut,
    points: v.array(
      v.object({
        date: v.pipe(Day, v.metadata({ description: 'The day, or the first one of the period' })),
        rate_date: v.pipe(
          Day,
          v.metadata({ description: 'The older of the days of the values; of a mean those of its last day' }),
        ),
        value: DecimalText,
        partial: v.optional(
          v.pipe(
            v.literal(true),
            v.metadata({
              description: 'The period is not over, not asked for as a whole, or has days that are not known',
            }),
          ),
        ),
        rounded_to: Rounding,
      }),
    ),
  }),
  v.title('PairHistory'),
)

type HistoryQuery = PairHistoryQuery & { to: string; as_of?: string | undefined }

const TABLE: TableForm<PairHistory, HistoryQuery> = {
  columns: () => ({ date: 'day', rate_date: 'day', value: 'decimal', partial: 'plain', rounded_to: 'plain' }),
  rows: ({ points }) => points,
  headers: holesHeaders,
}

export function pairHistoryEndpoints(deps: StoredDeps): AnyEndpoint[] {
  return tableEndpoints(
    deps,
    {
      path: '/api/v1/history',
      about:
        'What one unit of `base` was worth in `quote`: on each day on which a value that leads from one to the other was ' +
        'published, if all of them are known, or one value for each longer period. Means are exact and rounded once. ' +
        'A day that was not synchronized has no point.',
      query: v.object({
        base: CurrencyParam,
        quote: CurrencyParam,
        provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
        type: v.optional(RateTypeParam, 'venta'),
        from: v.optional(dateParam('The first day; without it 90 days before the last')),
        to: v.optional(dateParam('The last day; without it today, in Costa Rica')),
        every: v.optional(EveryParam, 'day'),
        stat: v.optional(StatParam, 'last'),
        as_of: v.optional(AsOfParam),
      }),
      sends: ['X-Holes'],
      answer: PairHistoryOut,
      notFound: 'No such provider, or no way between these currencies',
      effective({ from, to, ...query }, localDay): HistoryQuery {
        const today = localDay(query.as_of)
        const range = historyRange({ from, to }, today)
        if (!range) throw reversedRange(from ?? '')
        return { ...query, ...range, today }
      },
      find: pairHistory,
      forms: [jsonForm(encodePairHistory)],
    },
    TABLE,
  )
}

function encodePairHistory(history: PairHistory, query: HistoryQuery): string {
  const points = [...history.points]
  const { provider, base, quote, from, to, every, stat, as_of } = query
  return JSON.stringify({
    ...{ provider, base, quote, rate_type: history.rateType, date_from: from, date_to: to, every, stat },
    ...{ count: points.length, as_of, holes: holesField(history.holes), points },
  })
}
