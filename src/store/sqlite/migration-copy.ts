// Copy of the database from before an upgrade of its schema, for a return to the previous version. Only the
// administrator removes it. The copy has a new epoch and raised counters, so it reuses no id or ETag from after the
// upgrade.

import { closeSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { flushNow } from '../../runtime/file-hash.ts'
import { FIRST_SCHEMA, KNOWN_SCHEMAS, PREVIOUS_RELEASE, SCHEMA_VERSION } from '../migrations.ts'
import { buildFault } from '../unreleased.ts'
import { raiseCounters } from './id-counters.ts'
import { nativeBinding } from './native.ts'
import { deleteLinksAndSessions, endPauses, pauseMailboxes, renewEpoch } from './restored-database.ts'
import { OWN_SCHEMA, readMark } from './schema-mark.ts'

const COPY = /^cambista\.db\.v(\d+)-.*\.bak$/
const COPY_NAME = /^.*-(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d)Z\.bak$/

/** Name of an unfinished copy, which can be deleted. */
export const UNFINISHED_COPY = /^cambista\.db\.v\d+-.*\.bak\.partial$/

/**
 * Copies the database to a flushed file beside it, such as `cambista.db.v1-2026-11-21T05-00-00Z.bak`, and returns its
 * path. The caller has SQLite's write lock: nothing is committed between copy and migration, and no other process
 * copies.
 * @throws AppError `failed`; the caller must then change nothing
 */
export function copyBeforeMigration(path: string, version: number): string {
  const folder = dirname(path)
  const instant = new Date().toISOString().slice(0, 19)
  const copy = `${path}.v${version}-${instant.replaceAll(':', '-')}Z.bak`
  const partial = `${copy}.partial`
  try {
    removeUnfinishedCopies(folder)
    closeSync(openSync(partial, 'wx', 0o600))
    const reader = new Sqlite(path, { readonly: true, nativeBinding: nativeBinding(folder) })
    try {
      // In WAL mode this reader does not wait for the caller's write lock.
      reader.prepare('vacuum into ?').run(partial)
    } finally {
      reader.close()
    }
    makeReady(partial, `${instant}.000Z`)
    flushNow(partial)
    renameSync(partial, copy)
    flushNow(folder)
    return copy
  } catch (error) {
    rmSync(partial, { force: true })
    const what = `${basename(path)} has schema version ${version} and cannot be copied before it is upgraded`
    throw new AppError('failed', `${what}: ${errorReason(error)}; nothing was changed`, { cause: error })
  }
}

/**
 * Rejects a database that this program cannot upgrade, or that another build made. Version 0 is a file without tables.
 * @throws AppError `failed`, with advice
 */
export function refuseSchema(path: string, sqlite: Sqlite.Database): void {
  const { version, hash } = readMark(sqlite)
  if (version > SCHEMA_VERSION) throw newerSchema(path, version)
  const fault = version > 0 && buildFault({ version, hash }, OWN_SCHEMA)
  if (fault) throw new AppError('failed', `${path} has schema version ${version}${fault}`)
  if (version === 0 || version >= FIRST_SCHEMA) return
  const advice = `open or restore it with ${PREVIOUS_RELEASE} first (cambista manual upgrades)`
  throw new AppError('failed', `${path} has schema version ${version}, ${KNOWN_SCHEMAS}: ${advice}`)
}

/** Error for a database that a newer version has upgraded, with the two possible solutions. */
function newerSchema(path: string, version: number): AppError {
  const copy = newestCopy(path)
  const back =
    copy === undefined
      ? ''
      : `, or go back to the copy from before the upgrade, ${copy} (cambista manual upgrades)`
  return new AppError(
    'failed',
    `${path} has schema version ${version}, this program knows ${SCHEMA_VERSION}: use a newer cambista${back}`,
  )
}

/** Removes the unfinished copies of killed upgrades. The caller has SQLite's write lock or the server's lock. */
export function removeUnfinishedCopies(folder: string): number {
  const names = readdirSync(folder).filter((name) => UNFINISHED_COPY.test(name))
  for (const name of names) rmSync(join(folder, name), { force: true })
  return names.length
}

/** Returns the newest copy beside a database that this program can read. */
function newestCopy(path: string): string | undefined {
  return findCopy(path, (version) => version >= FIRST_SCHEMA && version <= SCHEMA_VERSION)
}

/** Returns the newest copy of a schema beside a database; undefined: there is none. */
export function findSchemaCopy(path: string, schema: number): string | undefined {
  return findCopy(path, (version) => version === schema)
}

function findCopy(path: string, isWanted: (version: number) => boolean): string | undefined {
  const copies = readdirSync(dirname(path)).flatMap((name) => {
    const version = Number(COPY.exec(name)?.[1])
    return isWanted(version) ? [{ name, version }] : []
  })
  copies.sort((one, other) => one.version - other.version || (one.name < other.name ? -1 : 1))
  const newest = copies.at(-1)
  return newest && join(dirname(path), newest.name)
}

/**
 * Ends the pauses that a copy has from `copyBeforeMigration`. The caller puts the copy back after an upgrade that wrote
 * nothing.
 */
export function resumeMailboxes(copy: string): void {
  const instant = basename(copy).replace(COPY_NAME, '$1:$2:$3.000Z')
  const sqlite = openCopy(copy)
  try {
    endPauses(sqlite, instant)
  } finally {
    sqlite.close()
  }
}

function makeReady(path: string, at: string): void {
  const sqlite = openCopy(path)
  try {
    sqlite.pragma('journal_mode = memory') // safe: after a crash the whole copy is deleted
    sqlite.transaction(() => {
      renewEpoch(sqlite)
      deleteLinksAndSessions(sqlite)
      pauseMailboxes(sqlite, at)
      raiseCounters(sqlite)
    })()
  } finally {
    sqlite.close()
  }
}

function openCopy(path: string): Sqlite.Database {
  return new Sqlite(path, { fileMustExist: true, nativeBinding: nativeBinding(dirname(path)) })
}
