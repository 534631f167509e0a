// Parameters of a history, and the error of a reversed range.

import * as v from 'valibot'
import { historyRange } from '../../domain/rates/queries.ts'
import { DEFAULT_PROVIDER } from '../../providers/list.ts'
import type { IsoDate } from '../../values/dates.ts'
import { CurrencyParam, dateParam, ProviderParam, RateTypeParam, reversedRange } from '../endpoint/params.ts'

export const HISTORY_RANGE = {
  from: v.optional(dateParam('The first day; without it 90 days before the last')),
  to: v.optional(dateParam('The last day; without it today, in Costa Rica')),
}

export const PAIR_HISTORY = {
  base: CurrencyParam,
  quote: CurrencyParam,
  provider: v.optional(ProviderParam, DEFAULT_PROVIDER.code),
  type: v.optional(RateTypeParam, 'venta'),
  ...HISTORY_RANGE,
}

/** Returns the days of a history as historyRange does. @throws AppError `invalid` for a reversed range */
export function requireRange(query: Parameters<typeof historyRange>[0], today: IsoDate) {
  const range = historyRange(query, today)
  if (!range) throw reversedRange(query.from ?? '')
  return range
}
