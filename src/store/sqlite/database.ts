// Opens the one SQLite file of a data directory: which users may read it, how safely it writes, which schema it has.
// Refuses a file of a newer program and a file that is not ours.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { readAsset } from '../../assets.ts'
import { AppError, codeOf, reasonOf } from '../../errors.ts'
import { diskError, isBusy } from '../../storage-error.ts'
import { refuseMoved } from '../move/moved-note.ts'
import type { Db } from '../tables.ts'
import { PATIENCE_MS, queriesOver, TRY_AGAIN_MS } from './driver.ts'
import { copyBeforeMigration, newerSchema } from './migration-copy.ts'
import { SCHEMA_VERSION } from './migrations.ts'
import { nativeBinding } from './native.ts'
import { upgradeSchema } from './upgrade.ts'

export const DATABASE_FILE = 'cambista.db'
export const APPLICATION_ID = 0x63616d62 // "camb", so that a stray file is known for what it is

/** What was done to a database of an older schema, and where the copy of it is. */
export type Upgrade = { from: number; to: number; copy: string }

export type OpenOptions = {
  mustExist?: boolean
  /** For a move that goes on: the directory may say already that its data are elsewhere. */
  isMoving?: boolean
  upgraded?: ((upgrade: Upgrade) => void) | undefined
  /** For a command that reads: without room for the index of its log the file is locked instead (`openOnFullDisk`). */
  onlyReads?: boolean
  /** How long what another process blocks is tried; five seconds unless told. */
  patienceMs?: number | undefined
}

/**
 * Opens the database of a data directory, making both when they are not there (directory 0700, file 0600). One of an
 * older schema is copied beside itself and brought up to date; `upgraded` is told.
 * @throws AppError `failed` when it cannot be opened, is of a newer schema, was moved elsewhere, or (`mustExist`) is not
 *   there
 */
export function openDatabase(dataDir: string, options: OpenOptions = {}): Db {
  const { patienceMs = PATIENCE_MS } = options
  const path = join(dataDir, DATABASE_FILE)
  refuseDangling(dataDir)
  if (options.mustExist && !existsSync(path)) throw missing(dataDir, path)
  if (!options.isMoving) refuseMoved(dataDir)
  let sqlite: Sqlite.Database | undefined
  try {
    makePrivate(dataDir, path)
    const open = () => new Sqlite(path, { timeout: patienceMs, nativeBinding: nativeBinding(dataDir) })
    sqlite = options.onlyReads ? openOnFullDisk(open).sqlite : open()
    sqlite.transaction(refuseForeign)(sqlite, path)
    configure(sqlite, patienceMs)
    const upgrade = bringToSchema(sqlite, path)
    if (upgrade) options.upgraded?.(upgrade)
  } catch (thrown) {
    sqlite?.close()
    const error = diskError(thrown, dataDir)
    if (error instanceof AppError) throw error
    if (isBusy(error)) throw locked(path, error)
    throw new AppError('failed', `cannot open the database ${path}: ${reasonOf(error)}`, { cause: error })
  }
  return queriesOver(sqlite, patienceMs)
}

export type OpenedToRead = { sqlite: Sqlite.Database /** By this process alone. */; isLocked: boolean }

/**
 * Opens a database to read, on a full disk too: where there is no room for the index of its log (-shm), which all
 * connections share, this one keeps the index in memory and locks the file, so that no other process has it meanwhile.
 * Beside a server there is such an index already.
 */
export function openOnFullDisk(open: () => Sqlite.Database): OpenedToRead {
  let sqlite = open()
  try {
    sqlite.prepare('select 1 from sqlite_schema limit 1').get()
    return { sqlite, isLocked: false }
  } catch (error) {
    sqlite.close()
    if (codeOf(error) !== 'SQLITE_IOERR_SHMSIZE') throw error
  }
  sqlite = open()
  sqlite.pragma('locking_mode = EXCLUSIVE') // before the first reading, which would map the index
  return { sqlite, isLocked: true }
}

/**
 * The same database for queries that only read: on a connection of its own, so that none of them waits for a transaction
 * that writes for seconds. They see what was committed. Its files are opened at once: later there may be none to open.
 */
export function openReads(dataDir: string): Db {
  const path = join(dataDir, DATABASE_FILE)
  const options = { fileMustExist: true, timeout: PATIENCE_MS, nativeBinding: nativeBinding(dataDir) }
  const sqlite = new Sqlite(path, options)
  sqlite.pragma('query_only = ON')
  sqlite.pragma('trusted_schema = OFF')
  sqlite.pragma('cell_size_check = ON')
  sqlite.pragma('cache_size = -2000') // rows by their ids: 2 MB hold what is looked up again
  sqlite.pragma('user_version') // the first reading opens the log and its index
  return queriesOver(sqlite)
}

/**
 * The same for a program beside the server, which makes and changes nothing.
 * @throws AppError `failed` when there is none, or it is of another schema
 */
