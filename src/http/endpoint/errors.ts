// The one table from error codes to HTTP statuses; an API says the shape of its bodies. An error that is not ours is a
// mute 500: the client learns nothing about the inside, the log gets the cause once.

import type * as v from 'valibot'
import { type Advice, AppError, type ErrorCode } from '../../errors.ts'

/** How an API tells an error. */
export type ErrorShape = {
  /** How to authenticate, for the WWW-Authenticate of a 401 (decisions 1.6). */
  challenge: string
  /** Without it, JSON. */
  contentType?: string
  /** Media types that its errors may have instead, where a request decides. */
  otherTypes?: readonly string[]
  /** The status that goes with a body, for services that answer errors with 200. */
  status?(of: number, details?: unknown): number
  /** Headers of its own. */
  headers?(details: unknown): Readonly<Record<string, string>>
  /** The body. `details` are those of the AppError; `hint` stands beside a text that is the contract's. */
  body(status: number, message: string, details?: unknown, hint?: string): string
  /** What the message goes on with; an API that has no words for an advice leaves it out. */
  advise?(advice: Advice): string
  /** What OpenAPI says of these bodies, and of those of a 422. */
  schema: v.GenericSchema
  invalid: v.GenericSchema
}

/** One bad parameter, as the contract's HTTPValidationError lists it. */
export type ValidationItem = { loc: (string | number)[]; msg: string; type: string; input?: unknown }

const STATUS: Record<ErrorCode, number> = {
  'bad-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  timeout: 408,
  conflict: 409,
  gone: 410,
  'too-large': 413,
  unsupported: 415,
  range: 416,
  misdirected: 421,
  invalid: 422,
  'too-many': 429,
  busy: 503,
  unavailable: 503,
  'disk-full': 507,
  'over-quota': 507,
  usage: 500,
  failed: 500,
}

/** Seconds, for a 503 whose error names no others. */
const RETRY_AFTER_S = 5

/** What a client is told of an error: a status, a body of its API's shape, and headers. `isDefect`: it is one of ours. */
export function errorAnswer(
  error: unknown,
  shape: ErrorShape,
  hint?: string,
): { status: number; body: string; headers: Record<string, string>; isDefect: boolean } {
  const status = error instanceof AppError ? STATUS[error.code] : 500
  const typed: Record<string, string> = shape.contentType ? { 'content-type': shape.contentType } : {}
  if (!(error instanceof AppError) || status === 500) {
    return { status, body: shape.body(status, 'Internal server error'), headers: typed, isDefect: true }
  }
  const { code, details } = error
  const headers = { ...typed, ...shape.headers?.(details) }
  if (code === 'unauthorized') headers['www-authenticate'] = shape.challenge
  if (code === 'method-not-allowed') headers.allow = String(details)
  // Which of the two says what would have been taken: the coding of a body, or its type (RFC 9110, 15.5.16).
  if (code === 'unsupported' && details) headers.accept = String(details)
  else if (code === 'unsupported') headers['accept-encoding'] = 'identity'
  if (code === 'range') headers['content-range'] = String(details)
  if (error.retryAfter !== undefined) headers['retry-after'] = retryAfterOf(error.retryAfter)
  else if (status === 503) addRetryAfter(headers)
  const advice = (error.advice && shape.advise?.(error.advice)) ?? ''
  const body = shape.body(status, error.message + advice, details, hint)
  return { status: shape.status?.(status, details) ?? status, body, headers, isDefect: false }
}

/** Gives the headers of a 503 the default Retry-After, unless they have one. */
export function addRetryAfter(headers: Record<string, string>): void {
  headers['retry-after'] ??= retryAfterOf(RETRY_AFTER_S)
}

/** Whole seconds, at least one: a client that reads 0 tries again at once. */
function retryAfterOf(seconds: number): string {
  return String(Math.max(1, Math.ceil(seconds)))
}

/** A 422 with one item for each bad parameter. */
export function invalidParameters(items: ValidationItem[]): AppError {
  return new AppError('invalid', items.map(({ msg }) => msg).join('; '), { details: items })
}
