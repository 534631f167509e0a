// MCP tools `get_rate` and `get_rates_on`: rates of a day.

import * as v from 'valibot'
import { latestRates, listDayRates } from '../../../domain/rates/queries.ts'
import type { RateType } from '../../../providers/provider.ts'
import { booleanParam } from '../../endpoint/params.ts'
import { fitRows, pluralize } from '../protocol/answers.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  AnyCurrency,
  answeredDay,
  Base,
  Count,
  Cursor,
  Day,
  describeDay,
  MaybeText,
  NextCursor,
  OwnProvider,
  Provider,
  Quote,
  type RateToolDeps,
  RoundedDecimals,
  Text,
  withRounding,
} from './parameters.ts'

const SIDES: readonly RateType[] = ['compra', 'venta', 'referencia']

export function rateTool({ cache, clock }: RateToolDeps): Tool {
  return tool({
    name: 'get_rate',
    needs: 'key',
    about:
      'Published rate of one pair on a day, by default USD/CRC today: compra (bank buys), venta (bank sells), or ' +
      'referencia. On a day without a value the last published one answers; rate_date names it.',
    input: v.object({ base: Base, quote: Quote, on: Day, provider: OwnProvider }),
    output: v.object({
      provider: Text,
      pair: Text,
      rate_date: Text,
      compra: MaybeText,
      venta: MaybeText,
      referencia: MaybeText,
      rounded_to: RoundedDecimals,
      missing: v.optional(v.array(Text)),
      covered_to: v.optional(Text),
    }),
    async run({ on, ...query }) {
      const day = answeredDay(on, clock)
      const rates = await cache.read((snapshot) => latestRates(snapshot, { ...query, day, details: true }))
      const pair = `${query.base}/${query.quote}`
      const sides = SIDES.filter((side) => rates[side] !== null).map((side) => `${side} ${rates[side]}`)
      const summary = withRounding(sides.join(', '), rates.rounded_to)
      return {
        value: { provider: query.provider, pair, ...rates },
        sentence: `${pair} of ${describeDay(rates.rate_date, day, rates.covered_to)}: ${summary}.`,
      }
    },
  })
}

export function dayRatesTool({ cache, clock }: RateToolDeps): Tool {
  return tool({
    name: 'get_rates_on',
    needs: 'key',
    about: 'Rates of many series on a day, each of the last published day on or before it.',
    input: v.object({
      on: Day,
      provider: v.optional(Provider),
      base: AnyCurrency,
      quote: AnyCurrency,
      exact: v.optional(booleanParam('Only values of that very day', ''), 'false'),
      after: Cursor,
    }),
    output: v.object({
      rates: v.array(
        v.looseObject({
          series_id: Count,
          pair: Text,
          rate_type: Text,
          rate_date: Text,
          value: Text,
          rounded_to: RoundedDecimals,
        }),
      ),
      next_after: NextCursor,
      has_more: v.boolean(),
      left_out: v.optional(v.array(Count)),
    }),
    async run({ on, after = 0, exact, ...filter }) {
      const day = answeredDay(on, clock)
      const { rates, leftOut } = await cache.read((snapshot) =>
        listDayRates(snapshot, { ...filter, exact, day }),
      )
      const entries = rates.map(({ provider, series, point }) => ({
        series_id: series.id,
        provider,
        pair: `${series.base_currency}/${series.quote_currency}`,
        rate_type: series.rate_type,
        ...point,
      }))
      const missing =
        leftOut.length > 0 ? ` ${leftOut.length} series left out: days were not synchronized (left_out).` : ''
      const days = exact ? day : `${day}, or of the last published day before; rate_date says which`
      const { rows, hasMore } = fitRows(entries.filter(({ series_id }) => series_id > after))
      return {
        value: {
          ...{ rates: rows, next_after: hasMore ? rows.at(-1)?.series_id : undefined, has_more: hasMore },
          ...(leftOut.length > 0 && { left_out: leftOut }),
        },
        sentence: `${pluralize(rows.length, 'rate')} of ${days}.${missing}`,
      }
    },
  })
}
