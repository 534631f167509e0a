// What the tools of the rates take and give, in the words of the rates API and in few ones: a client reads all of them
// before it asks anything.

import * as v from 'valibot'
import { addDays, type Clock, type IsoDate, todayIn } from '../../../dates.ts'
import type { RateCache } from '../../../domain/rates/rate-cache.ts'
import { AppError } from '../../../errors.ts'
import type { Interval } from '../../../intervals.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import {
  amountParam,
  currencyParam,
  cursorParam,
  dateParam,
  idParam,
  providerParam,
  RateTypeParam,
} from '../../api/params.ts'

export type RateToolDeps = { cache: RateCache; clock: Clock }

const { benchmark, code } = DEFAULT_PROVIDER
export const On = v.optional(dateParam('YYYY-MM-DD; without it today'))
export const Provider = providerParam('Its code')
export const OwnProvider = v.optional(Provider, code)
export const Currency = currencyParam('Such as USD')
export const AnyCurrency = v.optional(Currency)
export const Base = v.optional(Currency, benchmark.base)
export const Quote = v.optional(Currency, benchmark.quote)
const Side = v.pipe(RateTypeParam, v.metadata({ description: 'Side of a pair that has two' }))
export const Type = v.optional(Side, 'venta')
export const After = v.optional(cursorParam('next_after of the answer before'))
export const Amount = amountParam({
  description: 'Greater than 0: a text such as "1500.50", or a whole number',
  type: ['string', 'integer'],
})

/** One side of a pair and a range of days. */
export const OnePair = {
  series_id: v.optional(idParam('Id in list_series, instead of base, quote, type, provider')),
  base: Base,
  quote: Quote,
  type: Type,
  provider: OwnProvider,
  from: v.optional(dateParam('First day; without it 90 days before the last')),
  to: v.optional(dateParam('Last day; without it today')),
}

export const Text = v.string()
export const Count = v.pipe(v.number(), v.integer())
export const MaybeText = v.nullable(Text)
/** Absent: the value is exact. */
export const RoundedTo = v.optional(Count)
/** Of a value in a list or beside others: with its day, always. */
export const Dated = v.object({ date: Text, rate_date: Text, value: Text })
/** Days that were not synchronized; absent: none, null: unknown. */
export const Holes = v.optional(v.nullable(v.array(v.object({ from: Text, to: Text }))))
export const NextAfter = v.optional(Count)

/**
 * The day that is asked for; without it today. A mistyped year must not be answered with today's rate (decisions 2.6).
 * @throws AppError `invalid` for a day after tomorrow
 */
export function dayAsked(on: IsoDate | undefined, clock: Clock): IsoDate {
  const today = todayIn(clock)
  if (on === undefined || on <= addDays(today, 1)) return on ?? today
  throw new AppError('invalid', `on is in the future: today is ${today}`)
}

/** `value, rounded to 2 decimals`. */
export function withRounding(text: string, rounded: number | undefined): string {
  return rounded === undefined ? text : `${text} (its source rounds to ${rounded} decimals)`
}

/** Of which day a value is, where another one was asked for. */
export function dayInWords(rateDate: string, asked: string): string {
  return rateDate === asked ? rateDate : `${rateDate}, the last published day on or before ${asked}`
}

/** ` Not synchronized: 2024-02-20 to 2024-03-04 and 2 more.`, or nothing. */
export function holesInWords(holes: readonly Interval[] | null): string {
  if (holes === null) return ' Which days were synchronized is not in the record.'
  const [first] = holes
  if (!first) return ''
  const more = holes.length > 1 ? ` and ${holes.length - 1} more` : ''
  return ` Not synchronized: ${first.from} to ${first.to}${more}.`
}
