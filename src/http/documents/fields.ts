import { isUtf8 } from 'node:buffer'
import { NESTED, type UploadedField } from '../../domain/documents/upload.ts'
import { AppError } from '../../errors.ts'
import { createJsonScanner } from '../../json/scanner.ts'
import { integerOf, TOO_LONG } from '../../json/value.ts'

/**
 * Fields of the object that a small body holds, by the same rules as those of an upload: of a repeated one the last
 * counts, an empty array is undefined, a number that is not written as an integer NaN. Others are skipped, or refused.
 * @throws AppError `bad-request` for what is not JSON, and with `refuseOthers` for a field of another name
 */
export function fieldsOf<Name extends string>(
  body: Buffer,
  names: readonly Name[],
  { refuseOthers = false } = {},
): Partial<Record<Name, UploadedField>> {
  const fields: Partial<Record<Name, UploadedField>> = {}
  let depth = 0
  let name: Name | undefined
  let other: string | undefined
  const set = (value: UploadedField) => {
    if (name !== undefined) fields[name] = value
  }
  const scanner = createJsonScanner({
    open(kind) {
      if (depth === 1) set(NESTED)
      return depth++ === 0 && kind === 'object'
    },
    close(kind, empty) {
      depth--
      if (depth === 1 && kind === 'array' && empty) set(undefined)
    },
    key(sent) {
      name = names.find((one) => one === sent)
      if (name === undefined && depth === 1) other ??= sent === TOO_LONG ? '…' : sent.slice(0, 64)
    },
    value: (value) => set(typeof value === 'object' && value !== null ? integerOf(value) : value),
    keep: () => (name === undefined ? 0 : body.length),
    wantsPieces: () => false,
    piece: () => false,
    endOfPieces() {},
    isBusy: () => false,
  })
  try {
    if (!isUtf8(body)) throw new AppError('bad-request', 'not UTF-8')
    scanner.push(body)
    scanner.end()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    throw new AppError('bad-request', 'Request body must be valid JSON in UTF-8', { cause: error })
  }
  if (refuseOthers && other !== undefined) {
    throw new AppError(
      'bad-request',
      `There is no field ${JSON.stringify(other)}; there are ${names.join(', ')}`,
    )
  }
  return fields
}
