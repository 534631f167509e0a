// Copies of the database in a file of their own, and databases that are only looked at: a backup, or the live one
// beside its server. Nothing here migrates or makes anything.

import { closeSync, existsSync, openSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { AppError, reasonOf } from '../../errors.ts'
import { flush } from '../../file-hash.ts'
import { diskError } from '../../storage-error.ts'
import type { Examined } from '../engine.ts'
import type { Db } from '../tables.ts'
import { APPLICATION_ID, type OpenedToRead, openOnFullDisk, refuseDangling } from './database.ts'
import { queriesOver } from './driver.ts'
import { newerSchema } from './migration-copy.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { nativeBinding } from './native.ts'

const PAGES_AT_ONCE = 200 // 0.8 MB: a server answers in between

/**
 * Opens a database to look at it. `live`: a server may be writing to it; else it is a copy that no process touches.
 * @throws AppError `failed` when it is not there, not ours, or of a newer program
 */
export function openToRead(path: string, { live }: { live: boolean }): Examined {
  const { sqlite, isLocked } = openRaw(path, !live)
  const schema = Number(sqlite.pragma('user_version', { simple: true }))
  // Not `readonly` for the live one: the last to close it could then not put its -wal and -shm away.
  sqlite.pragma('query_only = on')
  sqlite.pragma('trusted_schema = off')
  sqlite.pragma('cell_size_check = on')
  const db = queriesOver(sqlite)
  const faults = () => faultsOfDatabase(db, { inPieces: false })
  const copyTo = (target: string, signal?: AbortSignal) =>
    isLocked ? copyDatabase(sqlite, target, signal) : copyInTransaction(path, target, signal)
  return { db, schema, faults, copyTo, close: () => db.destroy() }
}

async function copyInTransaction(source: string, target: string, signal?: AbortSignal): Promise<void> {
  const { sqlite } = openRaw(source)
  try {
    // A read transaction that stays open: without it every commit of another process would start the copy anew.
    sqlite.exec('begin')
    sqlite.prepare('select 1 from sqlite_schema limit 1').get()
    await copyDatabase(sqlite, target, signal)
  } finally {
    sqlite.close()
  }
}

/** The copy needs no -wal and -shm beside it, so that it can be read where nothing can be written. */
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
 * What SQLite finds wrong with a database, a line each; none when it is sound. `inPieces`: a table at a time, so that
 * a server answers in between.
 */
export async function faultsOfDatabase(db: Db, { inPieces }: { inPieces: boolean }): Promise<string[]> {
  const faults: string[] = []
  try {
    const tables = inPieces ? await tablesOf(db) : [undefined]
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
    faults.push(`it cannot be read: ${reasonOf(error)}`)
  }
  return faults
}

async function tablesOf(db: Db): Promise<string[]> {
  const tables = sql<{ name: string }>`select name from sqlite_schema where type = 'table' order by name`
  return (await tables.execute(db)).rows.map(({ name }) => name)
}

function openRaw(path: string, readonly = false): OpenedToRead {
  refuseDangling(dirname(path))
  if (!existsSync(path)) {
    throw new AppError('failed', `there is no cambista database in ${dirname(path)}: check --data-dir`)
  }
  const binding = nativeBinding(dirname(path))
  let sqlite: Sqlite.Database | undefined
  try {
    const options = { readonly, fileMustExist: true, timeout: 5000, nativeBinding: binding }
    const opened = openOnFullDisk(() => new Sqlite(path, options))
    sqlite = opened.sqlite
    const version = Number(sqlite.pragma('user_version', { simple: true }))
    if (sqlite.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
      throw new AppError('failed', `${path} is not a database of cambista`)
    }
    if (version > SCHEMA_VERSION) throw newerSchema(path, version)
    return opened
  } catch (thrown) {
    sqlite?.close()
    const error = diskError(thrown, dirname(path))
    if (error instanceof AppError) throw error
    throw new AppError('failed', `cannot open the database ${path}: ${reasonOf(error)}`, { cause: error })
  }
}
