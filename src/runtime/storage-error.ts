// What a client is told when the disk or the database fails, and what the operator is told when the disk is at fault.
// The cause is kept for the log.

import { accessSync, constants } from 'node:fs'
import { AppError, codeOf, reasonOf } from './errors.ts'

// Without room for its -shm file SQLite speaks of an I/O error.
const FULL = /^(ENOSPC|EDQUOT|SQLITE_FULL|SQLITE_IOERR_SHMSIZE|PG_53100)$/
const READ_ONLY = /^(EROFS|SQLITE_READONLY)$/
const NO_FILES = /^E[MN]FILE$/
// Of PostgreSQL those by SQLSTATE: given up because of others, a lock or an end not had in time, all connections taken.
const BUSY = /^(SQLITE_(BUSY|LOCKED)|PG_(40001|40P01|55P03|53300|57014)$)/
const LOST = /^PG_(LOST|COMMIT_UNKNOWN|08...|57P0\d)$/
// Not Node's own ERR_INVALID_ARG_TYPE, nor SQLITE_CONSTRAINT: those are defects of ours.
const OUTSIDE =
  /^(E[A-Z0-9]+|SQLITE_(IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PROTOCOL|NOMEM)\w*|PG_(LOST|UNTRUSTED|COMMIT_UNKNOWN|(08|28|3D|3F|53|57|58|XX)...|25006|40003))$/

/** The AppError for a failure of the file system or of a database; anything else is given back as it is. */
export function storageError(error: unknown): unknown {
  const code = codeOf(error)
  if (error instanceof AppError) return error
  if (FULL.test(code)) {
    return new AppError('disk-full', 'Not enough disk space to store the documents', { cause: error })
  }
  if (BUSY.test(code)) {
    return new AppError('busy', 'The database is in use: try again in a moment', { cause: error })
  }
  if (!OUTSIDE.test(code)) return error
  const words = isOfDatabase(error) ? 'The database cannot be read or written' : 'Documents cannot be stored'
  return new AppError('unavailable', `${words} at the moment`, { cause: error })
}

/**
 * The AppError `failed` for a failure that a full or read-only disk is the reason of: it says what to do. Anything else
 * is given back as it is.
 */
export function diskError(error: unknown, dir: string): unknown {
  const code = codeOf(error)
  if (error instanceof AppError) return error
  if (FULL.test(code)) {
    return new AppError('failed', `the disk of ${dir} is full: make room on it, then try again`, {
      cause: error,
    })
  }
  if (!READ_ONLY.test(code) && !(code === 'SQLITE_CANTOPEN' && isReadOnly(dir))) return error
  // To a service systemd shows what its unit does not name as a file system that is read-only.
  const service = `a service may write there with ReadWritePaths=${dir} in its unit (systemctl edit cambista, [Service])`
  const disk = 'else look for errors of the disk (dmesg), then mount it writable'
  return new AppError('failed', `${dir} is on a read-only file system; ${service}; ${disk}`, { cause: error })
}

/**
 * The AppError `failed` for a PostgreSQL that goes away, or cannot do its work, while a command or a sync is at its own.
 * Anything else is given back as it is. `place`: of the database, where nothing else names it.
 */
export function lostDatabaseError(error: unknown, place?: string): unknown {
  const code = codeOf(error)
  if (!code.startsWith('PG_') || storageError(error) === error) return error
  const which = place === undefined ? 'the database' : `the database ${place}`
  const what = LOST.test(code) ? 'was lost' : 'cannot be read or written'
  return new AppError('failed', `${which} ${what}: ${reasonOf(error)}`, { cause: error })
}

/** Whether it is not known if a transaction is committed: the connection was lost in between. */
export function isOutcomeUnknown(error: unknown): boolean {
  return codeOf(error) === 'PG_COMMIT_UNKNOWN'
}

/** Whether another process has SQLite's lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}

/** Whether SQLite or PostgreSQL reports it. */
export function isOfDatabase(error: unknown): boolean {
  return /^(SQLITE|PG)_/.test(codeOf(error))
}

/** The AppError for a file that cannot be opened since too many are open; anything else is given back as it is. */
export function openError(error: unknown): unknown {
  if (!NO_FILES.test(codeOf(error))) return error
  return new AppError('unavailable', 'Too many files are open: try again in a moment', { cause: error })
}

function isReadOnly(dir: string): boolean {
  try {
    accessSync(dir, constants.W_OK)
    return false
  } catch (error) {
    return codeOf(error) === 'EROFS'
  }
}
