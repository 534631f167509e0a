// Table from error codes to HTTP statuses. Each API defines the shape of its error bodies. An unknown error is a 500
// without details for the client; the cause is logged once.

import type * as v from 'valibot'
import { type Advice, AppError, type ErrorCode, type ErrorReason } from '../../runtime/errors.ts'

type MoreFields = {
  hint?: string | undefined
  see?: string | undefined
  reason?: ErrorReason | undefined
}

/** Encoding of the errors of an API. */
export type ErrorShape = {
  /** How to authenticate, for the WWW-Authenticate of a 401 (decisions#key-first). */
  challenge: string
  /** Without it, JSON. */
  contentType?: string
  /** Alternative media types, chosen by the request. */
  otherTypes?: readonly string[]
  /** Status sent with a body, for services that answer errors with 200. */
  status?(code: number, details?: unknown): number
  /** Headers of its own. */
  headers?(details: unknown): Readonly<Record<string, string>>
  /** The body. `details`: of the AppError. `more`: fields beside the text, which the contract fixes. */
  body(status: number, message: string, details?: unknown, more?: MoreFields): string
  /** Text appended to the message; without it no advice is sent. */
  advise?(advice: Advice): string
  /** Path that answers the request, for the field `see`. */
  see?(advice: Advice): string | undefined
  /** OpenAPI schemas of the bodies; `invalid`: of a 422, if it is another one. */
  schema: v.GenericSchema
  invalid?: v.GenericSchema
}

/** An invalid parameter, in the form of the contract's HTTPValidationError. */
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

/** Default Retry-After of a 503, in seconds. */
const RETRY_AFTER_S = 5

/** Converts an error to status, body and headers. `isDefect`: the error is a bug of the server. */
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
  const { code, details, reason } = error
  const headers = { ...typed, ...shape.headers?.(details) }
  if (code === 'unauthorized') headers['www-authenticate'] = shape.challenge
  if (code === 'method-not-allowed') headers.allow = String(details)
  // Accept names the supported media types, Accept-Encoding the supported codings (RFC 9110, 15.5.16).
  if (code === 'unsupported' && details) headers.accept = String(details)
  else if (code === 'unsupported') headers['accept-encoding'] = 'identity'
  if (code === 'range') headers['content-range'] = String(details)
  if (error.retryAfter !== undefined) headers['retry-after'] = retrySeconds(error.retryAfter)
  else if (status === 503) setRetryDelay(headers)
  const advice = (error.advice && shape.advise?.(error.advice)) ?? ''
  const see = error.advice && shape.see?.(error.advice)
  const body = shape.body(status, error.message + advice, details, { hint, see, reason })
  return { status: shape.status?.(status, details) ?? status, body, headers, isDefect: false }
}

/** Sets the default Retry-After on the headers of a 503, unless they have one. */
export function setRetryDelay(headers: Record<string, string>): void {
  headers['retry-after'] ??= retrySeconds(RETRY_AFTER_S)
}

/** Whole seconds, at least 1: with 0 clients would retry at once. */
function retrySeconds(seconds: number): string {
  return String(Math.max(1, Math.ceil(seconds)))
}

/** A 422 with one item for each bad parameter. */
export function invalidParameters(items: ValidationItem[]): AppError {
  return new AppError('invalid', items.map(({ msg }) => msg).join('; '), { details: items })
}
