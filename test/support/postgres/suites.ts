// Lists the tests that run a second time, on PostgreSQL. A single test that is about SQLite has `ofSqlite` (../temporary.ts).

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { LONG } from '../../faults/scale.ts'

const TEST = join(import.meta.dirname, '../..')
const FOLDERS = ['unit/store', 'unit/sync', 'unit/domain', 'api']

/** Files and folders that are about SQLite alone, or query no database, each with its reason. */
export const LEFT_OUT: Record<string, string> = {
  'unit/store/sqlite/': 'is SQLite itself',
  'unit/store/postgres/': 'asks no database',
  'unit/store/blobs/': 'is of contents, wherever the rows are',
  'unit/domain/mail/mail-key.test.ts': 'asks no database',
  'unit/domain/mail/reader.test.ts': 'asks no database',
  'unit/domain/operations/backup/': 'is of backup sets, which only a data directory has',
  'unit/domain/documents/uploads-to-a-bucket.test.ts': 'has tables of its own for contents',
  'unit/domain/operations/earlier-database.test.ts': 'is of a data directory',
  'unit/domain/operations/doctor/': 'is of the doctor of a data directory',
  'api/documents/full-disk.test.ts': 'is of the disk under the file of the database',
  'api/web/full-disk.test.ts': 'is of the disk under the file of the database',
  'api/documents/restored.test.ts': 'is of restored backup sets',
  'api/status/monitoring.test.ts': 'waits for a backup',
  'api/serve-lock.test.ts': 'is of one server a data directory',
}

/** Files that run on PostgreSQL in the long version alone: they depend little on the database. */
export const LONG_ALONE: Record<string, string> = {
  'api/caching.test.ts': 'headers',
  'api/compat/': 'other shapes of the same answers',
  'api/compression.test.ts': 'headers',
  'api/connections.test.ts': 'sockets',
  'api/cors.test.ts': 'headers',
  'api/documents/downloads.test.ts': 'bodies of contents',
  'api/documents/sending/body.test.ts': 'forms of a body',
  'api/documents/sending/form.test.ts': 'forms of a body',
  'api/documents/sending/ways.test.ts': 'forms of a body',
  'api/documents/storage-faults.test.ts': 'faults of the folder of contents',
  'api/documents/upload-bodies.test.ts': 'bodies that are refused',
  'api/documents/upload-limits.test.ts': 'bodies that are refused',
  'api/documents/upload-memory.test.ts': 'memory of bodies',
  'api/lingering.test.ts': 'sockets',
  'api/mcp/credentials.test.ts': 'answers of the same queries',
  'api/mcp/documents.test.ts': 'answers of the same queries',
  'api/mcp/protocol.test.ts': 'a protocol',
  'api/mcp/rates.test.ts': 'answers of the same queries',
  'api/openapi/': 'descriptions',
  'api/outside.test.ts': 'names of the server',
  'api/params.test.ts': 'parameters that are refused',
  'api/pipelining.test.ts': 'sockets',
  'api/providers/': 'schedules of two providers',
  'api/proxy.test.ts': 'headers',
  'api/rates/as-of-stores.test.ts': 'rules of rates, over the same rows',
  'api/rates/convert-batch.test.ts': 'rules of rates, over the same rows',
  'api/rates/every-way.test.ts': 'rules of rates, over the same rows',
  'api/rates/holes.test.ts': 'rules of rates, over the same rows',
  'api/rates/rounded.test.ts': 'rules of rates, over the same rows',
  'api/rates/settled.test.ts': 'rules of rates, over the same rows',
  'api/raw.test.ts': 'sockets',
  'api/status/metrics-numbers.test.ts': 'numbers of the process',
  'api/tls.test.ts': 'sockets',
  'api/unknown-parameters.test.ts': 'parameters that are refused',
  'api/web/assets.test.ts': 'files of the page',
  'api/web/attacks.test.ts': 'headers',
  'api/web/docs.test.ts': 'files of the page',
  'api/web/lifetimes.test.ts': 'a clock',
  'api/web/transport.test.ts': 'headers',
  'unit/sync/bank.test.ts': 'answers of a bank',
  'unit/sync/indicators/run.test.ts': 'decisions of many runs, over the same rows',
  'unit/sync/indicators/unsynchronized.test.ts': 'days that a source leaves out',
  'unit/sync/meter.test.ts': 'a clock',
  'unit/sync/publication.test.ts': 'days of a source',
  'unit/sync/refine.test.ts': 'decisions of many runs, each stored as in run.test.ts',
  'unit/sync/restart.test.ts': 'decisions at a start',
  'unit/sync/scheduler.test.ts': 'a clock',
  'unit/sync/series-unexpected.test.ts': 'answers of a bank',
  'unit/sync/series.test.ts': 'decisions of many runs, each stored as in run.test.ts',
  'unit/sync/windows/accept.test.ts': 'a function',
  'unit/sync/windows/empty-tables.test.ts': 'days that a source leaves out',
  'unit/sync/windows/far-values.test.ts': 'a function',
  'unit/sync/windows/no-gaps.test.ts': 'decisions of many runs, each stored as in run.test.ts',
  'unit/sync/windows/plan.test.ts': 'a function',
  'unit/sync/windows/random-jumps.test.ts': 'decisions of many runs, each stored as in withheld.test.ts',
  'unit/sync/windows/silence.test.ts': 'decisions of many runs, each stored as in run.test.ts',
  'unit/sync/windows/unsynchronized.test.ts': 'days that a source leaves out',
}

/** File names relative to the folder of the tests. */
export function filesForPostgres(): string[] {
  const leftOut = [LEFT_OUT, LONG ? {} : LONG_ALONE].flatMap((names) => Object.keys(names))
  return FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: TEST }))
    .filter((file) => !leftOut.some((name) => file.startsWith(name)))
    .sort()
}
