// Limits the rows of an answer, so that one request cannot take the memory of a small machine.

import { AppError } from '../../runtime/errors.ts'

const MAX_ROWS = 200_000 // ten years of every currency, in some 14 MB

/** @throws AppError `invalid` for more rows than an answer may have */
export function checkRowCount(count: number): void {
  if (count > MAX_ROWS)
    throw new AppError('invalid', `more than ${MAX_ROWS} rows: ask for fewer days or currencies`)
}
