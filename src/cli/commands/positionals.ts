import { open, unlink } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Fault } from '../../domain/directory/directory.ts'
import { AppError, codeOf, reasonOf } from '../../errors.ts'

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u

/** The name of a new key or token from the command line. @throws AppError `usage` */
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

/** What names a key or token that is there: its name, or its id, which is digits alone. @throws AppError `usage` */
export function parseNameOrId(word: string | undefined): string | number {
  return /^\d+$/.test(word ?? '') ? parseId(word) : parseName(word)
}

/** An id from the command line. @throws AppError `usage` */
export function parseId(word: string | undefined): number {
  const id = Number(word)
  if (!/^\d+$/.test(word ?? '') || id < 1 || !Number.isSafeInteger(id)) {
    throw new AppError('usage', `ID must be a positive integer, not ${JSON.stringify(word ?? '')}`)
  }
  return id
}

/**
 * A row of which every field came from a flag (`company_id` from --company).
 * @throws AppError `usage` that names the flag
 */
export function rowOfFlags<T>(checked: { row: T; faults: [] } | { row: undefined; faults: Fault[] }): T {
  if (checked.row !== undefined) return checked.row
  const faults = checked.faults.map(({ field, message }) => `--${field.replace('_id', '')} ${message}`)
  throw new AppError('usage', faults.join('; '))
}

/** A new file with this content, or none. */
export async function writeNew(path: string, content: AsyncIterable<Buffer>): Promise<void> {
  // Opened before the first byte is read: a content that fails at once must find the file there to remove it.
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

/** Why the file of --out could not be written. */
export function newFileError(path: string, error: unknown): AppError {
  const code = codeOf(error)
  if (code === 'EEXIST') {
    return new AppError('failed', `${path} is there already and is not overwritten: choose another --out`)
  }
  // Root has become the owner of the data directory by now, who may not write everywhere.
  const hint =
    code === 'EACCES' || code === 'EPERM' ? ' (leave --out away and redirect the output: > FILE)' : ''
  return new AppError('failed', `cannot write ${path}: ${reasonOf(error)}${hint}`, { cause: error })
}
