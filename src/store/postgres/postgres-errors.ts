// Codes of PostgreSQL errors: `PG_` and the SQLSTATE, or a word where the server sent none. The file
// src/runtime/storage-error.ts maps them to errors for clients.

import { AppError, errorCode } from '../../runtime/errors.ts'

/** Lost connection, or no answer in time. */
export const LOST = 'PG_LOST'
/** The server has another identity than the address requires, or no TLS. */
export const UNTRUSTED = 'PG_UNTRUSTED'
/** A pooler refuses the session, and would refuse it again. */
export const REFUSED = 'PG_REFUSED'
/** Lost connection during a commit: the transaction may or may not be committed. */
export const COMMIT_UNKNOWN = 'PG_COMMIT_UNKNOWN'

/** Another node added a column to a table, and the session has an earlier plan of `select *`. */
const PLAN_OUTDATED = 'PG_PLAN'
/** Function of the server with this error; its message is translated, and its SQLSTATE has other causes too. */
const PLAN_CHECK = 'RevalidateCachedQuery'

const SQLSTATE = /^[0-9A-Z]{5}$/
// 26000 and 42P05: the server session behind a pooler lacks a named statement, or has it already.
const CONFLICT = /^PG_(40001|40P01|26000|42P05|PLAN)$/
const OVERTAKEN = /^PG_(23505|23503)$/
// The server ends sessions, is starting, or lost the result of a statement.
const ENDS = /^PG_(57P0[1-5]|08...|40003|25006|LOST|UNTRUSTED|REFUSED)$/
/** The server is read-only, such as a standby. */
export const READ_ONLY = 'PG_25006'

// The server's own messages contain the user, and are in the language of its settings.
const NO_ENTRY = 'the database refuses the user or the password; its log says why'
const NAME_LOST = 'a pooler before the database lost a named statement: write ?prepare=0 into its address'
const MESSAGES: Record<string, string> = {
  PG_28000: `${NO_ENTRY} (28000, such as a line that pg_hba.conf has not)`,
  PG_28P01: `${NO_ENTRY} (28P01)`,
  PG_26000: NAME_LOST,
  PG_42P05: NAME_LOST,
  PG_53300: 'the database has no connection left (53300): see its max_connections',
}
// Messages of PgBouncer for refusals. Up to 1.18 they have the code 08P01, as has a time-out. For a server that starts
// another message follows `server login failed`.
const POOLER_REFUSES =
  /^(unsupported startup parameter|no such (database|user)|(SASL|password|[A-Z]+) authentication failed|server login failed: .*(password authentication failed|does not exist|no pg_hba))/
const PROTOCOL_VIOLATION = '08P01'
// Codes of OpenSSL for a certificate without a known root. The message of Node.js advises a flag that our users do not
// have.
const NO_ROOT = /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+)$/
const OTHER_HOST = 'ERR_TLS_CERT_ALTNAME_INVALID'
// Other errors of certificates, such as an expired one.
const NO_TRUST = /^(CERT_\w+|ERR_SSL_\w+)$/
const NO_TLS = 'The server does not support SSL connections'
const NO_PASSWORD = /^SASL: .*password must be a/
// PgBouncer with pool_mode = statement.
const NO_TRANSACTIONS = /not allowed in statement pooling mode/
const NEEDS_TRANSACTIONS =
  'a pooler before the database allows no transactions: set its pool_mode to transaction or session'
const PASSWORD_MISSING =
  'the database asks for a password: none is in its address, in ~/.pgpass or in the file of PGPASSFILE'

/** Returns the error with such a code, or an error of ours where the server's message contains the user. */
export function toDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || errorCode(error).startsWith('PG_')) return error
  if (error instanceof AppError || error instanceof RangeError || error instanceof TypeError) return error
  if (NO_PASSWORD.test(error.message)) return Object.assign(new Error(PASSWORD_MISSING), { code: 'PG_28P01' })
  const state = errorCode(error)
  const untrusted = untrustedMessage(error, state)
  if (untrusted !== undefined) return Object.assign(new Error(untrusted), { code: UNTRUSTED })
  if (NO_TRANSACTIONS.test(error.message))
    return Object.assign(new Error(NEEDS_TRANSACTIONS), { code: REFUSED })
  if (state === PROTOCOL_VIOLATION && POOLER_REFUSES.test(error.message)) {
    const words = `the pooler refuses the connection: ${error.message.replace(/ user ".*?"/, '')}`
    return Object.assign(new Error(words), { code: REFUSED })
  }
  if ('routine' in error && error.routine === PLAN_CHECK) return Object.assign(error, { code: PLAN_OUTDATED })
  const code = SQLSTATE.test(state) && 'severity' in error ? `PG_${state}` : LOST
  const words = MESSAGES[code]
  return Object.assign(words === undefined ? error : new Error(words), { code })
}

/** Returns the message of an error of TLS; undefined: another error. */
function untrustedMessage({ message }: Error, code: string): string | undefined {
  const which = `the certificate of the database is`
  if (NO_ROOT.test(code))
    return `${which} not trusted (${code}): name its root with sslrootcert=FILE in the address`
  if (code === OTHER_HOST)
    return `${which} that of another host than the one in the address: write the name that it has`
  return NO_TRUST.test(code) || message === NO_TLS ? message : undefined
}

/** Returns whether a transaction failed because of concurrent ones, and can be retried. */
export function isConflict(error: unknown): boolean {
  return CONFLICT.test(errorCode(error))
}

/** Returns whether a named statement has a plan from before a new column. */
export function isPlanOutdated(error: unknown): boolean {
  return errorCode(error) === PLAN_OUTDATED
}

/** Returns whether a concurrent transaction inserted or deleted a row that this one depends on: a retry sees it. */
export function isOvertaken(error: unknown): boolean {
  return OVERTAKEN.test(errorCode(error))
}

/** Returns whether the connection cannot be used any more. */
export function isConnectionLost(error: unknown): boolean {
  return ENDS.test(errorCode(error))
}

/** Error of a transaction that was found not to be committed. */
export function notCommittedError(cause: unknown): Error {
  return Object.assign(new Error('the connection was lost before a commit', { cause }), { code: LOST })
}

/** Returns whether the server is read-only, such as a former primary: the node must then renew all connections. */
export function isReadOnlyError(error: unknown): boolean {
  return errorCode(error) === READ_ONLY
}

export function commitUnknownError(cause: unknown): Error {
  const message = 'the connection was lost while a transaction was committed'
  return Object.assign(new Error(message, { cause }), { code: COMMIT_UNKNOWN })
}
