// SQLite as an engine: one file, one process that writes at a time, the clock of this machine.

import type { Clock } from '../../dates.ts'
import { AppError, reasonOf } from '../../errors.ts'
import { diskError } from '../../storage-error.ts'
import type { Engine, Lock } from '../engine.ts'
import {
  isReady,
  makeDataDir,
  type OpenOptions,
  openDatabase,
  openReads,
  outsideVersion,
} from './database.ts'
import { type FileLock, takeFileLock } from './lock.ts'

export type EngineOptions = OpenOptions & {
  /** With the lock of a server, and connections of their own for what only reads. */
  server?: boolean
  /** That of the machine unless told. */
  clock?: Clock | undefined
}

const NEVER = new AbortController().signal

/**
 * Opens the database of a data directory as `openDatabase` does.
 * @throws AppError `failed` like `openDatabase`, and for a second server on the directory
 */
export async function openSqliteEngine(dataDir: string, options: EngineOptions = {}): Promise<Engine> {
  const { server = false, clock = () => new Date() } = options
  await using parts = new AsyncDisposableStack()
  // The lock first: to open an older database is to bring it up to date, which no living server may see.
  if (server) parts.adopt(takeServeLock(dataDir), (lock) => lock.release())
  const open = <T extends { destroy(): Promise<void> }>(db: T) => parts.adopt(db, (one) => one.destroy())
  const db = open(openDatabase(dataDir, options))
  const reads = server ? open(openReads(dataDir)) : db
  const longReads = server ? open(openReads(dataDir)) : db
  const opened = parts.move()
  return {
    kind: 'sqlite',
    place: dataDir,
    ...{ db, reads, longReads, clock },
    ...locksIn(dataDir),
    async look() {
      const version = String(await outsideVersion(db))
      return { data: version, access: version, documents: version }
    },
    isReady: () => isReady(reads),
    close: () => opened.disposeAsync(),
  }
}

/** The locks of a data directory. That of a sync is a file: commands sync too, beside a server. */
export function locksIn(dataDir: string): Pick<Engine, 'takeLock' | 'holderOf'> {
  return {
    // The serve lock keeps the others: one server has a scheduler and cleans up, and to migrate is one transaction.
    takeLock: async (name) => (name === 'sync' ? lockOver(takeFileLock(dataDir, 'sync.lock')) : NOTHING),
    holderOf: async () => `on ${dataDir}`,
  }
}

const NOTHING: Lock = { check: async () => {}, lost: NEVER, release: async () => {} }

/** The kernel keeps it for as long as the process lives, so it is never lost. */
function lockOver(file: FileLock | undefined): Lock | undefined {
  return file && { ...NOTHING, release: async () => file.release() }
}

function takeServeLock(dataDir: string): FileLock {
  let lock: FileLock | undefined
  try {
    makeDataDir(dataDir)
    lock = takeFileLock(dataDir, 'serve.lock')
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = reasonOf(diskError(error, dataDir))
    throw new AppError('failed', `cannot use the data directory ${dataDir}: ${reason}`, {
      cause: error,
    })
  }
  if (!lock) throw new AppError('failed', `the data directory is in use by another server: ${dataDir}`)
  return lock
}
