// A data directory in the making. It is built to one side and put in its place by a rename at the end: it lands whole or
// not at all, and what a killed restore left is cleared by the next one.

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
import { AppError } from '../../errors.ts'
import { flush, hashFile } from '../../file-hash.ts'
import { blobPath } from '../blobs/place.ts'
import { DATABASE_FILE, refuseDangling } from '../sqlite/database.ts'
import { type FileLock, takeFileLock } from '../sqlite/lock.ts'
import { epochOf, type Renewal, type Renewed, renewDatabase } from '../sqlite/restored-database.ts'
import { clearDamagedFiles } from './damaged-files.ts'

const WORK = '.restoring'
const LOCKS = ['serve.lock', 'sync.lock'] as const
const NOT_OURS = 'lost+found' // a file system of its own has it

export type Owner = { uid: number; gid: number }

export type NewDataDir = {
  blobsDir: string
  /** Where the database is, once it is taken over and until it lands. */
  database: string
  /** Whether a content may be shared with another folder of blobs: only with the right owner and mode. */
  mayShare(from: string, sha256: string): boolean
  /** Copies a database into it and renews the copy; undefined: what arrived does not have the SHA-256. */
  takeDatabase(
    from: { path: string; sha256: string },
    renewal: Renewal,
    signal: AbortSignal | undefined,
  ): Promise<Renewed | undefined>
  land(): Promise<void>
  hasLanded(): boolean
  /** Frees the locks, and removes what did not land. */
  close(): void
}

/**
 * Begins a data directory, and holds its locks. One that is not there is built beside its place; one that is there,
 * empty, inside of it, because it may be a mount point or lie where its owner can make nothing. There the database is
 * the last to arrive.
 * @param owner whose it shall be; undefined: the user of this process
 * @throws AppError `failed` when it is not empty or in use
 */
export function beginDataDir(given: string, owner: Owner | undefined): NewDataDir {
  const dataDir = resolve(given)
  refuseDangling(dataDir)
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
    // No room for a lock on a full disk. One that is held would be an AppError, and the work theirs.
    if (isNew && !(error instanceof AppError)) rmSync(work, { recursive: true, force: true })
    throw error
  }
  const database = join(work, DATABASE_FILE)
  // What a killed restore left; the locks say that no living one is at it.
  clearDamagedFiles(dataDir, epochOf(database))
  if (isThere) rmSync(join(dataDir, 'blobs'), { recursive: true, force: true })
  for (const name of readdirSync(work)) {
    if (!isLock(name)) rmSync(join(work, name), { recursive: true, force: true })
  }
  const blobsDir = join(work, 'blobs')
  mkdirSync(blobsDir, { mode: 0o700 })
  let landed = false
  return {
    blobsDir,
    database,
    mayShare(from, sha256) {
      const found = statsOf(blobPath(from, sha256))
      const wanted = owner ?? statSync(blobsDir)
      return found?.uid === wanted.uid && found.gid === wanted.gid && (found.mode & 0o777) === 0o600
    },
    async takeDatabase({ path, sha256 }, renewal, signal) {
      await copyFile(path, database)
      chmodSync(database, 0o600)
      if ((await hashFile(database, signal))?.sha256 !== sha256) return undefined
      return renewDatabase(database, renewal)
    },
    hasLanded: () => landed,
    async land() {
      if (owner) give(work, owner)
      await flush(work)
      if (!isThere) {
        renameSync(work, dataDir)
        landed = true
        return flush(dirname(dataDir))
      }
      if (existsSync(join(dataDir, DATABASE_FILE))) {
        throw new AppError('failed', `somebody made a database in ${dataDir} meanwhile; nothing was restored`)
      }
      chmodSync(dataDir, 0o700)
      for (const name of ['blobs', DATABASE_FILE]) renameSync(join(work, name), join(dataDir, name))
      landed = true
      if (owner) for (const name of LOCKS) chownSync(join(dataDir, name), owner.uid, owner.gid)
      await flush(dataDir)
    },
    close() {
      rmSync(work, { recursive: true, force: true })
      for (const lock of locks) lock.release()
    },
  }
}

/** Undefined: there is none, or it cannot be known: to read the file will show it. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch {
    return undefined
  }
}

function refuseUsed(dataDir: string): void {
  if (!statSync(dataDir).isDirectory()) throw new AppError('failed', `${dataDir} is not a directory`)
  const names = readdirSync(dataDir)
  // A restore that was killed between its last two steps has left its contents, and no database.
  const isLeft = (name: string) => name === WORK || (name === 'blobs' && names.includes(WORK))
  const [other] = names.filter((name) => name !== NOT_OURS && !isLock(name) && !isLeft(name))
  if (other === undefined) return
  for (const lock of lockAll(dataDir, dataDir, names)) lock.release()
  const advice = 'move it away first, or choose another --data-dir'
  throw new AppError('failed', `${dataDir} is not empty (${other}): ${advice}`)
}

function lockAll(dir: string, dataDir: string, among: readonly string[] = LOCKS): FileLock[] {
  const taken: FileLock[] = []
  for (const name of LOCKS.filter((one) => among.includes(one))) {
    const lock = takeFileLock(dir, name)
    if (!lock) {
      for (const one of taken) one.release()
      throw new AppError('failed', `${dataDir} is in use (${name}): stop the server, or wait for its end`)
    }
    taken.push(lock)
  }
  return taken
}

/** A lock, or the journal that SQLite leaves beside it when its holder is killed. */
function isLock(name: string): boolean {
  return LOCKS.some((lock) => name === lock || name === `${lock}-journal`)
}

/** Gives a directory and all in it to its owner. What is shared has it already. */
function give(path: string, { uid, gid }: Owner): void {
  chownSync(path, uid, gid)
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    chownSync(join(entry.parentPath, entry.name), uid, gid)
  }
}
