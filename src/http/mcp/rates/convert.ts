// What an amount is worth.

import * as v from 'valibot'
import { todayIn } from '../../../dates.ts'
import { conversionOn } from '../../../domain/rates/queries.ts'
import { AmountParam, booleanParam } from '../../api/params.ts'
import { conversionOut } from '../../rates/convert.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  Count,
  Currency,
  dayInWords,
  On,
  OwnProvider,
  type RateToolDeps,
  RoundedTo,
  Text,
  Type,
  withRounding,
} from './parameters.ts'

const Amount = v.pipe(
  AmountParam,
  v.metadata({
    description: 'Greater than 0: text such as "1500.50", or a whole number',
    type: ['string', 'integer'],
  }),
)

export function convertTools({ cache, clock }: RateToolDeps): Tool[] {
  return [
    tool({
      name: 'convert',
      needs: 'key',
      about:
        'An amount in another currency at published rates, to the last digit: directly, inverted, or through the pivot. ' +
        'rate_date is the older of the days of the rates.',
      takes: v.object({
        amount: Amount,
        from: Currency,
        to: Currency,
        on: On,
        type: Type,
        provider: OwnProvider,
        details: v.optional(booleanParam('Show the published values too'), 'false'),
      }),
      gives: v.object({
        provider: Text,
        rate_date: Text,
        rate_type: Text,
        from_currency: Text,
        to_currency: Text,
        amount: Text,
        rate: Text,
        result: Text,
        path: Text,
        via_pivot: v.boolean(),
        rounded_to: RoundedTo,
        legs: v.optional(
          v.array(v.looseObject({ series_id: Count, rate_date: Text, value: Text, inverse: v.boolean() })),
        ),
      }),
      async find({ on, ...asked }) {
        const day = on ?? todayIn(clock)
        const found = await cache.read((snapshot) => conversionOn(snapshot, { ...asked, day }))
        const at = withRounding(`at ${found.rate}`, found.roundedTo)
        const of = found.legs.length > 0 ? `, ${found.rateType} of ${dayInWords(found.rateDate, day)}` : ''
        return {
          value: conversionOut(found, asked),
          sentence: `${asked.amount} ${asked.from} are ${found.result} ${asked.to} ${at}${of}.`,
        }
      },
    }),
  ]
}
