// A bucket over the fake S3 store, with rows in a database of its own.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { type BucketSettings, openBucket } from '../../../src/store/blobs/bucket/bucket.ts'
import { findObject } from '../../../src/store/documents/blob-rows.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { temporaryDatabase, temporaryDirectory } from '../temporary.ts'
import { type FakeBucket, startFakeBucket } from './fake-bucket.ts'

export const BUCKET_DAY = new Date('2026-03-24T12:00:00.000Z')

export async function openTestBucket(
  t: TestContext,
  settings: Partial<BucketSettings> = {},
  dataDir = temporaryDirectory(t),
) {
  const fakeBucket = await startFakeBucket(t)
  const db = temporaryDatabase(t, dataDir)
  const { endpoint, region, bucket, credentials } = fakeBucket
  const address = { endpoint, region, bucket, credentials, pathStyle: true, prefix: 'of/cambista' }
  const blobs = await openBucket({ ...address, clock: () => BUCKET_DAY, ...settings }, db)
  t.after(() => blobs.close())
  const removedObjects = async () => {
    const rows = await db.selectFrom('removed_objects').select('object').execute()
    return rows.map(({ object }) => object)
  }
  return { fakeBucket, db, removed: removedObjects, blobs }
}

/** Damages of a disk or a network to a blob, for the contract. */
export function blobDamage(fakeBucket: FakeBucket, db: WriteDb) {
  const storedObject = async (sha256: string) => {
    const object = fakeBucket.objects.get((await findObject(db, sha256)) ?? '')
    assert.ok(object)
    return object
  }
  return {
    async damage(sha256: string) {
      const { bytes } = await storedObject(sha256)
      bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
    },
    async cut(sha256: string) {
      const object = await storedObject(sha256)
      object.bytes = object.bytes.subarray(0, 9)
    },
    unfinished: async () => [...fakeBucket.uploads.keys()],
  }
}
