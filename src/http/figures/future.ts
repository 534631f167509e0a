// Days after tomorrow: the last value answers, as in the contract, and the answer is marked as future (decisions#day).

import * as v from 'valibot'
import { addDays, type IsoDate } from '../../values/dates.ts'
import { withDescription } from '../endpoint/answers/shapes.ts'

/** Requested day. An answer about a day after today depends on today. */
export type RequestedDay = { day: IsoDate; today?: IsoDate }

export const FutureOut = v.optional(withDescription(v.literal(true), 'There when `on` is after tomorrow'))

/** Returns the requested day, without `on` today. */
export function requestedDay(on: IsoDate | undefined, today: IsoDate): RequestedDay {
  return on !== undefined && on > today ? { day: on, today } : { day: on ?? today }
}

/** Returns the JSON field; undefined: not in the future. */
export function futureField({ day, today }: RequestedDay): true | undefined {
  return today !== undefined && day > addDays(today, 1) ? true : undefined
}

/** Returns the header of a table. */
export function futureHeaders(requested: RequestedDay): Record<string, string> {
  return futureField(requested) ? { 'x-future': 'true' } : {}
}
