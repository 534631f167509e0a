// Opens the SQLite file of a data directory: permissions, durability and schema. Rejects a file of a newer version, one
// that is too old, and one of another program.

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
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { readAsset } from '../../runtime/assets.ts'
import { AppError, errorCode, errorReason } from '../../runtime/errors.ts'
import { diskError, isBusy } from '../../runtime/storage-error.ts'
import { refuseMoved } from '../cluster/moved-note.ts'
import { SCHEMA_VERSION } from '../migrations.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { createSqliteDb, PATIENCE_MS, type RoomMaker, TRY_AGAIN_MS } from './driver.ts'
import { copyBeforeMigration, refuseSchema } from './migration-copy.ts'
import { nativeBinding } from './native.ts'
import { dropSchemaHash, writeMark } from './schema-mark.ts'
import { upgradeSchema } from './upgrade.ts'

export const DATABASE_FILE = 'cambista.db'
export const APPLICATION_ID = 0x63616d62 // "camb": identifies a file of this program

/** An upgrade of the schema, and the path of the copy from before it. */
export type FileUpgrade = { from: number; to: number; copy: string }

export type OpenOptions = {
  mustExist?: boolean
  /**
   * True for a move: a directory that is already marked as moved is accepted. No other connection can write until this
   * one is closed.
   */
  isMoving?: boolean
  onUpgrade?: ((upgrade: FileUpgrade) => void) | undefined
  /** Returns whether an older schema may be upgraded now; undefined: always. */
  mayUpgrade?: () => boolean
  /** Makes room on a full disk, once. */
  makeRoom?: RoomMaker
  /** For a process that reads: on a full disk the file is locked instead of mapping its index (`openOnFullDisk`). */
  onlyReads?: boolean
  /** Milliseconds to retry statements that another process blocks; undefined: 5000. */
  patienceMs?: number | undefined
}

/**
 * Opens the database of a data directory, and creates both if they are missing (directory 0700, file 0600). An older
 * schema is copied beside the database and upgraded; then `onUpgrade` is called.
 * @throws AppError `failed` when it cannot be opened, has a newer or too old schema, was moved to a cluster, or
 *   (`mustExist`) is missing
 */
export function openDatabase(dataDir: string, options: OpenOptions = {}): WriteDb {
  const { patienceMs = PATIENCE_MS } = options
  const path = join(dataDir, DATABASE_FILE)
  refuseUnusable(dataDir)
  if (options.mustExist && !existsSync(path)) throw missing(dataDir)
  if (!options.isMoving) refuseMoved(dataDir)
  let sqlite: Sqlite.Database | undefined
  try {
    makePrivate(dataDir, path)
    const open = () => new Sqlite(path, { timeout: patienceMs, nativeBinding: nativeBinding(dataDir) })
    sqlite = options.onlyReads ? openOnFullDisk(open).sqlite : open()
    sqlite.transaction(refuseForeign)(sqlite, path)
    configure(sqlite, patienceMs)
    const upgrade = bringToSchema(sqlite, path, options.mayUpgrade)
    if (upgrade) options.onUpgrade?.(upgrade)
    if (!options.onlyReads && (options.mayUpgrade?.() ?? true)) dropSchemaHash(sqlite)
    if (options.isMoving) sqlite.exec('begin immediate')
  } catch (thrown) {
    sqlite?.close()
    const error = diskError(thrown, dataDir)
    if (error instanceof AppError) throw error
    if (isBusy(error)) throw locked(path, error)
    throw new AppError('failed', `cannot open the database ${path}: ${errorReason(error)}`, { cause: error })
  }
  return createSqliteDb(sqlite, patienceMs, options.makeRoom)
}

/** `isLocked`: only this process can use the file. */
export type RawDatabase = { sqlite: Sqlite.Database; isLocked: boolean }

/**
 * Opens a database to read, also on a full disk. Without room for the shared index of its log (-shm), the index is in
 * memory and the file is locked. A running server already has such an index.
 */
