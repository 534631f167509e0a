// Tool that converts an amount.

import * as v from 'valibot'
import { convertAmount } from '../../../domain/rates/conversions.ts'
import { booleanParam } from '../../endpoint/params.ts'
import { conversionOut } from '../../rates/convert.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  Amount,
  answeredDay,
  Currency,
  Day,
  describeDay,
  OwnProvider,
  type RateToolDeps,
  RoundedDecimals,
  Text,
  Type,
  withRounding,
} from './parameters.ts'

export function convertTools({ cache, clock }: RateToolDeps): Tool[] {
  return [
    tool({
      name: 'convert',
      needs: 'key',
      about:
        'An amount in another currency at published rates, to the last digit: directly, inverted, or through the pivot. ' +
        'rate_date is the older of the days of the rates.',
      input: v.object({
        amount: Amount,
        from: Currency,
        to: Currency,
        on: Day,
        type: Type,
        provider: OwnProvider,
        details: v.optional(booleanParam('Show the published values too', ''), 'false'),
      }),
      output: v.looseObject({
        rate_date: Text,
        rate_type: Text,
        rate: Text,
        result: Text,
        path: Text,
        rounded_to: RoundedDecimals,
      }),
      async run({ on, ...query }) {
        const day = answeredDay(on, clock)
        const conversion = await cache.read((snapshot) => convertAmount(snapshot, { ...query, day }))
        const rateText = withRounding(`at ${conversion.rate}`, conversion.roundedTo)
        const origin =
          conversion.legs.length > 0
            ? `, ${conversion.rateType} of ${describeDay(conversion.rateDate, day)}`
            : ''
        return {
          value: conversionOut(conversion, query),
          sentence: `${query.amount} ${query.from} are ${conversion.result} ${query.to} ${rateText}${origin}.`,
        }
      },
    }),
  ]
}
