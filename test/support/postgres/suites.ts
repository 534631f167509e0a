// Which tests are run a second time, on PostgreSQL: `node test/support/postgres/suites.ts` prints their files. A single test
// of these that is about SQLite is marked with `ofSqlite` (../temporary.ts).

import { globSync } from 'node:fs'
import { join } from 'node:path'

const TEST = join(import.meta.dirname, '../..')
const FOLDERS = ['store', 'sync', 'domain', 'hooks', 'api']

/** Files and folders that are SQLite's alone, or ask no database, each with the reason. */
export const LEFT_OUT: Record<string, string> = {
  'store/sqlite/': 'is SQLite itself',
  'store/postgres/': 'asks no database',
  'store/blobs/': 'is of contents, wherever the rows are',
  'domain/backup/': 'is of backup sets, which only a data directory has',
  'domain/doctor/': 'is of the doctor of a data directory',
  'api/documents/full-disk.test.ts': 'is of the disk under the file of the database',
  'api/documents/restored.test.ts': 'is of restored backup sets',
  'api/status/monitoring.test.ts': 'waits for a backup',
  'api/serve-lock.test.ts': 'is of one server a data directory',
  'api/upgrade.test.ts': 'begins with a file of an older schema',
}

/** Names of files, from the folder of the tests. */
export function filesForPostgres(): string[] {
  const leftOut = Object.keys(LEFT_OUT)
  return FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: TEST }))
    .filter((file) => !leftOut.some((name) => file.startsWith(name)))
    .sort()
}

if (import.meta.main)
  process.stdout.write(
    filesForPostgres()
      .map((file) => `test/${file}`)
      .join('\n'),
  )
