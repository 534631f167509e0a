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
  timeout: 408,
  conflict: 409,
  'too-large': 413,
  unsupported: 415,
  range: 416,
  invalid: 422,
  busy: 503,
  unavailable: 503,
  'disk-full': 507,
  usage: 500,
  failed: 500,
}

const RETRY_AFTER_S = 5

/** What a client is told of an error: a status, a body of its API's shape, and headers. */
export function errorAnswer(
  error: unknown,
  family: Family,
): { status: number; body: string; headers: Record<string, string> } {
  const status = error instanceof AppError ? STATUS[error.code] : 500
  if (!(error instanceof AppError) || status === 500) {
    return { status, body: errorBody(family, status, 'Internal server error'), headers: {} }
  }
  const { code, details } = error
  const headers: Record<string, string> = {}
  if (code === 'method-not-allowed') headers.allow = String(details)
  if (code === 'unsupported') headers['accept-encoding'] = 'identity'
  if (code === 'range') headers['content-range'] = String(details)
  if (code === 'busy') headers['retry-after'] = String(RETRY_AFTER_S)
  return { status, body: errorBody(family, status, error.message, details), headers }
}

/** The body of an error, in the shape of its API. */
export function errorBody(family: Family, status: number, message: string, details?: unknown): string {
  if (family === 'rates') return JSON.stringify({ detail: status === 422 ? details : message })
  const errors = isRecord(details) && 'errors' in details ? { errors: details.errors } : {}
  return JSON.stringify({ status: status === 404 ? 'not found' : 'error', message, ...errors })
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** A 422 with one item for each bad parameter. */
export function invalidParameters(items: ValidationItem[]): AppError {
  return new AppError('invalid', items.map(({ msg }) => msg).join('; '), { details: items })
}

/** The API that a path belongs to, for the shape of its errors. */
export function familyOf(path: string): Family {
  return /^\/api\/v1\/(documents|agent)(\/|$)/.test(path) ? 'documents' : 'rates'
}
