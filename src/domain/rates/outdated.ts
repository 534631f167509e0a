// A snapshot from which not all can be read any more, because another process has changed the data since it was taken:
// what was asked is asked of the next one.

import { AppError } from '../../errors.ts'

const OUTDATED = Symbol('the data have changed since the snapshot was taken')

export function outdatedError(): AppError {
  return new AppError('busy', 'The rates are being changed: try again in a moment', { cause: OUTDATED })
}

export function isOutdated(error: unknown): boolean {
  return error instanceof AppError && error.cause === OUTDATED
}
