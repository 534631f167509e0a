// Days after tomorrow: the last value answers, as the contract says, and the answer says that they are in the future
// (decisions 2.6).

import * as v from 'valibot'
import { addDays, type IsoDate } from '../../dates.ts'

/** A day that is asked for. An answer about a day after today depends on today. */
export type AskedDay = { day: IsoDate; today?: IsoDate }

export const FutureOut = v.optional(
  v.pipe(v.literal(true), v.metadata({ description: 'There when `on` is after tomorrow' })),
)

/** The day that is asked for, without `on` today. */
export function askedDay(on: IsoDate | undefined, today: IsoDate): AskedDay {
  return on !== undefined && on > today ? { day: on, today } : { day: on ?? today }
}

/** The field of a JSON object; undefined: there is nothing to say. */
export function futureField({ day, today }: AskedDay): true | undefined {
  return today !== undefined && day > addDays(today, 1) ? true : undefined
}

/** The header of a table. */
export function futureHeaders(asked: AskedDay): Record<string, string> {
  return futureField(asked) ? { 'x-future': 'true' } : {}
}
