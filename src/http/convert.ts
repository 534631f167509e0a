import * as v from 'valibot'
import type { Clock } from '../dates.ts'
import { convert, findRoute } from '../domain/convert.ts'
import { AppError } from '../errors.ts'
import type { RateBook } from '../store/rate-book.ts'
import type { Api } from './api.ts'
import { cachedReply } from './etag.ts'
import { AmountParam, askedDay, CurrencyParam, DateParam, ProviderParam, RateTypeParam } from './params.ts'
import { whenThere } from './rates.ts'
import { Day, DecimalText, RateTypeOut } from './shapes.ts'

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
})

export function mountConvert(api: Api, { book, clock }: { book: RateBook; clock: Clock }): void {
  api.get({
    path: '/api/v1/convert',
    summary: 'Conversion of an amount, through the dollar where no series leads directly',
    query: v.object({
      amount: AmountParam,
      from: CurrencyParam,
      to: CurrencyParam,
      provider: v.optional(ProviderParam, 'bccr'),
      type: v.optional(RateTypeParam, 'venta'),
      on: v.optional(DateParam),
    }),
    answer: ConversionOut,
    stored: true,
    notFound: 'No data for that pair or date',
    handle({ event, query }) {
      const page = book.page()
      const { day, today } = askedDay(query.on, clock)
      const route = findRoute(page.pairsOf(query.provider), query.from, query.to, query.type)
      if ('missing' in route) throw new AppError('not-found', `Cannot convert: ${route.missing}`)
      return whenThere(page.columns(route.legs.map(({ series }) => series)), (columns) =>
        cachedReply(event, page, today, () => {
          const found = convert(query.amount, route.legs, columns, day)
          const path = route.path.join(' -> ')
          if (!found) throw new AppError('not-found', `No rate for ${path} is stored on or before ${day}`)
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
          })
        }),
      )
    },
  })
}
