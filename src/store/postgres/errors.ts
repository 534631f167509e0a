// The codes of what goes wrong with PostgreSQL: `PG_` and the SQLSTATE, or a word where the server said nothing. What they
// mean to a client is in src/storage-error.ts.

import { AppError, codeOf } from '../../errors.ts'

/** The connection broke, or nothing was answered in time. */
export const LOST = 'PG_LOST'
/** The connection broke while a transaction was committed: it may be there, or not. */
export const COMMIT_UNKNOWN = 'PG_COMMIT_UNKNOWN'

const SQLSTATE = /^[0-9A-Z]{5}$/
const CONFLICT = /^PG_(40001|40P01)$/
const OVERTAKEN = /^PG_(23505|23503)$/
// The server ends sessions, is starting, or does not say what became of a statement.
const ENDS = /^PG_(57P0[1-5]|08...|40003|25006|LOST)$/
const READ_ONLY = 'PG_25006'

/** The same error with such a code. */
export function asDatabaseError(error: unknown): unknown {
  if (!(error instanceof Error) || codeOf(error).startsWith('PG_')) return error
  if (error instanceof AppError || error instanceof RangeError || error instanceof TypeError) return error
  const code = codeOf(error)
  return Object.assign(error, { code: SQLSTATE.test(code) && 'severity' in error ? `PG_${code}` : LOST })
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
