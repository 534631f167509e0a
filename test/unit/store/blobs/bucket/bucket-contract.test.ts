import { testBlobs } from '../../../../contract/blobs.ts'
import { blobDamage, openTestBucket } from '../../../../support/bucket/open.ts'

testBlobs('a bucket', async (t) => {
  const { fakeBucket, db, blobs } = await openTestBucket(t)
  return { blobs, db, ...blobDamage(fakeBucket, db) }
})
