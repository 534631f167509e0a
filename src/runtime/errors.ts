// The one error class. The thrower says which of a closed set of things went wrong; what becomes of it
// (an HTTP status, an exit code) is decided in one table at each edge: http/api/errors.ts and main.ts.

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
  | 'failed' // a command could not do its work, and the message says why: exit 1

/** What could be done about an error; each face says it in its own words, or not at all. */
export type Advice =
  /** There is a list of these. */
  | { about: 'providers' | 'series' | 'companies' | 'agents' }
  /** The currencies may be converted, though no series gives one in the other. */
  | { about: 'conversion'; from: string; to: string }
  /** A revoked secret is replaced by a new one; an expired one gets a later last day. */
  | { about: 'new-secret'; kind: 'key' | 'token' }
  | { about: 'expiry' }
  /** What is there is changed by other means than adding it again. */
  | { about: 'company-change' | 'directory-change' }
  | { about: 'own-id'; kind: string }
  /** Days that a sync of them asks for, for the first time or again. */
  | { about: 'days'; from: string; to: string; again: boolean }
  | { about: 'failed-sync' }
  /** What is stored of days after this one cannot be true. */
  | { about: 'later-days'; after: string }
  | { about: 'first-sync' }
  /** Rounded values are read again with a token, which goes by this name and is given with this option. */
  | { about: 'token'; name: string; option: string }
  /** What a repair mends while no server runs. */
  | { about: 'repair' | 'stopped-server' }
  | { about: 'code-change' | 'nightly-backup' }
  /** A hook that cannot be signed for, and one that does not hear. */
  | { about: 'hook-secret' | 'hook-test'; id: number }
  /** An examination says what to do about a damaged database. */
  | { about: 'damage' }

/** An error whose message is written for the person who caused it. Anything else is a defect of ours. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: unknown
  readonly advice: Advice | undefined
  /** Seconds after which a client may try again; without it, the default of the status. */
  readonly retryAfter: number | undefined
  /** Whether the log has it already, and needs no line for each request. */
  readonly isLogged: boolean

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      details?: unknown
      advice?: Advice
      retryAfter?: number | undefined
      isLogged?: boolean
      cause?: unknown
    } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.advice = options.advice
    this.retryAfter = options.retryAfter
    this.isLogged = options.isLogged ?? false
  }
}

/** The code of what was thrown, as Node and SQLite give one (`ENOENT`, `SQLITE_BUSY`); empty: it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

/** The text of anything that was thrown, for a log line or a run's message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause instanceof Error ? error.cause.message : ''
  return cause && !error.message.includes(cause) ? `${error.message}: ${cause}` : error.message
}

/** Why a request to another server failed. The innermost cause says it best: `ECONNREFUSED` under `fetch failed`. */
export function networkReason(error: unknown): string {
  let innermost = error
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause
  if (!(innermost instanceof Error)) return String(innermost)
  return 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : innermost.message
}
