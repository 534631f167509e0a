// The one table from error codes to HTTP statuses, and the two error bodies. An error that is not ours is a
// mute 500: the client learns nothing about the inside, the log gets the cause once.

import { AppError, type ErrorCode } from '../errors.ts'

export type Family = 'rates' | 'documents'

/** One bad parameter, as the contract's HTTPValidationError lists it. */
export type ValidationItem = { loc: (string | number)[]; msg: string; type: string; input?: unknown }

const STATUS: Record<ErrorCode, number> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  conflict: 409,
  invalid: 422,
  unavailable: 503,
  'disk-full': 507,
  usage: 500,
  failed: 500,
}

/** What a client is told of an error. */
export function errorAnswer(error: unknown, family: Family): { status: number; body: string } {
  const status = error instanceof AppError ? STATUS[error.code] : 500
  const message = error instanceof AppError && status !== 500 ? error.message : 'Internal server error'
  if (family === 'documents') {
    return { status, body: JSON.stringify({ status: status === 404 ? 'not found' : 'error', message }) }
  }
  const detail = error instanceof AppError && error.code === 'invalid' ? error.details : message
  return { status, body: JSON.stringify({ detail }) }
}

/** A 422 with one item for each bad parameter. */
export function invalidParameters(items: ValidationItem[]): AppError {
  return new AppError('invalid', 'Invalid parameters', { details: items })
}

/** The API that a path belongs to, for the shape of its errors. */
export function familyOf(path: string): Family {
  return /^\/api\/v1\/(documents|agent)(\/|$)/.test(path) ? 'documents' : 'rates'
}
