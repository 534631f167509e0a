// Returns a data directory to the copy of its database from before a migration. The server is stopped, and the process
// is that of the owner.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { flushNow } from '../../runtime/file-hash.ts'
import { BLOB_FOLDER, HOLD_FILE } from '../../store/blobs/folder.ts'
import { SCHEMA_VERSION } from '../../store/migrations.ts'
import { DATABASE_FILE } from '../../store/sqlite/database.ts'
import { closeLog, inspectDatabase } from '../../store/sqlite/database-copy.ts'
import { findSchemaCopy, resumeMailboxes } from '../../store/sqlite/migration-copy.ts'
import type { ReadDb } from '../../store/tables.ts'

const COPY = /^cambista\.db\.v\d+-.*\.bak$/
const LATER = /^cambista\.db\.v\d+-.*\.later(-wal|-shm)?$/
const LOG_SUFFIXES = ['-wal', '-shm']
const TABLES = ['documents', 'events', 'rate_revisions', 'api_keys', 'tokens'] as const

type CountedTable = (typeof TABLES)[number]

/** Rows that a copy lacks; keys and tokens together. */
export type NewRows = { documents: number; claims: number; corrections: number; keys: number }

/** Returns the names of the copies from before migrations. */
export function listCopies(dataDir: string): string[] {
  return existsSync(dataDir) ? readdirSync(dataDir).filter((name) => COPY.test(name)) : []
}

/** Returns the bytes of the database file; 0: there is none. */
export function measureDatabase(dataDir: string): number {
  return statSync(join(dataDir, DATABASE_FILE), { throwIfNoEntry: false })?.size ?? 0
}

/**
 * Replaces the database by the copy of a schema that is not among `copies`, if there is one. The caller knows that nothing
 * was written since. A killed call may be repeated.
 * @throws AppError `failed` while another process uses the database
 */
export function putCopyBack(
  dataDir: string,
  { schema, copies }: { schema: number; copies: readonly string[] },
): void {
  const isWanted = (name: string) => name.startsWith(`${DATABASE_FILE}.v${schema}-`) && !copies.includes(name)
  const [copy] = listCopies(dataDir).filter(isWanted).sort() // a killed start may have made equal ones
  if (copy === undefined) return
  const file = join(dataDir, DATABASE_FILE)
  if (existsSync(file)) closeLog(file)
  // SQLite would apply a log that remains to any file of this name.
  for (const suffix of LOG_SUFFIXES) rmSync(file + suffix, { force: true })
  flushNow(dataDir)
  resumeMailboxes(join(dataDir, copy))
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
 * Uses a copy as the database. The later database stays beside it under the returned name, with all blobs, until
 * `removeLaterDatabases`. A killed call leaves the later one in use.
 * @throws AppError `failed` while another process uses the database
 */
export function useCopy(dataDir: string, copy: string): string {
  const file = join(dataDir, DATABASE_FILE)
  closeLog(file)
  const partial = `${file}.partial`
  rmSync(partial, { force: true })
  copyFileSync(copy, partial)
  chmodSync(partial, 0o600)
  flushNow(partial)
  writeFileSync(join(dataDir, BLOB_FOLDER, HOLD_FILE), '')
  flushNow(join(dataDir, BLOB_FOLDER))
  const time = new Date().toISOString().slice(0, 19).replaceAll(':', '-')
  const later = `${file}.v${SCHEMA_VERSION}-${time}Z.later`
  linkSync(file, later)
  flushNow(dataDir)
  renameSync(partial, file)
  flushNow(dataDir)
  return later
}

/** Removes what `useCopy` has left, and returns the names. From then on blobs are deleted again. */
export function removeLaterDatabases(dataDir: string): string[] {
  if (!existsSync(dataDir)) return []
  const names = readdirSync(dataDir).filter((name) => LATER.test(name))
  for (const name of names) rmSync(join(dataDir, name))
  rmSync(join(dataDir, BLOB_FOLDER, HOLD_FILE), { force: true })
  return names
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
