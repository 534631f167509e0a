// Starts a server over a data directory on a full disk. A server without room only reads. Room makes it start anew,
// since the start writes too.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { isDiskFull } from '../../runtime/storage-error.ts'
import { giveUpBallast } from '../../store/ballast.ts'
import { canWriteRoom, hasFreeSpace } from '../../store/disk-room.ts'
import { DATABASE_FILE } from '../../store/sqlite/database.ts'

type DataDir = { dataDir: string; log: Log }
type Closable = { close(): Promise<void> }

/** A server that may be replaced by one that writes. */
export type Replaceable<Server> = Closable & { current(): Server }

const ROOM_EVERY_MS = 5000

/**
 * Starts a server, or one that only reads. A new database and a pending migration need room.
 * @throws the error of `start`
 */
export async function startWithRoom<Server extends Closable>(
  { dataDir, log }: DataDir,
  start: (onlyReads: boolean) => Promise<Server>,
): Promise<Replaceable<Server>> {
  const stop = new AbortController()
  let { server, onlyReads } = await startAsPossible({ dataDir, log }, start)
  const replace = async () => {
    try {
      await server.close()
      ;({ server, onlyReads } = await startAsPossible({ dataDir, log }, start))
      if (!onlyReads) log.warn('there is room on the disk again: the server writes')
    } catch (error) {
      log.error('the server cannot start again: tried again in 5 seconds', { reason: errorReason(error) })
    }
  }
  const waitForRoom = async () => {
    log.error('the disk is full: the server only reads until there is room', { dir: dataDir })
    while (onlyReads) {
      await wait(ROOM_EVERY_MS, undefined, { signal: stop.signal }).catch(() => {}) // closed
      if (stop.signal.aborted) return
      const isFree = await canWriteRoom(dataDir).catch(() => false) // a failing disk has no room
      if (isFree) await replace()
    }
  }
  const waiting = onlyReads ? waitForRoom() : undefined
  return {
    current: () => server,
    async close() {
      stop.abort()
      await waiting
      await server.close()
    },
  }
}

async function startAsPossible<Server>(
  { dataDir, log }: DataDir,
  start: (onlyReads: boolean) => Promise<Server>,
): Promise<{ server: Server; onlyReads: boolean }> {
  const startToWrite = async () => ({ server: await start(false), onlyReads: false })
  if (!existsSync(join(dataDir, DATABASE_FILE))) return startToWrite()
  let isFree = await hasFreeSpace(dataDir)
  if (!isFree && giveUpBallast(dataDir)) {
    logBallast(dataDir, log)
    isFree = await hasFreeSpace(dataDir)
  }
  const failure = isFree
    ? await startToWrite().catch((error: unknown) => {
        if (!isDiskFull(error)) throw error
        return { error }
      })
    : undefined
  if (failure && 'server' in failure) return failure
  try {
    return { server: await start(true), onlyReads: true }
  } catch {
    if (failure) throw failure.error
    return startToWrite() // its error names the cause, such as a pending migration
  }
}

export function logBallast(dataDir: string, log: Log): void {
  log.warn('the disk is full: its ballast is given up', { dir: dataDir, hint: 'make room on it' })
}
