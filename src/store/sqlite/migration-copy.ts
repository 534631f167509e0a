// The copy of the database that is made before its schema is changed, for the administrator who wants to go back to
// the program before. It stays until he removes it. It is ready to be gone back to: what is uploaded meanwhile has ids
// that it gives to nothing else, and answers with ETags that it never gives.

import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { AppError, reasonOf } from '../../errors.ts'
import { raiseCounters } from './id-counters.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { nativeBinding } from './native.ts'
import { renewEpoch } from './restored-database.ts'

const COPY = /^cambista\.db\.v(\d+)-.*\.bak$/

/** What a copy is called that was not finished; nothing is in it that is needed. */
export const UNFINISHED_COPY = /^cambista\.db\.v\d+-.*\.bak\.partial$/

/**
 * Copies the database beside itself, flushed, as `cambista.db.v1-2026-11-21T05-00-00Z.bak`, and returns the copy's path.
 * The caller holds SQLite's write lock, so that nothing is committed between the copy and the migration, and nobody
 * else is copying.
 * @throws AppError `failed`, and then nothing may be changed
 */
export function copyBeforeMigration(path: string, version: number): string {
  const folder = dirname(path)
  const time = new Date()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
  const copy = `${path}.v${version}-${time}.bak`
  const partial = `${copy}.partial`
  try {
    removeUnfinishedCopies(folder)
    closeSync(openSync(partial, 'wx', 0o600))
    const reader = new Sqlite(path, { readonly: true, nativeBinding: nativeBinding(folder) })
    try {
      // It waits for nothing but the disk: in WAL mode a reader does not wait for the writer that the caller is.
      reader.prepare('vacuum into ?').run(partial)
    } finally {
      reader.close()
    }
    makeReady(partial)
    flushNow(partial)
    renameSync(partial, copy)
    flushNow(folder)
    return copy
  } catch (error) {
    rmSync(partial, { force: true })
    const what = `${basename(path)} has schema version ${version} and cannot be copied before it is upgraded`
    throw new AppError('failed', `${what}: ${reasonOf(error)}; nothing was changed`, { cause: error })
  }
}

/** The refusal of a database that a newer program has upgraded, with both ways on. */
export function newerSchema(path: string, version: number): AppError {
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

/** Removes what a killed upgrade left. The caller holds SQLite's write lock or the lock of the server. */
export function removeUnfinishedCopies(folder: string): number {
  const names = readdirSync(folder).filter((name) => UNFINISHED_COPY.test(name))
  for (const name of names) rmSync(join(folder, name), { force: true })
  return names.length
}

/** The newest copy beside a database that this program can read. */
function newestCopy(path: string): string | undefined {
  const found = readdirSync(dirname(path)).flatMap((name) => {
    const version = Number(COPY.exec(name)?.[1])
    return version <= SCHEMA_VERSION ? [{ name, version }] : []
  })
  found.sort((one, other) => one.version - other.version || (one.name < other.name ? -1 : 1))
  const newest = found.at(-1)
  return newest && join(dirname(path), newest.name)
}

function makeReady(path: string): void {
  const sqlite = new Sqlite(path, { fileMustExist: true, nativeBinding: nativeBinding(dirname(path)) })
  try {
    sqlite.pragma('journal_mode = memory') // were it killed now, the whole copy would be thrown away
    sqlite.transaction(() => {
      renewEpoch(sqlite)
      raiseCounters(sqlite)
    })()
  } finally {
    sqlite.close()
  }
}

function flushNow(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
