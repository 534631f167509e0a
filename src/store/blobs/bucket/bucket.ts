// Contents as objects of a bucket, in any S3-compatible store: <prefix>/<yyyy>/<mm>/<dd>/<upload>-<number>. The name is given
// before the hash is known, so rows say which object has which content, and they order uploads and deletions of equal ones.
// An object is written once, and never again under the same name.

import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'
import type { Clock } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import { createSemaphore } from '../../../semaphore.ts'
import type { ContentRows } from '../../contents.ts'
import { createBlobBatch } from '../batch.ts'
import type { Blobs } from '../blobs.ts'
import { MARK, type MarkedStore } from '../mark.ts'
import type { BucketOptions } from './client.ts'
import { startError } from './errors.ts'
import { createBucketReader } from './reader.ts'
import { createObjectWriter, type PartPool } from './writer.ts'

/** The rows that name objects. What they make one to be removed goes later. */
export type ObjectRows = Pick<ContentRows, 'objectOf' | 'claim' | 'release'>

export type Bucket = Blobs & {
  /**
   * Asks whether objects may be listed, written and removed.
   * @throws AppError `failed` when that is refused, `unavailable` when the bucket does not answer
   */
  check(): Promise<void>
  /** The object that says which database has its contents here. */
  marked: MarkedStore
  close(): void
}

export type BucketSettings = BucketOptions & {
  /** What the names of objects begin with, without a slash at its end; nothing: the whole bucket is ours. */
  prefix: string
  clock: Clock
}

// As many contents of a document or less each as are sent beside the reading.
const SMALL_AT_ONCE = 16
// When it is 24 hours old the janitor takes an object without a row for one that nobody comes for.
const LATEST_MS = 12 * 3_600_000
const MARK_BYTES = 100 // and it has fewer
const NAME = /^\d{4}\/\d\d\/\d\d\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+$/

/** Asks the bucket nothing yet. Its client is loaded here, for those that use a bucket. */
export async function openBucket(
  { prefix, clock, ...options }: BucketSettings,
  rows: ObjectRows,
): Promise<Bucket> {
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
    removesLater: true,
    async claim(trx, contents) {
      const claimed = [...contents]
      const tooOld = new Date(clock().getTime() - LATEST_MS).toISOString()
      if (claimed.some(({ begunAt = '' }) => begunAt < tooOld)) {
        throw new AppError('unavailable', 'The upload took more than 12 hours: send it again')
      }
      await rows.claim(trx, claimed)
      return true
    },
    release: rows.release,
    beginBatch(memory) {
      const begunAt = clock().toISOString()
      const path = `${root}${begunAt.slice(0, 10).replaceAll('-', '/')}/${randomUUID()}`
      const begin = async (key: string) => createObjectWriter(client, key, pool)
      return createBlobBatch({ path, begin, unlink: client.remove, place: { begunAt }, semaphore }, memory)
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
    async check() {
      const key = `${root}probe-${randomUUID()}`
      try {
        await client.list(root).next()
        await client.put(key, Buffer.from('cambista asks whether it may write here'))
        await client.remove(key)
      } catch (error) {
        throw startError(error, options.bucket)
      }
    },
    marked: {
      place: `object ${root}${MARK}`,
      async read() {
        const bytes = await client.get(root + MARK, { start: 0, end: MARK_BYTES - 1 })
        return bytes && (await text(bytes)).trim()
      },
      write: (mark) => client.put(root + MARK, Buffer.from(`${mark}\n`)),
    },
    close: client.close,
  }
}
