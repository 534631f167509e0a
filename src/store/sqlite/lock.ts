// A lock on a data directory (or a backup set) that the kernel frees when the process dies: an exclusive transaction on a
// small SQLite file of its own (decisions 2.10). No pid file, so nothing stale to clean up.

import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isBusy } from '../../storage-error.ts'
import { nativeBinding } from './native.ts'

export type FileLock = { release(): void }

// Without it two that ask in the same instant may both be refused: each has a foot in the door.
const SETTLED_WITHIN_MS = 20

/** Takes the lock, or returns undefined when it is held. */
export function takeFileLock(
  dataDir: string,
  name: 'sync.lock' | 'serve.lock' | 'backup.lock',
): FileLock | undefined {
  const path = join(dataDir, name)
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const sqlite = new Sqlite(path, { timeout: SETTLED_WITHIN_MS, nativeBinding: nativeBinding(dataDir) })
  try {
    sqlite.exec('begin exclusive')
  } catch (error) {
    sqlite.close()
    if (isBusy(error)) return undefined
    throw error
  }
  return { release: () => sqlite.close() }
}
