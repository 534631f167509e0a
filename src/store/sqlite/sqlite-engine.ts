// SQLite as an engine: one file, one process that writes at a time, the clock of this machine.

import { resolve } from 'node:path'
import { AppError, errorReason } from '../../runtime/errors.ts'
import { diskError } from '../../runtime/storage-error.ts'
import type { Clock } from '../../values/dates.ts'
import { makeRoom } from '../ballast.ts'
import type { Engine, Lock } from '../engine.ts'
import { forgetServerAddress, removeServerAddress, writeServerAddress } from '../server-address.ts'
import {
  isReady,
  makeDataDir,
  type OpenOptions,
  openDatabase,
  openReads,
  readDataVersion,
} from './database.ts'
import { type FileLock, isLocked, takeFileLock } from './lock.ts'

export type EngineOptions = OpenOptions & {
  /** Takes the lock of a server. Opens connections of their own for reads, unless it `onlyReads`. */
  server?: boolean
  /** Called after the ballast was given up. */
  onBallast?: () => void
  /** Undefined: the clock of the machine. */
  clock?: Clock | undefined
}

const NEVER = new AbortController().signal

/**
 * Opens the database of a data directory as `openDatabase` does.
 * @throws AppError `failed` like `openDatabase`, and for a second server on the directory
 */
export async function openSqliteEngine(dataDir: string, options: EngineOptions = {}): Promise<Engine> {
  const { server = false, onlyReads = false, clock = () => new Date() } = options
  const hasOwnReads = server && !onlyReads
  await using parts = new AsyncDisposableStack()
  // Locks first: opening an older database upgrades it, which must not happen under a running server.
  if (server) parts.adopt(takeServeLock(dataDir), (lock) => lock.release())
  if (server) removeServerAddress(dataDir) // left by a killed server
  const open = <T extends { destroy(): Promise<void> }>(db: T) => parts.adopt(db, (one) => one.destroy())
  // A server of the former program would go on writing into an upgraded database.
  const mayUpgrade = () => (server ? !onlyReads : !isLocked(dataDir, 'serve.lock'))
  const giveUp = (error: unknown) => {
    const isGivenUp = makeRoom(dataDir, error)
    if (isGivenUp) options.onBallast?.()
    return isGivenUp
  }
  const openDb = () =>
    openDatabase(dataDir, { ...options, mayUpgrade, ...(!onlyReads && { makeRoom: giveUp }) })
  const openInRoom = () => {
    try {
      return openDb()
    } catch (error) {
      if (onlyReads || !giveUp(error)) throw error
      return openDb()
    }
  }
  const db = open(openInRoom())
  const reads = hasOwnReads ? open(openReads(dataDir)) : db
  const longReads = hasOwnReads ? open(openReads(dataDir)) : db
  const resources = parts.move()
  return {
    kind: 'sqlite',
    location: dataDir,
    description: `data directory: ${resolve(dataDir)}`,
    ...{ db, reads, longReads, clock },
    ...createLocks(dataDir),
    async poll() {
      const version = String(await readDataVersion(db))
      return { data: version, access: version, documents: version }
    },
    isReady: () => isReady(reads),
    explain: (error) => diskError(error, dataDir),
    publishServer(url, settings) {
      if (!onlyReads) writeServerAddress(dataDir, url, settings)
      return () => forgetServerAddress(dataDir)
    },
    close: () => resources.disposeAsync(),
  }
}

/** Creates the locks of a data directory. The lock of a sync is a file, because commands sync beside a server. */
function createLocks(dataDir: string): Pick<Engine, 'takeLock' | 'findHolder'> {
  return {
    // The serve lock covers the others: only a server has a scheduler and garbage collection. A migration is one
    // transaction.
    takeLock: async (name) => (name === 'sync' ? toLock(takeFileLock(dataDir, 'sync.lock')) : NO_LOCK),
    findHolder: async (name) => (name === 'sync' ? `on ${dataDir}` : undefined),
  }
}

const NO_LOCK: Lock = { check: async () => {}, outlivesHolderMs: 0, lost: NEVER, release: async () => {} }

/** Makes a Lock of a file lock. The kernel unlocks it only when the process dies, so it is never lost. */
function toLock(file: FileLock | undefined): Lock | undefined {
  return file && { ...NO_LOCK, release: async () => file.release() }
}

function takeServeLock(dataDir: string): FileLock {
  let lock: FileLock | undefined
  try {
    makeDataDir(dataDir)
    lock = takeFileLock(dataDir, 'serve.lock')
  } catch (error) {
    if (error instanceof AppError) throw error
    const reason = errorReason(diskError(error, dataDir))
    throw new AppError('failed', `cannot use the data directory ${dataDir}: ${reason}`, {
      cause: error,
    })
  }
  if (!lock) throw new AppError('failed', `the data directory is in use by another server: ${dataDir}`)
  return lock
}
