// What both versions say of a range: on which of its days there is a row, and how many rows an answer may have.

import type { IsoDate } from '../../../dates.ts'
import type { Cross } from '../../../domain/rates/crosses.ts'
import { AppError } from '../../../errors.ts'

const MOST_ROWS = 200_000 // ten years of every currency, in some 14 MB

/** Of the rates on a day those of which a leg was published then. */
export function publishedOn(day: IsoDate, crosses: readonly Cross[]): readonly Cross[] {
  return crosses.filter(({ newest }) => newest === day)
}

/** @throws AppError `invalid` for more rows than an answer may have */
export function checkRows(count: number): void {
  if (count > MOST_ROWS)
    throw new AppError('invalid', `more than ${MOST_ROWS} rows: ask for fewer days or currencies`)
}
