// A bucket over the stand-in, with rows in a database of its own.

import type { TestContext } from 'node:test'
import { type BucketSettings, openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import { temporaryDatabase, temporaryDirectory } from '../temporary.ts'
import { startPaperBucket } from './paper-bucket.ts'
import { openBucketRows } from './rows.ts'

export const BUCKET_DAY = new Date('2026-03-24T12:00:00.000Z')

export async function openTestBucket(
  t: TestContext,
  settings: Partial<BucketSettings> = {},
  dataDir = temporaryDirectory(t),
) {
  const paper = await startPaperBucket(t)
  const db = temporaryDatabase(t, dataDir)
  const rows = await openBucketRows(db)
  const { endpoint, region, bucket, credentials } = paper
  const address = { endpoint, region, bucket, credentials, pathStyle: true, prefix: 'of/cambista' }
  const blobs = await openBucket({ ...address, clock: () => BUCKET_DAY, ...settings }, rows)
  t.after(() => blobs.close())
  return { paper, db, rows, blobs }
}
