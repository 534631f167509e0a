// Builds a data directory in a working directory, and publishes it by a rename at the end. So it appears complete or not
// at all. The next restore removes files that a killed one left.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { AppError } from '../../../runtime/errors.ts'
import { flush, hashFile } from '../../../runtime/file-hash.ts'
import { blobPath } from '../../../store/blobs/commit.ts'
import { closeToOthers, DATABASE_FILE, refuseUnusable } from '../../../store/sqlite/database.ts'
import { type FileLock, takeFileLock } from '../../../store/sqlite/lock.ts'
import {
  type Renewal,
  type RenewedFile,
  readEpoch,
  renewFile,
} from '../../../store/sqlite/restored-database.ts'
import { clearDamagedFiles } from './damaged-files.ts'

const WORK = '.restoring'
const LOCKS = ['serve.lock', 'sync.lock'] as const
const NOT_OURS = 'lost+found' // present at the root of a file system

export type FileOwner = { uid: number; gid: number }

export type NewDataDir = {
  blobsDir: string
  /** Path of the imported database until it is published. */
  database: string
  /** Returns true if a blob may be shared with another folder: its owner and mode must match. */
  canShare(from: string, sha256: string): boolean
  /** Copies a database into it and renews the copy; undefined: the SHA-256 is wrong. */
  importDatabase(
    from: { path: string; sha256: string },
    renewal: Renewal,
    signal: AbortSignal | undefined,
  ): Promise<RenewedFile | undefined>
  publish(): Promise<void>
  isPublished(): boolean
  /** Releases the locks, and removes unpublished files. */
  close(): void
}

/**
 * Creates and locks a data directory. A new one is built beside its path. An existing, empty one is built inside of it,
 * because it may be a mount point, or its parent may not be writable. There the database is published last.
 * @param owner of the files; undefined: the user of this process
 * @throws AppError `failed` when it is not empty or in use
 */
export function createDataDir(given: string, owner: FileOwner | undefined): NewDataDir {
  const dataDir = resolve(given)
  refuseUnusable(dataDir)
  const isThere = existsSync(dataDir)
  if (isThere) refuseUsed(dataDir)
  else if (!existsSync(dirname(dataDir))) {
    throw new AppError('failed', `there is no ${dirname(dataDir)} to make the data directory in`)
  }
  const work = isThere ? join(dataDir, WORK) : `${dataDir}${WORK}`
  const isNew = !existsSync(work)
  if (isNew) mkdirSync(work, { mode: 0o700 })
  let locks: FileLock[]
  try {
    locks = lockAll(isThere ? dataDir : work, dataDir)
  } catch (error) {
    // The disk is full. A lock of another process would be an AppError, and the directory would be its own.
    if (isNew && !(error instanceof AppError)) rmSync(work, { recursive: true, force: true })
    throw error
  }
  const database = join(work, DATABASE_FILE)
  // Removes files of a killed restore. The locks exclude a running one.
  clearDamagedFiles(dataDir, readEpoch(database))
  if (isThere) rmSync(join(dataDir, 'blobs'), { recursive: true, force: true })
  for (const name of readdirSync(work)) {
    if (!isLock(name)) rmSync(join(work, name), { recursive: true, force: true })
  }
  const blobsDir = join(work, 'blobs')
  mkdirSync(blobsDir, { mode: 0o700 })
  let hasPublished = false
  return {
    blobsDir,
    database,
    canShare(from, sha256) {
      const stats = readStats(blobPath(from, sha256))
      const expectedOwner = owner ?? statSync(blobsDir)
      return (
        stats?.uid === expectedOwner.uid && stats.gid === expectedOwner.gid && (stats.mode & 0o777) === 0o600
      )
    },
    async importDatabase({ path, sha256 }, renewal, signal) {
      await copyFile(path, database)
      chmodSync(database, 0o600)
      if ((await hashFile(database, signal))?.sha256 !== sha256) return undefined
      return renewFile(database, renewal)
    },
    isPublished: () => hasPublished,
    async publish() {
      if (owner) changeOwner(work, owner)
      await flush(work)
      if (!isThere) {
        renameSync(work, dataDir)
        hasPublished = true
        return flush(dirname(dataDir))
      }
      if (existsSync(join(dataDir, DATABASE_FILE))) {
        throw new AppError('failed', `somebody made a database in ${dataDir} meanwhile; nothing was restored`)
      }
      closeToOthers(dataDir)
      for (const name of ['blobs', DATABASE_FILE]) renameSync(join(work, name), join(dataDir, name))
      hasPublished = true
      if (owner) for (const name of LOCKS) chownSync(join(dataDir, name), owner.uid, owner.gid)
      await flush(dataDir)
    },
    close() {
      rmSync(work, { recursive: true, force: true })
      for (const lock of locks) lock.release()
    },
  }
}

/** Undefined: missing or unreadable, which reading the file will report. */
function readStats(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function refuseUsed(dataDir: string): void {
  if (!statSync(dataDir).isDirectory()) throw new AppError('failed', `${dataDir} is not a directory`)
  const names = readdirSync(dataDir)
  // A restore that was killed between its last two steps has left its blobs, but no database.
  const isLeft = (name: string) => name === WORK || (name === 'blobs' && names.includes(WORK))
  const [other] = names.filter((name) => name !== NOT_OURS && !isLock(name) && !isLeft(name))
  if (other === undefined) return
  for (const lock of lockAll(dataDir, dataDir, names)) lock.release()
  const advice = 'move it away first, or choose another --data-dir'
  throw new AppError('failed', `${dataDir} is not empty (${other}): ${advice}`)
}

function lockAll(dir: string, dataDir: string, among: readonly string[] = LOCKS): FileLock[] {
  const locks: FileLock[] = []
  for (const name of LOCKS.filter((one) => among.includes(one))) {
    const lock = takeFileLock(dir, name)
    if (!lock) {
      for (const one of locks) one.release()
      throw new AppError('failed', `${dataDir} is in use (${name}): stop the server, or wait for its end`)
    }
    locks.push(lock)
  }
  return locks
}

/** Returns true for a lock, or the journal that SQLite leaves beside the lock of a killed process. */
function isLock(name: string): boolean {
  return LOCKS.some((lock) => name === lock || name === `${lock}-journal`)
}

/** Changes the owner of a directory and its files. Shared blobs already have this owner. */
function changeOwner(path: string, { uid, gid }: FileOwner): void {
  chownSync(path, uid, gid)
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    chownSync(join(entry.parentPath, entry.name), uid, gid)
  }
}
