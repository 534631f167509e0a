// Returns a data directory to the copy of its database from before a migration. The server is stopped.

import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { BLOB_FOLDER, HOLD_FILE } from '../../store/blobs/folder.ts'
import { DATABASE_FILE } from '../../store/sqlite/database.ts'
import { inspectDatabase } from '../../store/sqlite/database-copy.ts'
import { findSchemaCopy } from '../../store/sqlite/migration-copy.ts'
import type { ReadDb } from '../../store/tables.ts'

const LATER = /^cambista\.db\.v\d+-.*\.later(-wal|-shm)?$/
const LOG_SUFFIXES = ['-wal', '-shm']
const TABLES = ['documents', 'events', 'rate_revisions', 'api_keys', 'tokens'] as const

type CountedTable = (typeof TABLES)[number]

/** Rows that a copy lacks; keys and tokens together. */
export type NewRows = { documents: number; claims: number; corrections: number; keys: number }

/**
 * Replaces the database by the copy that a migration has made since an instant, if it has. Nothing was written since
 * then. A killed call may be repeated.
 */
export function putCopyBack(dataDir: string, since: string): void {
  const copy = findFirstCopy(dataDir, since)
  if (copy === undefined) return
  const file = join(dataDir, DATABASE_FILE)
  // First the log: SQLite would apply that of the migrated database to any file of this name.
  for (const suffix of LOG_SUFFIXES) rmSync(file + suffix, { force: true })
  flushNow(dataDir)
  renameSync(join(dataDir, copy), file)
  flushNow(dataDir)
}

/** Returns the path of the newest copy of a schema; undefined: there is none. */
export function findEarlierDatabase(dataDir: string, schema: number): string | undefined {
  return findSchemaCopy(join(dataDir, DATABASE_FILE), schema)
}

/** Counts the rows that the database has, and a copy of it lacks. @throws AppError `failed` for a damaged one */
export async function countNewRows(dataDir: string, copy: string): Promise<NewRows> {
  const later = inspectDatabase(join(dataDir, DATABASE_FILE), { live: true })
  const earlier = inspectDatabase(copy, { live: false })
  try {
    const countNew = async (table: CountedTable) =>
      countLaterRows(later.db, table, await findLastId(earlier.db, table))
    return {
      documents: await countNew('documents'),
      claims: await countNew('events'),
      corrections: await countNew('rate_revisions'),
      keys: (await countNew('api_keys')) + (await countNew('tokens')),
    }
  } finally {
    await later.close()
    await earlier.close()
  }
}

/**
 * Uses a copy as the database. The later database stays beside it under the returned name, with all contents, until
 * `removeLaterDatabases`.
 */
export function useCopy(dataDir: string, copy: string, laterSchema: number): string {
  writeFileSync(join(dataDir, BLOB_FOLDER, HOLD_FILE), '')
  const file = join(dataDir, DATABASE_FILE)
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const laterFile = `${file}.v${laterSchema}-${time}Z.later`
  const { uid, gid } = statSync(file)
  const partial = `${file}.partial`
  copyFileSync(copy, partial)
  chownSync(partial, uid, gid)
  chmodSync(partial, 0o600)
  flushNow(partial)
  for (const suffix of ['', ...LOG_SUFFIXES]) {
    if (existsSync(file + suffix)) renameSync(file + suffix, laterFile + suffix)
  }
  renameSync(partial, file)
  flushNow(dataDir)
  return laterFile
}

/** Removes what `useCopy` has left, and returns the names. From then on contents are deleted again. */
export function removeLaterDatabases(dataDir: string): string[] {
  if (!existsSync(dataDir)) return []
  const names = readdirSync(dataDir).filter((name) => LATER.test(name))
  for (const name of names) rmSync(join(dataDir, name))
  rmSync(join(dataDir, BLOB_FOLDER, HOLD_FILE), { force: true })
  return names
}

/** Returns the first copy since an instant; all since then are equal. */
function findFirstCopy(dataDir: string, instant: string): string | undefined {
  const since = `${instant.slice(0, 19)}Z`.replaceAll(':', '-')
  return readdirSync(dataDir)
    .filter((name) => (/^cambista\.db\.v\d+-(.*)\.bak$/.exec(name)?.[1] ?? '') >= since)
    .sort()[0]
}

async function countLaterRows(db: ReadDb, table: CountedTable, id: number): Promise<number> {
  let query = db.selectFrom(table).where('id', '>', id)
  if (table === 'events') query = query.where('kind', '=', 'claimed')
  const { count } = await query.select((of) => of.fn.countAll<number>().as('count')).executeTakeFirstOrThrow()
  return Number(count)
}

async function findLastId(db: ReadDb, table: CountedTable): Promise<number> {
  const row = await db
    .selectFrom(table)
    .select((of) => of.fn.max('id').as('last'))
    .executeTakeFirst()
  return row?.last ?? 0
}

/** Flushes a file, or the entries of a folder. */
function flushNow(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
