import { open, unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { FieldFault } from '../../domain/directory/directory.ts'
import { AppError, errorCode, errorReason } from '../../runtime/errors.ts'

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u

/** Parses the name of a new key or token. @throws AppError `usage` */
export function parseName(word: string | undefined): string {
  if (word !== undefined && /^\d+$/.test(word)) {
    throw new AppError('usage', `NAME must not be digits alone, which are an id: ${JSON.stringify(word)}`)
  }
  if (word !== undefined && NAME.test(word)) return word
  throw new AppError(
    'usage',
    'NAME must be 1 to 64 letters, digits, spaces or . _ @ -, beginning with one of the first two',
  )
}

/** Parses the name of an existing key or token, or its id (digits only). @throws AppError `usage` */
export function parseNameOrId(word: string | undefined): string | number {
  return /^\d+$/.test(word ?? '') ? parseId(word) : parseName(word)
}

/** Parses an id. @throws AppError `usage` */
export function parseId(word: string | undefined): number {
  const id = Number(word)
  if (!/^\d+$/.test(word ?? '') || id < 1 || !Number.isSafeInteger(id)) {
    throw new AppError('usage', `ID must be a positive integer, not ${JSON.stringify(word ?? '')}`)
  }
  return id
}

/**
 * Requires a valid row whose fields came from flags (`company_id` from --company).
 * @throws AppError `usage` that names the flag
 */
export function requireFlagRow<T>(
  result: { row: T; faults: [] } | { row: undefined; faults: FieldFault[] },
): T {
  if (result.row !== undefined) return result.row
  const faults = result.faults.map(({ field, message }) => `--${field.replace('_id', '')} ${message}`)
  throw new AppError('usage', faults.join('; '))
}

/** Returns the path of a file for results; undefined, for none or `-`: stdout. */
export function resultFile(word: string | undefined): string | undefined {
  return word === '-' ? undefined : word
}

/** Writes a new file, completely or not at all. */
export async function writeNewFile(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  // The file is opened before the first byte is read, because content that fails at once must remove it.
  const file = await open(path, 'wx').catch((error: unknown) => {
    throw newFileError(path, error)
  })
  try {
    await pipeline(content, file.createWriteStream({ flush: true }))
  } catch (error) {
    await unlink(path)
    throw error instanceof AppError ? error : newFileError(path, error)
  }
}

/** Returns the error for a new file that could not be written. */
export function newFileError(path: string, error: unknown): AppError {
  const code = errorCode(error)
  if (code === 'EEXIST') {
    return new AppError('failed', `${path} is there already and is not overwritten: choose another name`)
  }
  // Root has become the owner of the data directory, who may not write everywhere.
  const hint = code === 'EACCES' || code === 'EPERM' ? ' (redirect the output instead: > FILE)' : ''
  return new AppError('failed', `cannot write ${path}: ${errorReason(error)}${hint}`, { cause: error })
}
