// Contents in a folder that nodes share, and in a bucket, with rows of PostgreSQL.

import { truncateSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import { blobPath } from '../../../src/store/blobs/place.ts'
import { openSharedFolder } from '../../../src/store/blobs/shared-folder.ts'
import { atomically, type Engine } from '../../../src/store/engine.ts'
import { ask } from '../../../src/store/postgres/ask.ts'
import { contentRows } from '../../../src/store/postgres/content-rows.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { testBlobs } from '../../contract/blobs.ts'
import { harmsOf } from '../../support/bucket/open.ts'
import { startPaperBucket } from '../../support/bucket/paper-bucket.ts'
import { postgresSchemaFor } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

let engine: Engine | undefined
after(() => engine?.close())

testBlobs('a shared folder', async (t) => {
  const { db } = await emptied()
  const dir = temporaryDirectory(t)
  const blobs = await openSharedFolder(dir, { rows: contentRows(db), mark: { hold: async () => {} } })
  return {
    blobs,
    atomically: (work) => atomically(db, work),
    async damage(sha256) {
      const file = await open(blobPath(dir, sha256), 'r+')
      const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 5)
      await file.write(Buffer.from([(buffer[0] ?? 0) ^ 1]), 0, 1, 5)
      await file.close()
    },
    cut: async (sha256) => truncateSync(blobPath(dir, sha256), 9),
    unfinished: () => readdir(join(dir, 'tmp')),
  }
})

testBlobs('a bucket with rows of PostgreSQL', async (t) => {
  const { db, clock } = await emptied()
  const rows = contentRows(db)
  const paper = await startPaperBucket(t)
  const { endpoint, region, bucket, credentials } = paper
  const address = { endpoint, region, bucket, credentials, pathStyle: true, prefix: '' }
  const blobs = await openBucket({ ...address, clock }, rows)
  t.after(() => blobs.close())
  return { blobs, atomically: (work) => atomically(db, work), ...harmsOf(paper, rows) }
})

/** One database for all of them, each of which begins with nothing in it. */
async function emptied(): Promise<Engine> {
  engine ??= await openPostgres(await postgresSchemaFor())
  for (const table of ['contents', 'removed_objects']) await ask(engine.db, `delete from ${table}`)
  return engine
}
