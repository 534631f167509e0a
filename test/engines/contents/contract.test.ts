// Blobs in a folder that nodes share, and in a bucket, with rows of PostgreSQL.

import { truncateSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after } from 'node:test'
import { openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { openBlobFolder } from '../../../src/store/blobs/folder.ts'
import type { Engine } from '../../../src/store/engine.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { rawQuery } from '../../../src/store/postgres/raw-query.ts'
import { testBlobs } from '../../contract/blobs.ts'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { blobDamage } from '../../support/bucket/open.ts'
import { createPostgresSchema } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

let engine: Engine | undefined
after(() => engine?.close())

testBlobs('a shared folder', async (t) => {
  const { db } = await openEmptyEngine()
  const dir = temporaryDirectory(t)
  const reopen = () => openBlobFolder(dir, undefined, { storeId: { verify: async () => {} } })
  return {
    blobs: await reopen(),
    reopen,
    db,
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
  const { db, clock } = await openEmptyEngine()
  const fakeBucket = await startFakeBucket(t)
  const { endpoint, region, bucket, credentials } = fakeBucket
  const address = { endpoint, region, bucket, credentials, pathStyle: true, prefix: '' }
  const blobs = await openBucket({ ...address, clock }, db)
  t.after(() => blobs.close())
  return { blobs, db, ...blobDamage(fakeBucket, db) }
})

/** The database of all tests, emptied. */
async function openEmptyEngine(): Promise<Engine> {
  engine ??= await openPostgres(await createPostgresSchema())
  for (const table of ['contents', 'removed_objects']) await rawQuery(engine.db, `delete from ${table}`)
  await rawQuery(engine.db, 'update meta set contents_listed_at = null')
  return engine
}