export function openOnFullDisk(open: () => Sqlite.Database): RawDatabase {
  let sqlite = open()
  try {
    sqlite.prepare('select 1 from sqlite_schema limit 1').get()
    return { sqlite, isLocked: false }
  } catch (error) {
    sqlite.close()
    if (errorCode(error) !== 'SQLITE_IOERR_SHMSIZE') throw error
  }
  sqlite = open()
  sqlite.pragma('locking_mode = EXCLUSIVE') // before the first read, which would map the index
  return { sqlite, isLocked: true }
}

/** A connection that only reads, which its owner closes. */
export type ReadConnection = ReadDb & Pick<WriteDb, 'destroy'>

/**
 * Opens a second connection for queries that only read, so that none of them waits for a long write transaction. Its
 * files are opened at once, because they may be missing later.
 */
export function openReads(dataDir: string): ReadConnection {
  const path = join(dataDir, DATABASE_FILE)
  const options = { fileMustExist: true, timeout: PATIENCE_MS, nativeBinding: nativeBinding(dataDir) }
  const sqlite = new Sqlite(path, options)
  try {
    refuseSchema(path, sqlite) // the first read opens the log and its index
  } catch (error) {
    sqlite.close()
    throw error
  }
  sqlite.pragma('query_only = ON')
  sqlite.pragma('trusted_schema = OFF')
  sqlite.pragma('cell_size_check = ON')
  sqlite.pragma('cache_size = -2000') // 2 MB are enough for look-ups of rows by id
  return createSqliteDb(sqlite)
}

/**
 * Opens the database to read, for a command beside the server. Creates and changes nothing.
 * @throws AppError `failed` when it is missing or has another schema
 */
export async function openStandaloneReads(dataDir: string): Promise<ReadConnection> {
  const path = join(dataDir, DATABASE_FILE)
  refuseUnusable(dataDir)
  if (!existsSync(path)) throw missing(dataDir)
  let db: ReadConnection | undefined
  try {
    db = openReads(dataDir)
    if (await isReady(db)) return db
  } catch (error) {
    await db?.destroy()
    if (error instanceof AppError) throw error
    throw new AppError('failed', `cannot read the database ${path}: ${errorReason(error)}`, { cause: error })
  }
  await db.destroy()
  throw new AppError('failed', `${path} is of another version of this program: start its server once`)
}

/** Returns whether the database answers and has the schema of this program. */
export async function isReady(db: ReadDb): Promise<boolean> {
  const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(db)
  return rows[0]?.user_version === SCHEMA_VERSION
}

/** Returns a number that changes after each commit of another process (SQLite only). */
export async function readDataVersion(db: ReadDb): Promise<number> {
  const { rows } = await sql<{ data_version: number }>`pragma data_version`.execute(db)
  return rows[0]?.data_version ?? 0
}

/**
 * Rejects a data directory that is a dangling link, or that this user may not read.
 * @throws AppError `failed`, with the missing target, or the owner
 */
export function refuseUnusable(dataDir: string): void {
  for (const path of [dataDir, join(dataDir, DATABASE_FILE)]) refuseUnreadable(dataDir, path)
  if (existsSync(dataDir) || !lstatSync(dataDir, { throwIfNoEntry: false })?.isSymbolicLink()) return
  const target = resolve(dirname(resolve(dataDir)), readlinkSync(dataDir))
  throw new AppError('failed', `${dataDir} is a link to ${target}, which is not there: is its disk mounted?`)
}

function refuseUnreadable(dataDir: string, path: string): void {
  try {
    accessSync(path, constants.R_OK)
  } catch (error) {
    if (errorCode(error) !== 'EACCES') return // a missing one may be made
    throw new AppError('failed', `${path} may not be read by this user: ${accessAdvice(dataDir, path)}`)
  }
}

function accessAdvice(dataDir: string, path: string): string {
  let uid: number | undefined
  try {
    ;({ uid } = statSync(path))
  } catch {
    return 'become its owner, or use sudo' // a directory above it is closed too
  }
  if (uid !== 0) return `it belongs to user ${uid}: run cambista as that user, or use sudo`
  return `it belongs to root: use sudo, or give it to the user of the server (chown -R USER ${dataDir})`
}

function missing(dataDir: string): AppError {
  return new AppError('failed', `there is no cambista database in ${dataDir}: check --data-dir`)
}

