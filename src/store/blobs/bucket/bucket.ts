// Contents as objects of a bucket, in any S3-compatible store: <prefix>/<yyyy>/<mm>/<dd>/<upload>-<number>. The name is given
// before the hash is known, so rows say which object has which content, and they order uploads and deletions of equal ones.
// An object is written once, and never again under the same name.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../dates.ts'
import { createSemaphore } from '../../../semaphore.ts'
import { createBlobBatch } from '../batch.ts'
import type { Blobs } from '../blobs.ts'
import type { BucketOptions } from './client.ts'
import { createBucketReader } from './reader.ts'
import { createObjectWriter, type PartPool } from './writer.ts'

/**
 * The rows that name objects. `claim` writes those of an upload where a content has none yet, or one that is known to be lost;
 * where it has one, the upload's own object is one to be removed. `release` makes the object of a content one to be removed.
 * Neither asks the bucket: objects go later, for a database that is put back to an earlier moment names them again.
 */
export type ObjectRows = Pick<Blobs, 'claim' | 'release'> & {
  objectOf(sha256: string): Promise<string | undefined>
}

export type BucketSettings = BucketOptions & {
  /** What the names of objects begin with, without a slash at its end; nothing: the whole bucket is ours. */
  prefix: string
  clock: Clock
}

// As many contents of a document or less each as are sent beside the reading.
const SMALL_AT_ONCE = 16
const NAME = /^\d{4}\/\d\d\/\d\d\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+$/

/** Asks the bucket nothing yet. Its client is loaded here, for those that use a bucket. */
export async function openBucket(
  { prefix, clock, ...options }: BucketSettings,
  rows: ObjectRows,
): Promise<Blobs & { close(): void }> {
  const { createBucketClient } = await import('./client.ts')
  const client = createBucketClient(options)
  const pool: PartPool = []
  const semaphore = createSemaphore(SMALL_AT_ONCE)
  const root = prefix === '' ? '' : `${prefix}/`

  // The operator may have other things in the bucket.
  const isOurs = (key: string) => key.startsWith(root) && NAME.test(key.slice(root.length))
  const checked = (key: string) => {
    if (!isOurs(key)) throw new TypeError('not the name of an object of ours')
    return key
  }

  return {
    ...createBucketReader(client, rows.objectOf),
    claim: rows.claim,
    release: rows.release,
    beginBatch(memory) {
      const path = `${root}${clock().toISOString().slice(0, 10).replaceAll('-', '/')}/${randomUUID()}`
      const begin = async (key: string) => createObjectWriter(client, key, pool)
      return createBlobBatch({ path, begin, unlink: client.remove, place: undefined, semaphore }, memory)
    },
    async *list() {
      for await (const key of client.list(root)) if (isOurs(key)) yield key
    },
    writtenAt: async (key) => (await client.head(checked(key)))?.modified,
    async remove(key) {
      if (!(await client.head(checked(key)))) return false
      await client.remove(key)
      return true
    },
    async removeUnfinished(before) {
      let removed = 0
      for await (const { key, upload, initiated } of client.listUploads(root)) {
        if (!isOurs(key) || (before && initiated >= before)) continue
        await client.abort(key, upload)
        removed += 1
      }
      return removed
    },
    close: client.close,
  }
}
