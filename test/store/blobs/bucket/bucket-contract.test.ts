import { testBlobs } from '../../../contract/blobs.ts'
import { harmsOf, openTestBucket } from '../../../support/bucket/open.ts'

testBlobs('a bucket', async (t) => {
  const { paper, db, rows, blobs } = await openTestBucket(t)
  return { blobs, atomically: (work) => db.transaction().execute(work), ...harmsOf(paper, rows) }
})
