// Parameters and results of the rate tools, named as in the rates API. Descriptions are short, because a client reads
// all of them before its first call.

import * as v from 'valibot'
import type { Conversion } from '../../../domain/rates/convert.ts'
import type { RateCache } from '../../../domain/rates/rate-cache.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import { AppError } from '../../../runtime/errors.ts'
import { addDays, type Clock, currentDay, type IsoDate } from '../../../values/dates.ts'
import type { Interval } from '../../../values/intervals.ts'
import { Integer, withDescription } from '../../endpoint/answers/shapes.ts'
import {
  amountParam,
  currencyParam,
  cursorParam,
  dateParam,
  idParam,
  providerParam,
  RateTypeParam,
} from '../../endpoint/params.ts'

export type RateToolDeps = { cache: RateCache; clock: Clock }

const { benchmark, code } = DEFAULT_PROVIDER
export const Day = v.optional(dateParam('YYYY-MM-DD; without it today'))
export const Provider = providerParam('Its code')
export const OwnProvider = v.optional(Provider, code)
export const Currency = currencyParam('Such as USD')
export const AnyCurrency = v.optional(Currency)
export const Base = v.optional(Currency, benchmark.base)
export const Quote = v.optional(Currency, benchmark.quote)
const Side = withDescription(RateTypeParam, 'Side of a pair that has two')
export const Type = v.optional(Side, 'venta')
export const Cursor = v.optional(cursorParam('next_after of the answer before'))
export const Amount = amountParam({
  description: 'Greater than 0: a text such as "1500.50", or a whole number',
  type: ['string', 'integer'],
})

/** A side of a pair, and a range of days. */
export const PairRange = {
  series_id: v.optional(idParam('Id in list_series, instead of base, quote, type, provider')),
  base: Base,
  quote: Quote,
  type: Type,
  provider: OwnProvider,
  from: v.optional(dateParam('First day; without it 90 days before the last')),
  to: v.optional(dateParam('Last day; without it today')),
}

export const Text = v.string()
export const Count = Integer
export const MaybeText = v.nullable(Text)
/** Absent: the value is exact. */
export const RoundedDecimals = v.optional(Count)
/** A value with its day. */
export const DatedValue = v.object({ date: Text, rate_date: Text, value: Text })
/** Days that were not synchronized; absent: none, null: unknown. */
export const Holes = v.optional(v.nullable(v.array(v.object({ from: Text, to: Text }))))
export const NextCursor = v.optional(Count)

/**
 * Returns the requested day; today by default. A mistyped year must not return today's rate (decisions#future).
 * @throws AppError `invalid` for a day after tomorrow
 */
export function answeredDay(on: IsoDate | undefined, clock: Clock): IsoDate {
  const today = currentDay(clock)
  if (on === undefined || on <= addDays(today, 1)) return on ?? today
  throw new AppError('invalid', `on is in the future: today is ${today}`)
}

/** `value, rounded to 2 decimals`. */
export function withRounding(text: string, rounded: number | undefined): string {
  return rounded === undefined ? text : `${text} (its source rounds to ${rounded} decimals)`
}

/**
 * Returns the day of a value; if another day was requested, in words. `lastCoveredDay`: undefined if the requested day is
 * synchronized.
 */
export function describeDay(rateDate: string, day: string, lastCoveredDay?: string): string {
  if (rateDate === day) return rateDate
  const last = lastCoveredDay === undefined ? 'published' : 'stored'
  const missing = lastCoveredDay === undefined ? '' : ` (days after ${lastCoveredDay} are not synchronized)`
  return `${rateDate}, the last ${last} day on or before ${day}${missing}`
}

/** Returns the earliest of the days up to which the values of a conversion are synchronized. */
export function earliestCoveredDay({ legs }: Pick<Conversion, 'legs'>): IsoDate | undefined {
  return legs.flatMap(({ lastCoveredDay }) => lastCoveredDay ?? []).sort()[0]
}

/** ` Not synchronized: 2024-02-20 to 2024-03-04 and 2 more.`, or nothing. */
export function describeHoles(holes: readonly Interval[] | null): string {
  if (holes === null) return ' Which days were synchronized is not in the record.'
  const [first] = holes
  if (!first) return ''
  const more = holes.length > 1 ? ` and ${holes.length - 1} more` : ''
  return ` Not synchronized: ${first.from} to ${first.to}${more}.`
}
