// A bucket over the stand-in, with rows in a database of its own.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type BucketSettings, openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import type { ContentRows } from '../../../src/store/contents.ts'
import { temporaryDatabase, temporaryDirectory } from '../temporary.ts'
import { type PaperBucket, startPaperBucket } from './paper-bucket.ts'
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

/** What a disk or a fault does to a content, for the contract. */
export function harmsOf(paper: PaperBucket, rows: Pick<ContentRows, 'objectOf'>) {
  const objectOf = async (sha256: string) => {
    const object = paper.objects.get((await rows.objectOf(sha256)) ?? '')
    assert.ok(object)
    return object
  }
  return {
    async damage(sha256: string) {
      const { bytes } = await objectOf(sha256)
      bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
    },
    async cut(sha256: string) {
      const object = await objectOf(sha256)
      object.bytes = object.bytes.subarray(0, 9)
    },
    unfinished: async () => [...paper.uploads.keys()],
  }
}
