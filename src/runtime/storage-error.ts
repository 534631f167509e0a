// Errors for clients when the disk or the database fails, and for the operator when the disk is the cause. Their
// `cause` goes into the log.

import { accessSync, constants } from 'node:fs'
import { AppError, errorCode, errorReason } from './errors.ts'

/** A lock was not free within PostgreSQL's `lock_timeout`. */
export const LOCK_NOT_AVAILABLE = 'PG_55P03'

// Without space for its -shm file SQLite reports an I/O error.
const FULL = /^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE)$/
const PG_FULL = 'PG_53100' // the database server has another disk
const READ_ONLY = /^(EROFS|SQLITE_READONLY)$/
const NO_FILES = /^E[MN]FILE$/
// SQLSTATE of PostgreSQL: serialization failure, deadlock, lock time-out, too many connections, cancelled query.
const BUSY = /^(SQLITE_(BUSY|LOCKED)|PG_(40001|40P01|55P03|53300|57014)$)/
const CONNECTION_LOST = /^PG_(LOST|COMMIT_UNKNOWN|08...|57P0\d)$/
// Without Node's ERR_INVALID_ARG_TYPE and SQLITE_CONSTRAINT, which are defects of the program.
const EXTERNAL =
  /^(E[A-Z0-9]+|SQLITE_(IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM)\w*|PG_(LOST|UNTRUSTED|REFUSED|COMMIT_UNKNOWN|(08|28|3D|3F|53|57|58|XX)...|25006|40003))$/

/**
 * Converts a failure of the file system or of a database to an AppError; returns other errors unchanged. `operation`:
 * named by the error of a full disk, such as `sign in`.
 */
export function storageError(error: unknown, operation = 'store the documents'): unknown {
  const code = errorCode(error)
  if (error instanceof AppError) return error
  if (FULL.test(code) || code === PG_FULL) {
    return new AppError('disk-full', `Not enough disk space to ${operation}`, { cause: error })
  }
  if (BUSY.test(code)) {
    return new AppError('busy', 'The database is in use: try again in a moment', { cause: error })
  }
  if (!EXTERNAL.test(code)) return error
  const words = isDatabaseError(error)
    ? 'The database cannot be read or written'
    : 'Documents cannot be stored'
  return new AppError('unavailable', `${words} at the moment`, { cause: error })
}

/**
 * Converts a failure because of a full or read-only disk to the AppError `failed` with advice. Returns other errors
 * unchanged.
 */
export function diskError(error: unknown, dir: string): unknown {
  const code = errorCode(error)
  if (error instanceof AppError) return error
  if (FULL.test(code)) {
    return new AppError('failed', `the disk of ${dir} is full: make room on it, then try again`, {
      cause: error,
    })
  }
  if (!READ_ONLY.test(code) && !(code === 'SQLITE_CANTOPEN' && isReadOnly(dir))) return error
  // For a service, systemd makes all folders read-only that its unit does not name.
  const service = `a service may write there with ReadWritePaths=${dir} in its unit (systemctl edit cambista, [Service])`
  const disk = 'else look for errors of the disk (dmesg), then mount it writable'
  return new AppError('failed', `${dir} is on a read-only file system; ${service}; ${disk}`, { cause: error })
}

/**
 * Converts the failure of PostgreSQL during a command or a sync to the AppError `failed`. Returns other errors
 * unchanged. `place`: address of the database, if the message needs it.
 */
export function lostDatabaseError(error: unknown, place?: string): unknown {
  const code = errorCode(error)
  if (!code.startsWith('PG_') || storageError(error) === error) return error
  const database = place === undefined ? 'the database' : `the database ${place}`
  const fault = CONNECTION_LOST.test(code) ? 'was lost' : 'cannot be read or written'
  return new AppError('failed', `${database} ${fault}: ${errorReason(error)}`, { cause: error })
}

/** Returns true when a full disk of this machine is the error or a cause of it. */
export function isDiskFull(error: unknown): boolean {
  return FULL.test(errorCode(error)) || (error instanceof AppError && isDiskFull(error.cause))
}

/** Returns true when the connection was lost during a commit, whose outcome is unknown. */
export function isOutcomeUnknown(error: unknown): boolean {
  return errorCode(error) === 'PG_COMMIT_UNKNOWN'
}

/** Returns true when another process has SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return errorCode(error).startsWith('SQLITE_BUSY')
}

/** Returns true for an error of SQLite or PostgreSQL. */
export function isDatabaseError(error: unknown): boolean {
  return /^(SQLITE|PG)_/.test(errorCode(error))
}

/** Converts the error of too many open files to an AppError; returns other errors unchanged. */
export function openError(error: unknown): unknown {
  if (!NO_FILES.test(errorCode(error))) return error
  return new AppError('unavailable', 'Too many files are open: try again in a moment', { cause: error })
}

function isReadOnly(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return false
  } catch (error) {
    return errorCode(error) === 'EROFS'
  }
}
