// Copies a database into a new file. Opens databases for inspection: a backup, or the live one beside its server.
// Nothing here migrates or creates a database.

import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { flush } from '../../runtime/file-hash.ts'
import { diskError } from '../../runtime/storage-error.ts'
import type { InspectedDatabase } from '../engine.ts'
import { SCHEMA_VERSION } from '../migrations.ts'
import type { ReadDb } from '../tables.ts'
import { APPLICATION_ID, openOnFullDisk, type RawDatabase, refuseUnusable } from './database.ts'
import { createSqliteDb } from './driver.ts'
import { refuseSchema } from './migration-copy.ts'
import { nativeBinding } from './native.ts'

const CLOSED_WITHIN_MS = 5000
const PAGES_AT_ONCE = 200 // 0.8 MB; a server answers requests in between

/**
 * Opens a database for inspection. `live`: a server may be writing to it; else it is a copy that no process uses.
 * `anyAge`: also opens a schema that is too old to be upgraded.
 * @throws AppError `failed` when it is missing, of another program, of a newer version, or too old
 */
export function inspectDatabase(
  path: string,
  { live, anyAge }: { live: boolean; anyAge?: boolean },
): InspectedDatabase {
  const { sqlite, isLocked } = openRaw(path, { readonly: !live, anyAge })
  const schema = Number(sqlite.pragma('user_version', { simple: true }))
  // The live one is not `readonly`: the last process to close it must be able to remove -wal and -shm.
  sqlite.pragma('query_only = on')
  sqlite.pragma('trusted_schema = off')
  sqlite.pragma('cell_size_check = on')
  const db = createSqliteDb(sqlite)
  const faults = () => findDatabaseFaults(db, { inPieces: false })
  const writeCopy = (target: string, signal?: AbortSignal) =>
    isLocked ? copyDatabase(sqlite, target, signal) : copyInTransaction(path, target, signal)
  return { db, schema, faults, writeCopy, close: () => db.destroy() }
}

/**
 * Writes the log of a database into its file and removes it, also for a database of a newer program.
 * @throws AppError `failed` while another process uses the database
 */
export function closeLog(path: string): void {
  const sqlite = new Sqlite(path, { timeout: CLOSED_WITHIN_MS, nativeBinding: nativeBinding(dirname(path)) })
  try {
    sqlite.pragma('locking_mode = exclusive')
    sqlite.exec('begin exclusive; commit')
  } catch (error) {
    throw new AppError('failed', `another process uses ${path}: end it (fuser -v ${path}), and try again`, {
      cause: error,
    })
  } finally {
    sqlite.close() // the last connection removes the log
  }
}

async function copyInTransaction(source: string, target: string, signal?: AbortSignal): Promise<void> {
  const { sqlite } = openRaw(source)
  try {
    // Without this open read transaction each commit of another process would restart the copy.
    sqlite.exec('begin')
    sqlite.prepare('select 1 from sqlite_schema limit 1').get()
    await copyDatabase(sqlite, target, signal)
  } finally {
    sqlite.close()
  }
}

/** Writes a copy that needs no -wal and -shm, so that it can be read on a read-only disk. */
async function copyDatabase(source: Sqlite.Database, target: string, signal?: AbortSignal): Promise<void> {
  closeSync(openSync(target, 'wx', 0o600))
  await source.backup(resolve(target), {
    progress: () => {
      signal?.throwIfAborted()
      return PAGES_AT_ONCE
    },
  })
  const copy = new Sqlite(target, { fileMustExist: true, nativeBinding: nativeBinding(dirname(target)) })
  try {
    copy.pragma('synchronous = full')
    copy.pragma('journal_mode = delete')
  } finally {
    copy.close()
  }
  await flush(target)
}

/**
 * Returns the findings of SQLite's integrity check, a line each; none when the database is sound. `inPieces`: checks
 * one table at a time, so that a server answers requests in between.
 */
export async function findDatabaseFaults(db: ReadDb, { inPieces }: { inPieces: boolean }): Promise<string[]> {
  const faults: string[] = []
  try {
    const tables = inPieces ? await selectTableNames(db) : [undefined]
    for (const table of tables) {
      const of = table === undefined ? sql`` : sql`(${sql.lit(table)})`
      const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check${of}`.execute(db)
      faults.push(...rows.map((row) => row.integrity_check).filter((line) => line !== 'ok'))
      await new Promise(setImmediate)
    }
    const keys = sql<{ table: string; rowid: number | null; parent: string }>`pragma foreign_key_check`
    for (const { table, rowid, parent } of (await keys.execute(db)).rows) {
      faults.push(`row ${rowid ?? '?'} of ${table} names a row of ${parent} that is not there`)
    }
  } catch (error) {
    faults.push(`it cannot be read: ${errorReason(error)}`)
  }
  return faults
}

async function selectTableNames(db: ReadDb): Promise<string[]> {
  const tables = sql<{ name: string }>`select name from sqlite_schema where type = 'table' order by name`
  return (await tables.execute(db)).rows.map(({ name }) => name)
}

function openRaw(path: string, { readonly = false, anyAge = false } = {}): RawDatabase {
  refuseUnusable(dirname(path))
  if (!existsSync(path)) {
    throw new AppError('failed', `there is no cambista database in ${dirname(path)}: check --data-dir`)
  }
  const binding = nativeBinding(dirname(path))
  let sqlite: Sqlite.Database | undefined
  try {
    const options = { readonly, fileMustExist: true, timeout: 5000, nativeBinding: binding }
    const raw = openOnFullDisk(() => new Sqlite(path, options))
    sqlite = raw.sqlite
    const version = Number(sqlite.pragma('user_version', { simple: true }))
    if (sqlite.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
      throw new AppError('failed', `${path} is not a database of cambista`)
    }
    if (!anyAge || version > SCHEMA_VERSION) refuseSchema(path, sqlite)
    return raw
  } catch (thrown) {
    sqlite?.close()
    const error = diskError(thrown, dirname(path))
    if (error instanceof AppError) throw error
    throw new AppError('failed', `cannot open the database ${path}: ${errorReason(error)}`, { cause: error })
  }
}
