import assert from 'node:assert/strict'
import { testBlobs } from '../../../contract/blobs.ts'
import { openTestBucket } from '../../../support/bucket/open.ts'

testBlobs('a bucket', async (t) => {
  const { paper, db, rows, blobs } = await openTestBucket(t)
  const objectOf = async (sha256: string) => {
    const object = paper.objects.get((await rows.objectOf(sha256)) ?? '')
    assert.ok(object)
    return object
  }
  return {
    blobs,
    atomically: (work) => db.transaction().execute(work),
    async damage(sha256) {
      const { bytes } = await objectOf(sha256)
      bytes.writeUInt8(bytes.readUInt8(5) ^ 1, 5)
    },
    async cut(sha256) {
      const object = await objectOf(sha256)
      object.bytes = object.bytes.subarray(0, 9)
    },
    unfinished: async () => [...paper.uploads.keys()],
  }
})
