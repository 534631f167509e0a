import { isUtf8 } from 'node:buffer'
import { NESTED, type UploadedField } from '../../domain/documents/uploads/upload.ts'
import { createJsonScanner } from '../../formats/json/scanner.ts'
import { TOO_LONG, toInteger } from '../../formats/json/value.ts'
import { AppError } from '../../runtime/errors.ts'

const NOT_JSON = 'Request body must be valid JSON in UTF-8'

/**
 * Parses fields of a small JSON body, by the rules of an upload. The last of repeated fields counts, an empty array
 * is undefined, a number that is no integer NaN. Other fields are skipped, or rejected. @throws AppError `bad-
 * request` for invalid JSON, and with `refuseOthers` for an unknown field
 */
export function parseFields<Name extends string>(
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
    key(rawName) {
      name = names.find((one) => one === rawName)
      if (name === undefined && depth === 1) other ??= rawName === TOO_LONG ? '…' : rawName.slice(0, 64)
    },
    value: (value) => set(typeof value === 'object' && value !== null ? toInteger(value) : value),
    maxBytes: () => (name === undefined ? 0 : body.length),
    wantsPieces: () => false,
    piece: () => false,
    endOfPieces() {},
    isBusy: () => false,
  })
  if (!isUtf8(body)) throw new AppError('bad-request', NOT_JSON)
  try {
    scanner.push(body)
    scanner.end()
  } catch (error) {
    if (!(error instanceof AppError) || refuseOthers) throw error // names the byte; the contract's text does not
    throw new AppError('bad-request', NOT_JSON, { cause: error })
  }
  if (refuseOthers && other !== undefined) {
    throw new AppError(
      'bad-request',
      `There is no field ${JSON.stringify(other)}; there are ${names.join(', ')}`,
    )
  }
  return fields
}
