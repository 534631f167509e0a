// The codes of what goes wrong with PostgreSQL: `PG_` and the SQLSTATE, or a word where the server said nothing. What they
// mean to a client is in src/storage-error.ts.

import { AppError, codeOf } from '../../errors.ts'

/** The connection broke, or nothing was answered in time. */
export const LOST = 'PG_LOST'
/** The server is not the one that the address means, or speaks no TLS. */
export const UNTRUSTED = 'PG_UNTRUSTED'
/** The connection broke while a transaction was committed: it may be there, or not. */
export const COMMIT_UNKNOWN = 'PG_COMMIT_UNKNOWN'

const SQLSTATE = /^[0-9A-Z]{5}$/
const CONFLICT = /^PG_(40001|40P01)$/
const OVERTAKEN = /^PG_(23505|23503)$/
// The server ends sessions, is starting, or does not say what became of a statement.
const ENDS = /^PG_(57P0[1-5]|08...|40003|25006|LOST|UNTRUSTED)$/
const READ_ONLY = 'PG_25006'

// The server's own words name the user, and in the language of its settings.
const NO_ENTRY = 'the database refuses the user or the password; its log says why'
const OWN_WORDS: Record<string, string> = {
  PG_28000: `${NO_ENTRY} (28000, such as a line that pg_hba.conf has not)`,
  PG_28P01: `${NO_ENTRY} (28P01)`,
  PG_53300: 'the database has no connection left (53300): see its max_connections',
}
// Of OpenSSL, for a certificate that no known root signed; the text of Node.js advises a flag that no user of ours has.
const NO_ROOT = /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/
const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID'
// Such as a certificate that has expired.
const NO_TRUST = /^(CERT_\w+|ERR_SSL_\w+)$/
const NO_TLS = 'The server does not support SSL connections'
const NO_PASSWORD = /^SASL: .*password must be a/
const PASSWORD_MISSING =
  'the database asks for a password: none is in its address, in ~/.pgpass or in the file of PGPASSFILE'

/** The same error with such a code, or one of ours in place of what names the user. */
export function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || codeOf(error).startsWith('PG_')) return error
  if (error instanceof AppError || error instanceof RangeError || error instanceof TypeError) return error
  if (NO_PASSWORD.test(error.message)) return Object.assign(new Error(PASSWORD_MISSING), { code: 'PG_28P01' })
  const state = codeOf(error)
  const untrusted = untrustedWords(error, state)
  if (untrusted !== undefined) return Object.assign(new Error(untrusted), { code: UNTRUSTED })
  const code = SQLSTATE.test(state) && 'severity' in error ? `PG_${state}` : LOST
  const words = OWN_WORDS[code]
  return Object.assign(words === undefined ? error : new Error(words), { code })
}

/** Undefined: it is about anything else. */
function untrustedWords({ message }: Error, code: string): string | undefined {
  const which = `the certificate of the database is`
  if (NO_ROOT.test(code))
    return `${which} not trusted (${code}): name its root with sslrootcert=FILE in the address`
  if (code === OTHER_HOST)
    return `${which} that of another host than the one in the address: write the name that it has`
  return NO_TRUST.test(code) || message === NO_TLS ? message : undefined
}

/** Whether the transaction was given up because of others that ran at the same time, and may be tried again. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(codeOf(error))
}

/** Whether another transaction made, or deleted, what this one had looked for before: a second run sees it. */
export function wasOvertaken(error: unknown): boolean {
  return OVERTAKEN.test(codeOf(error))
}

/** Whether the connection is of no more use. */
export function isConnectionLost(error: unknown): boolean {
  return ENDS.test(codeOf(error))
}

/** The error of a commit of which it was found out that it did not happen. */
export function asNotCommitted(cause: unknown): Error {
  return Object.assign(new Error('the connection was lost before a commit', { cause }), { code: LOST })
}

/** Whether the server is not the one that writes, or no longer: all connections of the node lead there. */
export function isReadOnly(error: unknown): boolean {
  return codeOf(error) === READ_ONLY
}

export function commitUnknown(cause: unknown): Error {
  const message = 'the connection was lost while a transaction was committed'
  return Object.assign(new Error(message, { cause }), { code: COMMIT_UNKNOWN })
}
