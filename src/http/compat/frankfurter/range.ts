// Days of a range with a row, in both versions.

import type { Cross } from '../../../domain/rates/crosses.ts'
import type { IsoDate } from '../../../values/dates.ts'

/** Returns the rates with a leg that was published on the day. */
export function filterPublished(day: IsoDate, crosses: readonly Cross[]): readonly Cross[] {
  return crosses.filter(({ newest }) => newest === day)
}