export async function openReadsBeside(dataDir: string): Promise<Db> {
  const path = join(dataDir, DATABASE_FILE)
  refuseDangling(dataDir)
  if (!existsSync(path)) throw missing(dataDir, path)
  let db: Db | undefined
  try {
    db = openReads(dataDir)
    if (await isReady(db)) return db
  } catch (error) {
    await db?.destroy()
    throw new AppError('failed', `cannot read the database ${path}: ${reasonOf(error)}`, { cause: error })
  }
  await db.destroy()
  throw new AppError('failed', `${path} is of another version of this program: start its server once`)
}

/** Whether the database answers and has the schema of this program. */
export async function isReady(db: Db): Promise<boolean> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db)
  return rows[0]?.user_version === SCHEMA_VERSION
}

/** A number that changes whenever another process has committed to the database (SQLite only). */
export async function outsideVersion(db: Db): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db)
  return rows[0]?.data_version ?? 0
}

/** @throws AppError `failed` for a data directory that is a link to nothing, in which no directory can be made either */
export function refuseDangling(dataDir: string): void {
  if (existsSync(dataDir) || !lstatSync(dataDir, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const target = resolve(dirname(resolve(dataDir)), readlinkSync(dataDir))
  throw new AppError('failed', `${dataDir} is a link to ${target}, which is not there: is its disk mounted?`)
}

function missing(dataDir: string, path: string): AppError {
  try {
    accessSync(path)
  } catch (error) {
    if (codeOf(error) === 'EACCES') {
      return new AppError('failed', `${dataDir} may not be read by this user: become its owner, or use sudo`)
    }
  }
  return new AppError('failed', `there is no cambista database in ${dataDir}: check --data-dir`)
}

function locked(path: string, cause: unknown): AppError {
  const advice = 'wait for it or end it (fuser -v shows who), then try again'
  return new AppError('failed', `${path} is locked by another process: ${advice}`, { cause })
}

/** Makes the data directory, 0700. */
export function makeDataDir(dataDir: string): void {
  refuseDangling(dataDir)
  if (!existsSync(dataDir)) makeDirectory(resolve(dataDir))
  // An empty directory was made for us; one with other things in it is not ours to lock up.
  else if (readdirSync(dataDir).length === 0) chmodSync(dataDir, 0o700)
}

function makePrivate(dataDir: string, path: string): void {
  makeDataDir(dataDir)
  // Of a file that cannot be written SQLite would only say "unable to open database file".
  if (existsSync(path)) accessSync(path, constants.W_OK)
  else closeSync(openSync(path, 'a', 0o600)) // SQLite gives -wal and -shm the file's own mode
}

// Not `recursive: true`: under /proc that option tries for ever.
function makeDirectory(path: string): void {
  if (!existsSync(dirname(path))) makeDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error // else another process was faster
  }
}

/**
 * Before anything is written: what is not ours stays as it is. In a transaction, of one look: between two another
 * process may have made the database, which would then have tables and not yet our mark.
 */
function refuseForeign(sqlite: Sqlite.Database, path: string): void {
  const isOurs = numberOf(sqlite, 'application_id') === APPLICATION_ID
  if (!isOurs && sqlite.prepare('select 1 from sqlite_schema limit 1').get()) {
    throw new AppError('failed', `${path} is a database of another program`)
  }
  const version = numberOf(sqlite, 'user_version')
  if (version > SCHEMA_VERSION) {
    throw newerSchema(path, version)
  }
}

function configure(sqlite: Sqlite.Database, patienceMs: number): void {
  useWal(sqlite, patienceMs) // readers never wait for the sync's writes
  sqlite.pragma('synchronous = FULL') // acknowledged means on disk: NORMAL may lose the last commits to a power cut
  sqlite.pragma('foreign_keys = ON') // off by default in SQLite
  sqlite.pragma('trusted_schema = OFF') // a tampered file cannot call functions through its schema
  sqlite.pragma('cell_size_check = ON') // a damaged page is an error, not a wrong rate
  sqlite.pragma('cache_size = -8000') // 8 MB: whole series are read once and kept as columns, not as pages
  sqlite.pragma('journal_size_limit = 67108864') // a backfill's WAL shrinks again
}

// Of processes that switch a new database at once SQLite refuses all but one on the spot, whatever its timeout.
function useWal(sqlite: Sqlite.Database, patienceMs: number): void {
  const until = performance.now() + patienceMs
  while (true) {
    try {
      sqlite.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TRY_AGAIN_MS) // a sleep: nothing else runs yet
  }
}

function bringToSchema(sqlite: Sqlite.Database, path: string): Upgrade | undefined {
  if (numberOf(sqlite, 'user_version') === SCHEMA_VERSION) return undefined
  return sqlite
    .transaction(() => {
      const version = numberOf(sqlite, 'user_version') // again, under the lock: another process may have done it
      if (version === SCHEMA_VERSION) return undefined
      let upgrade: Upgrade | undefined
      if (version === 0) {
        sqlite.exec(readAsset('schema.sql'))
        sqlite.pragma(`application_id = ${APPLICATION_ID}`)
        sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
      } else {
        upgrade = { from: version, to: SCHEMA_VERSION, copy: copyBeforeMigration(path, version) }
        upgradeSchema(sqlite, version)
      }
      return upgrade
    })
    .immediate()
}

function numberOf(sqlite: Sqlite.Database, pragma: 'user_version' | 'application_id'): number {
  return Number(sqlite.pragma(pragma, { simple: true }))
}
