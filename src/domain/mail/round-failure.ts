/**
 * Cause of a failed round, for the page. `secret`: this machine cannot read the file of the secret. The two refusals wait
 * longer, since servers lock accounts.
 */
export const FAILURE_CODES = [
  ...(['secret', 'login_refused', 'token_refused', 'token_server', 'unreachable', 'certificate'] as const),
  ...([
    'no_encryption',
    'timeout',
    'connection',
    'no_folder',
    'same_folder',
    'no_moves',
    'not_moved',
    'answer',
  ] as const),
  ...(['quota', 'disk_full', 'agent', 'storage', 'other'] as const),
] as const

export type RoundFailureCode = (typeof FAILURE_CODES)[number]

/** A round that cannot go on. Its message is a sentence without words of strangers. */
export class RoundFailure extends Error {
  readonly code: RoundFailureCode

  constructor(message: string, code: RoundFailureCode, options?: ErrorOptions) {
    super(message, options)
    this.name = 'RoundFailure'
    this.code = code
  }
}

/** Returns whether the server refused the credentials. */
export function isLoginRefused(error: unknown): boolean {
  return error instanceof RoundFailure && ['login_refused', 'token_refused'].includes(error.code)
}