function locked(path: string, cause: unknown): AppError {
  const advice = 'wait for it or end it (fuser -v shows who), then try again'
  return new AppError('failed', `${path} is locked by another process: ${advice}`, { cause })
}

/** Makes the data directory, 0700. */
export function makeDataDir(dataDir: string): void {
  refuseUnusable(dataDir)
  if (!existsSync(dataDir)) createDirectory(resolve(dataDir))
  // An empty directory was created for cambista; the mode of one with other files is not changed.
  else if (readdirSync(dataDir).length === 0) closeToOthers(dataDir)
}

/** Sets the mode 0700, unless the directory belongs to another user, such as the volume of a Kubernetes pod. */
export function closeToOthers(dataDir: string): void {
  try {
    chmodSync(dataDir, 0o700)
  } catch (error) {
    if (errorCode(error) !== 'EPERM') throw error
  }
}

function makePrivate(dataDir: string, path: string): void {
  makeDataDir(dataDir)
  // SQLite's own error for a file without write permission is only "unable to open database file".
  if (existsSync(path)) accessSync(path, constants.W_OK)
  else closeSync(openSync(path, 'a', 0o600)) // SQLite creates -wal and -shm with the same mode
}

// The option `recursive: true` would loop for ever under /proc.
function createDirectory(path: string): void {
  if (!existsSync(dirname(path))) createDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error // otherwise another process created it
  }
}

/**
 * Rejects a file of another program before the first write. Runs in a transaction: between two statements another
 * process could create the tables and not yet the application id.
 */
function refuseForeign(sqlite: Sqlite.Database, path: string): void {
  const isOurs = readPragma(sqlite, 'application_id') === APPLICATION_ID
  if (!isOurs && sqlite.prepare('select 1 from sqlite_schema limit 1').get()) {
    throw new AppError('failed', `${path} is a database of another program`)
  }
  refuseSchema(path, sqlite)
}

function configure(sqlite: Sqlite.Database, patienceMs: number): void {
  useWal(sqlite, patienceMs) // readers never wait for writes of a sync
  sqlite.pragma('synchronous = FULL') // acknowledged means on disk: NORMAL may lose the last commits to a power cut
  sqlite.pragma('foreign_keys = ON') // off by default in SQLite
  sqlite.pragma('trusted_schema = OFF') // a tampered file cannot call functions through its schema
  sqlite.pragma('cell_size_check = ON') // a damaged page is an error, not a wrong rate
  sqlite.pragma('cache_size = -8000') // 8 MB: whole series are read once and cached as columns, not as pages
  sqlite.pragma('journal_size_limit = 67108864') // a backfill's WAL shrinks again
}

// Retries: when several processes switch a new database at once, SQLite rejects all but one and ignores its timeout.
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

function bringToSchema(
  sqlite: Sqlite.Database,
  path: string,
  mayUpgrade: () => boolean = () => true,
): FileUpgrade | undefined {
  const current = readPragma(sqlite, 'user_version')
  if (current === SCHEMA_VERSION) return undefined
  if (current !== 0 && !mayUpgrade()) {
    throw new AppError(
      'failed',
      `${path} has schema version ${current}, which its server of another version uses: restart the server first`,
    )
  }
  return sqlite
    .transaction(() => {
      const version = readPragma(sqlite, 'user_version') // again, under the lock: another process may have upgraded
      refuseSchema(path, sqlite)
      if (version === SCHEMA_VERSION) return undefined
      let upgrade: FileUpgrade | undefined
      if (version === 0) {
        sqlite.exec(readAsset('schema.sql'))
        sqlite.pragma(`application_id = ${APPLICATION_ID}`)
        writeMark(sqlite)
      } else {
        upgrade = { from: version, to: SCHEMA_VERSION, copy: copyBeforeMigration(path, version) }
        upgradeSchema(sqlite, version)
      }
      return upgrade
    })
    .immediate()
}

function readPragma(sqlite: Sqlite.Database, pragma: 'user_version' | 'application_id'): number {
  return Number(sqlite.pragma(pragma, { simple: true }))
}
