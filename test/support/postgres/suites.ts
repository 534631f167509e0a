// Which tests are run a second time, on PostgreSQL: `node test/support/postgres/suites.ts` prints their files. A single test
// of these that is about SQLite is marked with `ofSqlite` (../temporary.ts).

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { LONG } from '../../faults/scale.ts'

const TEST = join(import.meta.dirname, '../..')
const FOLDERS = ['store', 'sync', 'domain', 'hooks', 'api']

/** Files and folders that are SQLite's alone, or ask no database, each with the reason. */
export const LEFT_OUT: Record<string, string> = {
  'store/sqlite/': 'is SQLite itself',
  'store/postgres/': 'asks no database',
  'store/blobs/': 'is of contents, wherever the rows are',
  'domain/backup/': 'is of backup sets, which only a data directory has',
  'domain/documents/uploads-to-a-bucket.test.ts': 'has tables of its own for contents',
  'domain/doctor/': 'is of the doctor of a data directory',
  'api/documents/full-disk.test.ts': 'is of the disk under the file of the database',
  'api/documents/restored.test.ts': 'is of restored backup sets',
  'api/status/monitoring.test.ts': 'waits for a backup',
  'api/serve-lock.test.ts': 'is of one server a data directory',
  'api/upgrade.test.ts': 'begins with a file of an older schema',
}

/** What passes on PostgreSQL too, and is run there in the long version alone: nearly all of it is answered from memory. */
export const LONG_ALONE: Record<string, string> = {
  'api/compat/': 'other shapes of the same answers',
  'api/mcp/protocol.test.ts': 'a protocol',
  'api/openapi/': 'descriptions',
  'api/page/assets.test.ts': 'files of the page',
  'api/page/attacks.test.ts': 'headers',
  'api/page/docs.test.ts': 'files of the page',
  'api/page/transport.test.ts': 'headers',
  'api/providers/': 'schedules of two providers',
  'api/documents/upload-memory.test.ts': 'memory of bodies',
  'api/documents/upload-limits.test.ts': 'bodies that are refused',
  'api/documents/upload-bodies.test.ts': 'bodies that are refused',
  'api/caching.test.ts': 'headers',
  'api/compression.test.ts': 'headers',
  'api/connections.test.ts': 'sockets',
  'api/cors.test.ts': 'headers',
  'api/outside.test.ts': 'names of the server',
  'api/params.test.ts': 'parameters that are refused',
  'api/pipelining.test.ts': 'sockets',
  'api/proxy.test.ts': 'headers',
  'api/raw.test.ts': 'sockets',
  'api/tls.test.ts': 'sockets',
  'api/unknown-parameters.test.ts': 'parameters that are refused',
  'sync/accept.test.ts': 'a function',
  'sync/plan.test.ts': 'a function',
  'sync/scheduler.test.ts': 'a clock',
}

/** Names of files, from the folder of the tests. */
export function filesForPostgres(): string[] {
  const leftOut = [LEFT_OUT, LONG ? {} : LONG_ALONE].flatMap((names) => Object.keys(names))
  return FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: TEST }))
    .filter((file) => !leftOut.some((name) => file.startsWith(name)))
    .sort()
}

if (import.meta.main) {
  const files = filesForPostgres().map((file) => `test/${file}`)
  process.stdout.write(`${files.join('\n')}\n`)
}
