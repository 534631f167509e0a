import { AppError } from '../../runtime/errors.ts'

/** Creates the error for a body that is not JSON; `at` counts bytes from 0. */
export function notJson(what: string, at: number): AppError {
  return new AppError('bad-request', `Request body must be valid JSON: ${what} at byte ${at}`)
}

export function unexpected(byte: number, at: number): AppError {
  const printable = byte > 0x20 && byte < 0x7f
  return notJson(
    `unexpected ${printable ? `"${String.fromCharCode(byte)}"` : `byte 0x${byte.toString(16)}`}`,
    at,
  )
}
