// What an amount is worth.

import * as v from 'valibot'
import { conversionOn } from '../../../domain/rates/conversions.ts'
import { booleanParam } from '../../api/params.ts'
import { conversionOut } from '../../rates/convert.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import {
  Amount,
  Currency,
  dayAsked,
  dayInWords,
  On,
  OwnProvider,
  type RateToolDeps,
  RoundedTo,
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
      takes: v.object({
        amount: Amount,
        from: Currency,
        to: Currency,
        on: On,
        type: Type,
        provider: OwnProvider,
        details: v.optional(booleanParam('Show the published values too', ''), 'false'),
      }),
      gives: v.looseObject({
        rate_date: Text,
        rate_type: Text,
        rate: Text,
        result: Text,
        path: Text,
        rounded_to: RoundedTo,
      }),
      async find({ on, ...asked }) {
        const day = dayAsked(on, clock)
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
