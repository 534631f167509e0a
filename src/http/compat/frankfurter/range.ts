// On which days of a range both versions have a row.

import type { IsoDate } from '../../../dates.ts'
import type { Cross } from '../../../domain/rates/crosses.ts'

/** Of the rates on a day those of which a leg was published then. */
export function publishedOn(day: IsoDate, crosses: readonly Cross[]): readonly Cross[] {
  return crosses.filter(({ newest }) => newest === day)
}
