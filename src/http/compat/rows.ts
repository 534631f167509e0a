// How many rows an answer may have: one request must not take the memory of a small machine.

import { AppError } from '../../errors.ts'

const MOST_ROWS = 200_000 // ten years of every currency, in some 14 MB

/** @throws AppError `invalid` for more rows than an answer may have */
export function checkRows(count: number): void {
  if (count > MOST_ROWS)
    throw new AppError('invalid', `more than ${MOST_ROWS} rows: ask for fewer days or currencies`)
}
