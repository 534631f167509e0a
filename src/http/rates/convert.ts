import * as v from 'valibot'
import type { Clock } from '../../dates.ts'
import { convert, findRoute, type ValuedLeg } from '../../domain/rates/convert.ts'
import type { RateCache } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../errors.ts'
import { type AnyEndpoint, get } from '../api/endpoint.ts'
import { cachedReply } from '../api/etag.ts'
import {
  AmountParam,
  BooleanParam,
  CurrencyParam,
  DateParam,
  ProviderParam,
  RateTypeParam,
  resolveDay,
} from '../api/params.ts'
import { Day, DecimalText, Pair, RateTypeOut, RoundedTo } from '../api/shapes.ts'
import { checkProvider, notSynchronized, whenThere } from './rates.ts'

const ConversionOut = v.object({
  provider: v.string(),
  rate_date: Day,
  rate_type: RateTypeOut,
  from_currency: v.string(),
  to_currency: v.string(),
  amount: DecimalText,
  rate: DecimalText,
  result: DecimalText,
  path: v.pipe(v.string(), v.metadata({ examples: ['JPY -> USD -> CRC'] })),
  via_pivot: v.boolean(),
  rounded_to: RoundedTo,
  legs: v.optional(
    v.pipe(
      v.array(
        v.object({
          series_id: v.pipe(v.number(), v.integer()),
          pair: Pair,
          rate_type: RateTypeOut,
          rate_date: Day,
          value: DecimalText,
          inverse: v.pipe(v.boolean(), v.metadata({ description: 'Whether the value was divided by' })),
          rounded_to: RoundedTo,
        }),
      ),
      v.metadata({ description: 'The published values that the rate was computed from, with details=true' }),
    ),
  ),
})

export function convertEndpoints({ cache, clock }: { cache: RateCache; clock: Clock }): AnyEndpoint[] {
  return [
    get({
      path: '/api/v1/convert',
      summary: 'Conversion of an amount, through the dollar where no series leads directly',
      query: v.object({
        amount: AmountParam,
        from: CurrencyParam,
        to: CurrencyParam,
        provider: v.optional(ProviderParam, 'bccr'),
        type: v.optional(RateTypeParam, 'venta'),
        on: v.optional(DateParam),
        details: v.optional(BooleanParam, 'false'),
      }),
      answer: ConversionOut,
      stored: true,
      notFound: 'No data for that pair or date',
      handle({ event, query }) {
        const snapshot = cache.snapshot()
        const { day, today } = resolveDay(query.on, clock)
        checkProvider(snapshot, query.provider)
        const route = findRoute(snapshot.pairsOf(query.provider), query.from, query.to, query.type)
        if ('missing' in route) throw new AppError('not-found', `Cannot convert: ${route.missing}`)
        return whenThere(snapshot.columns(route.legs.map(({ series }) => series)), (columns) =>
          cachedReply(event, snapshot, today, () => {
            const stored = columns.map((column, at) => ({
              column,
              covered: snapshot.coveredOf(route.legs[at]?.series.id ?? 0),
            }))
            const found = convert(query.amount, route.legs, stored, day)
            const path = route.path.join(' -> ')
            if (!found) throw new AppError('not-found', `No rate for ${path} is stored on or before ${day}`)
            if ('hole' in found) throw notSynchronized(found.hole)
            return JSON.stringify({
              provider: query.provider,
              rate_date: found.rateDate,
              rate_type: route.rateType,
              from_currency: query.from,
              to_currency: query.to,
              amount: query.amount,
              rate: found.rate,
              result: found.result,
              path,
              via_pivot: route.legs.length > 1,
              rounded_to: found.roundedTo,
              legs: query.details ? found.legs.map(legOut) : undefined,
            })
          }),
        )
      },
    }),
  ]
}

function legOut({ series, inverse, point }: ValuedLeg) {
  return {
    series_id: series.id,
    pair: `${series.base_currency}/${series.quote_currency}`,
    rate_type: series.rate_type,
    rate_date: point.rate_date,
    value: point.value,
    inverse,
    rounded_to: point.rounded_to,
  }
}
