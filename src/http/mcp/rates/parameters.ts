// What the tools of the rates take and give, in the words of the rates API and in few ones: a client reads all of them
// before it asks anything.

import * as v from 'valibot'
import type { Clock } from '../../../dates.ts'
import type { RateCache } from '../../../domain/rates/rate-cache.ts'
import { DEFAULT_PROVIDER } from '../../../providers/list.ts'
import { CurrencyParam, dateParam, idParam, ProviderParam, RateTypeParam } from '../../api/params.ts'

export type RateToolDeps = { cache: RateCache; clock: Clock }

const { benchmark, code } = DEFAULT_PROVIDER
const described = <S extends v.GenericSchema>(schema: S, description: string) =>
  v.pipe(schema, v.description(description))

export const On = v.optional(described(dateParam(''), 'Day, YYYY-MM-DD; without it today'))
export const Provider = described(ProviderParam, 'Provider code')
export const OwnProvider = v.optional(Provider, code)
export const Currency = described(CurrencyParam, 'Currency code')
export const AnyCurrency = v.optional(Currency)
export const Base = v.optional(Currency, benchmark.base)
export const Quote = v.optional(Currency, benchmark.quote)
export const Type = v.optional(
  described(RateTypeParam, 'Side; a pair with one rate is taken as it is'),
  'venta',
)
export const After = v.optional(described(idParam(''), 'next_after of the answer before'))

/** One side of a pair: by its id, or by what it is of. */
export const OneSeries = {
  series_id: v.optional(described(idParam(''), 'Id in list_series, instead of base, quote and type')),
  base: Base,
  quote: Quote,
  type: Type,
  provider: OwnProvider,
  from: v.optional(described(dateParam(''), 'First day; without it 90 days before the last')),
  to: v.optional(described(dateParam(''), 'Last day; without it today')),
}

export const Text = v.string()
export const Count = v.pipe(v.number(), v.integer())
export const MaybeText = v.nullable(Text)
/** Absent: the value is exact. */
export const RoundedTo = v.optional(Count)
export const Dated = v.object({ rate_date: Text, value: Text })
export const NextAfter = v.optional(Count)

/** `value, rounded to 2 decimals`. */
export function withRounding(text: string, rounded: number | undefined): string {
  return rounded === undefined ? text : `${text} (its source rounds to ${rounded} decimals)`
}

/** Of which day a value is, where another one was asked for. */
export function dayInWords(rateDate: string, asked: string): string {
  return rateDate === asked ? rateDate : `${rateDate}, the last published day on or before ${asked}`
}
