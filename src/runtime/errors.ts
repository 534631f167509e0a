// Error class with a closed set of codes. A table at each edge maps codes to an HTTP status (http/endpoint/error-shape.ts)
// or to an exit code (main.ts).

export type ErrorCode =
  | 'bad-request'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'method-not-allowed'
  | 'not-acceptable'
  | 'conflict'
  | 'gone'
  | 'timeout'
  | 'too-large'
  | 'unsupported'
  | 'range'
  | 'misdirected'
  | 'invalid'
  | 'too-many'
  | 'busy'
  | 'unavailable'
  | 'disk-full'
  | 'over-quota'
  | 'usage' // the command line was wrong: exit 2
  | 'failed' // a command failed with a message: exit 1

/** Reasons by which clients decide beside the status. Most errors have none. */
export const ERROR_REASONS = [
  'not_synchronized', // the answer needs days that were not synchronized
  'no_indicator', // indicator that does not exist, or was never enabled
  'no_document',
  'no_invoice', // the document is no invoice with a date
  'no_company', // company, agent or owner that does not exist, or is outside of the access
  'no_agent',
  'no_owner',
  'https_required',
] as const

export type ErrorReason = (typeof ERROR_REASONS)[number]

/** Remedy for an error; each face words or omits it. */
export type Advice =
  /** An endpoint or command lists these. */
  | { about: 'providers' | 'series' | 'indicators' | 'companies' | 'agents' | 'owners' }
  /** Conversion between the currencies works, although no series has this pair. */
  | { about: 'conversion'; from: string; to: string; provider: string; day: string; asOf: string | undefined }
  /** A revoked secret is replaced by a new one; an expired one gets a later last day. */
  | { about: 'new-secret'; kind: 'key' | 'token' }
  | { about: 'expiry' }
  /** Existing entries are changed, not added again. */
  | { about: 'company-change' | 'directory-change' }
  | { about: 'own-id'; kind: string }
  /** Days to sync, for the first time or again. */
  | { about: 'days'; from: string; to: string; again: boolean }
  | { about: 'failed-sync' }
  /** Rows that differ from their sums. `days`: a sync of these days reads them again. */
  | { about: 'damaged-rates'; id: number; part: string; days: { from: string; to: string } | undefined }
  /** The operator may accept a withheld value. */
  | { about: 'jump'; series: number; day: string }
  /** Values of later days cannot be valid. */
  | { about: 'later-days'; after: string }
  | { about: 'first-sync' }
  /** Rounded values are read again after this option sets this token. */
  | { about: 'token'; name: string; option: string }
  /** A repair needs a stopped server. */
  | { about: 'repair' | 'stopped-server' }
  | { about: 'code-change' | 'nightly-backup' }
  /** A hook without a usable secret, or whose receiver does not respond. */
  | { about: 'hook-secret' | 'hook-test' | 'mailbox-test'; id: number }
  /** `doctor` describes the repair of a damaged database. */
  | { about: 'damage' }

/** Error with a message for the person who caused it. Any other error is a defect of the program. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly reason: ErrorReason | undefined
  readonly details: unknown
  readonly advice: Advice | undefined
  /** Seconds after which a client may try again; without it, the default of the status. */
  readonly retryAfter: number | undefined
  /** The log has it already, so requests add no further line. */
  readonly isLogged: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      reason?: ErrorReason | undefined
      details?: unknown
      advice?: Advice
      retryAfter?: number | undefined
      isLogged?: boolean
      cause?: unknown
    } = {},
  ) {
    const limit = Error.stackTraceLimit
    if (code !== 'failed') Error.stackTraceLimit = 0 // its stack, which no one reads, would cost more than a request
    super(message, { cause: options.cause })
    Error.stackTraceLimit = limit
    this.name = 'AppError'
    this.code = code
    this.reason = options.reason
    this.details = options.details
    this.advice = options.advice
    this.retryAfter = options.retryAfter
    this.isLogged = options.isLogged ?? false
  }
}

/** Failure of a connection through a proxy. Its message is for the operator, its code that of the failure. */
export class ProxyError extends Error {
  readonly code: string

  constructor(message: string, cause: Error) {
    super(message, { cause })
    this.code = errorCode(cause)
  }
}

/** Returns the code of a Node or database error (`ENOENT`, `SQLITE_BUSY`); empty: no code. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** Returns the text of a thrown value, for a log line or the message of a run. */
export function errorReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause && !error.message.includes(cause) ? `${error.message}: ${cause}` : error.message
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/
const NO_CONNECTION = /^E[A-Z]+(_AGAIN)?$/

/** Returns the sentence of a failed connection to `host:port`; undefined: its code is of something else. */
export function unreachableText(code: string, address: string): string | undefined {
  if (isUntrusted(code)) return `its certificate is not trusted (${code})`
  return NO_CONNECTION.test(code) ? `there is no connection to ${address} (${code})` : undefined
}

/** Returns whether a code of Node or OpenSSL means a certificate that is not trusted. */
export function isUntrusted(code: string): boolean {
  return CERTIFICATE.test(code)
}

/** Returns the innermost cause of a failed request, the most specific: `ECONNREFUSED` under `fetch failed`. */
export function networkReason(error: unknown): string {
  let innermost = error
  while (innermost instanceof Error && innermost.cause instanceof Error) {
    if (innermost instanceof ProxyError) return innermost.message
    innermost = innermost.cause
  }
  if (!(innermost instanceof Error)) return String(innermost)
  return 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : innermost.message
}
