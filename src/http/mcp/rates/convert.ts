// Tool that converts an amount, or a list of them.

import * as v from 'valibot'
import { convertAmount } from '../../../domain/rates/conversions.ts'
import { AppError } from '../../../runtime/errors.ts'
import { withDescription } from '../../endpoint/answers/shapes.ts'
import { booleanParam, DecimalsParam, RoundingParam, roundingRule } from '../../endpoint/params.ts'
import { conversionOut } from '../../figures/conversion.ts'
import { type Tool, tool } from '../protocol/tool.ts'
import { convertItems } from './convert-items.ts'
import {
  Amount,
  AnyCurrency,
  answeredDay,
  Day,
  describeDay,
  earliestCoveredDay,
  OwnProvider,
  type RateToolDeps,
  RoundedDecimals,
  Text,
  Type,
  withRounding,
} from './parameters.ts'

const MOST_ITEMS = 50
const NOT_ITEMS = `must be a list of at most ${MOST_ITEMS} objects`
/** Fields that each item needs. */
const ITEM = { amount: { type: ['string', 'integer'] }, from: { type: 'string' }, to: { type: 'string' } }

const Items = v.pipe(
  v.array(v.unknown(), NOT_ITEMS),
  v.maxLength(MOST_ITEMS, NOT_ITEMS),
  v.metadata({
    description:
      'Instead of amount, from and to: objects with these; id, on, type, provider, decimals and rounding too, where ' +
      'they differ from those beside items',
    items: { type: 'object', properties: ITEM },
  }),
)
const Decimals = withDescription(DecimalsParam, 'Rounds result; without it exact')
const Mode = withDescription(RoundingParam, 'With decimals; else half-up')

export function convertTool({ cache, clock }: RateToolDeps): Tool {
  return tool({
    name: 'convert',
    needs: 'key',
    about:
      'An amount in another currency at published rates, to the last digit: directly, inverted, or through the pivot. ' +
      'rate_date is the older of the days of the rates. Give amount, from and to, or items: results has each ' +
      'one, or its error.',
    input: v.object({
      amount: v.optional(Amount),
      from: AnyCurrency,
      to: AnyCurrency,
      items: v.optional(Items),
      on: Day,
      type: Type,
      provider: OwnProvider,
      decimals: v.optional(Decimals),
      rounding: v.optional(Mode),
      details: v.optional(booleanParam('Show the published values too', ''), 'false'),
    }),
    output: v.looseObject({
      rate_date: v.optional(Text),
      rate_type: v.optional(Text),
      rate: v.optional(Text),
      result: v.optional(Text),
      path: v.optional(Text),
      rounded_to: RoundedDecimals,
      results: v.optional(
        v.array(
          v.looseObject({
            result: v.optional(Text),
            rate_date: v.optional(Text),
            error: v.optional(Text),
            reason: v.optional(Text),
          }),
        ),
      ),
    }),
    async run({ items, amount, from, to, ...options }) {
      const { on, type, provider, details, decimals, rounding } = options
      if (items !== undefined) {
        if (amount !== undefined || from !== undefined || to !== undefined)
          throw new AppError('invalid', 'items replaces amount, from and to: leave these out')
        const defaults = { on, type, provider, decimals: decimals?.toString(), rounding }
        return convertItems({ cache, clock }, items, { details, defaults })
      }
      if (amount === undefined || from === undefined || to === undefined) {
        const name = amount === undefined ? 'amount' : from === undefined ? 'from' : 'to'
        throw new AppError('invalid', `${name} is required: give amount, from and to, or items`)
      }
      const query = {
        amount,
        from,
        to,
        type,
        provider,
        details,
        rounding: roundingRule(decimals, rounding),
      }
      const day = answeredDay(on, clock)
      const conversion = await cache.read((snapshot) => convertAmount(snapshot, { ...query, day }))
      const rateText = withRounding(`at ${conversion.rate}`, conversion.roundedTo)
      const origin =
        conversion.legs.length > 0
          ? `, ${conversion.rateType} of ${describeDay(conversion.rateDate, day, earliestCoveredDay(conversion))}`
          : ''
      return {
        value: conversionOut(conversion, query),
        sentence: `${query.amount} ${query.from} are ${conversion.result} ${query.to} ${rateText}${origin}.`,
      }
    },
  })
}
