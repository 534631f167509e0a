// Lock on a data directory or a backup set: an exclusive transaction on a small SQLite file (decisions#sync-runs). The
// kernel unlocks it when the process dies, so no stale lock remains, unlike with a pid file.

import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isBusy } from '../../runtime/storage-error.ts'
import { nativeBinding } from './native.ts'

export type FileLock = { release(): void }

// Without a timeout two simultaneous attempts can both fail, because each has a part of SQLite's lock.
const SETTLED_WITHIN_MS = 20

/** Takes the lock; undefined: another process has it. */
export function takeFileLock(
  dataDir: string,
  name: 'sync.lock' | 'serve.lock' | 'backup.lock',
): FileLock | undefined {
  const path = join(dataDir, name)
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const sqlite = new Sqlite(path, { timeout: SETTLED_WITHIN_MS, nativeBinding: nativeBinding(dataDir) })
  try {
    sqlite.pragma('journal_mode = MEMORY') // a journal file would need room on a full disk
    sqlite.exec('begin exclusive')
  } catch (error) {
    sqlite.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { release: () => sqlite.close() }
}

/** Returns whether a process has the lock. Creates no lock file if there is none. */
export function isLocked(dataDir: string, name: Parameters<typeof takeFileLock>[1]): boolean {
  if (!existsSync(join(dataDir, name))) return false
  const lock = takeFileLock(dataDir, name)
  lock?.release()
  return lock === undefined
}
