// Range of days of a history: its parameters, and the error of a reversed one.

import * as v from 'valibot'
import { historyRange } from '../../domain/rates/queries.ts'
import type { IsoDate } from '../../values/dates.ts'
import { dateParam, reversedRange } from '../endpoint/params.ts'

export const HISTORY_RANGE = {
  from: v.optional(dateParam('The first day; without it 90 days before the last')),
  to: v.optional(dateParam('The last day; without it today, in Costa Rica')),
}

/** Returns the days of a history as historyRange does. @throws AppError `invalid` for a reversed range */
export function requireRange(query: Parameters<typeof historyRange>[0], today: IsoDate) {
  const range = historyRange(query, today)
  if (!range) throw reversedRange(query.from ?? '')
  return range
}
