// The rates of a day.

import * as v from 'valibot'
import { latestRates, ratesOn } from '../../../domain/rates/queries.ts'
import type { RateType } from '../../../providers/provider.ts'
import { booleanParam } from '../../api/params.ts'
import { counted, fitting } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  After,
  AnyCurrency,
  Base,
  Count,
  dayAsked,
  dayInWords,
  MaybeText,
  NextAfter,
  On,
  OwnProvider,
  Provider,
  Quote,
  type RateToolDeps,
  RoundedTo,
  Text,
  withRounding,
} from './parameters.ts'

const SIDES: readonly RateType[] = ['compra', 'venta', 'referencia']

export function rateTools({ cache, clock }: RateToolDeps): Tool[] {
  return [
    tool({
      name: 'get_rate',
      needs: 'key',
      about:
        'Published rate of one pair on a day, by default USD/CRC today: compra (bank buys), venta (bank sells), or ' +
        'referencia. On a day without a value the last published one answers; rate_date names it.',
      takes: v.object({ base: Base, quote: Quote, on: On, provider: OwnProvider }),
      gives: v.object({
        provider: Text,
        pair: Text,
        rate_date: Text,
        compra: MaybeText,
        venta: MaybeText,
        referencia: MaybeText,
        rounded_to: RoundedTo,
        missing: v.optional(v.array(Text)),
      }),
      async find({ on, ...asked }) {
        const day = dayAsked(on, clock)
        const found = await cache.read((snapshot) => latestRates(snapshot, { ...asked, day }))
        const pair = `${asked.base}/${asked.quote}`
        const sides = SIDES.filter((side) => found[side] !== null).map((side) => `${side} ${found[side]}`)
        const said = withRounding(sides.join(', '), found.rounded_to)
        return {
          value: { provider: asked.provider, pair, ...found },
          sentence: `${pair} of ${dayInWords(found.rate_date, day)}: ${said}.`,
        }
      },
    }),

    tool({
      name: 'get_rates_on',
      needs: 'key',
      about: 'Rates of many series on a day, each of the last published day on or before it.',
      takes: v.object({
        on: On,
        provider: v.optional(Provider),
        base: AnyCurrency,
        quote: AnyCurrency,
        exact: v.optional(booleanParam('Only values of that very day', ''), 'false'),
        after: After,
      }),
      gives: v.object({
        rates: v.array(
          v.looseObject({
            series_id: Count,
            pair: Text,
            rate_type: Text,
            rate_date: Text,
            value: Text,
            rounded_to: RoundedTo,
          }),
        ),
        next_after: NextAfter,
        has_more: v.boolean(),
        left_out: v.optional(v.array(Count)),
      }),
      async find({ on, after = 0, ...filter }) {
        const day = dayAsked(on, clock)
        const found = await cache.read((snapshot) => ratesOn(snapshot, { ...filter, day }))
        const all = found.rates.map(({ provider, series, point }) => ({
          series_id: series.id,
          provider,
          pair: `${series.base_currency}/${series.quote_currency}`,
          rate_type: series.rate_type,
          ...point,
        }))
        const missing =
          found.leftOut.length > 0
            ? ` ${found.leftOut.length} series left out: days were not synchronized (left_out).`
            : ''
        const { rows, hasMore } = fitting(all.filter(({ series_id }) => series_id > after))
        return {
          value: {
            ...{ rates: rows, next_after: hasMore ? rows.at(-1)?.series_id : undefined, has_more: hasMore },
            ...(found.leftOut.length > 0 && { left_out: found.leftOut }),
          },
          sentence: `${counted(rows.length, 'rate')} of ${day}, or of the last published day before; rate_date says which.${missing}`,
        }
      },
    }),
  ]
}
