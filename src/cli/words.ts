import { AppError } from '../errors.ts'

/** An id from the command line. @throws AppError `usage` */
export function idOf(word: string | undefined): number {
  const id = Number(word)
  if (!/^\d+$/.test(word ?? '') || id < 1 || !Number.isSafeInteger(id)) {
    throw new AppError('usage', `ID must be a positive integer, not ${JSON.stringify(word ?? '')}`)
  }
  return id
}
