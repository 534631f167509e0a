// A lock on a data directory (or a backup set) that the kernel frees when the process dies: an exclusive transaction on a
// small SQLite file of its own (decisions 2.10). No pid file, so nothing stale to clean up.

import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { nativeBinding } from './native.ts'

export type Lock = { release(): void }

/** Takes the lock, or returns undefined when somebody holds it; never waits. */
export function takeLock(
  dataDir: string,
  name: 'sync.lock' | 'serve.lock' | 'backup.lock',
): Lock | undefined {
  const path = join(dataDir, name)
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const sqlite = new Sqlite(path, { timeout: 0, nativeBinding: nativeBinding(dataDir) })
  try {
    sqlite.exec('begin exclusive')
  } catch (error) {
    sqlite.close()
    if (error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')) return undefined
    throw error
  }
  return { release: () => sqlite.close() }
}
