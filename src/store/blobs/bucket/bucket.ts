// Blobs as objects of a bucket, in any S3-compatible store: <prefix>/<yyyy>/<mm>/<dd>/<upload>-<number>. The name is
// chosen before the hash is known, so rows map blobs to objects. The rows also order uploads and deletions of equal
// blobs. An object is written once, and never again under the same name.

import { createHash, randomUUID } from 'node:crypto'
import { AppError } from '../../../runtime/errors.ts'
import { createSemaphore } from '../../../runtime/semaphore.ts'
import type { Clock } from '../../../values/dates.ts'
import { splitBatches } from '../../batches.ts'
import type { UploadedBlob } from '../../documents/blob-info.ts'
import { findObject, insertReferences, ROWS_AT_ONCE } from '../../documents/blob-rows.ts'
import type { BucketConfig } from '../../storage-config.ts'
import type { ReadDb, WriteDb } from '../../tables.ts'
import { createBlobBatch } from '../batch.ts'
import type { Blobs } from '../blobs.ts'
import { removeObjects } from '../removal.ts'
import type { StoreIdFiles } from '../store-id.ts'
import { startError } from './bucket-errors.ts'
import type { BucketClient, BucketOptions } from './client.ts'
import { createBucketReader, objectChunks } from './reader.ts'
import { createObjectWriter, type PartPool } from './writer.ts'

export type Bucket = Blobs & {
  /**
   * Checks that objects can be listed, written and removed.
   * @throws AppError `failed` when the bucket denies it, `unavailable` when it does not answer
   */
  check(): Promise<void>
  /** Objects with store ids. */
  storeIds: StoreIdFiles
  close(): void
}

export type BucketSettings = BucketOptions & Pick<BucketConfig, 'prefix'> & { clock: Clock }

// Small blobs that are sent in parallel while requests are read.
const SMALL_AT_ONCE = 16
// The garbage collection removes objects without a row after 24 hours.
const LONGEST_UPLOAD_MS = 12 * 3_600_000
const STORE_ID_BYTES = 200 // upper limit of the id and the lineage
const NAME = /^\d{4}\/\d\d\/\d\d\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+$/

/** Opens a bucket without a request to it. Loads its client. `db` has the rows of the objects. */
export async function openBucket({ prefix, clock, ...options }: BucketSettings, db: ReadDb): Promise<Bucket> {
  const { createBucketClient } = await import('./client.ts')
  const client = createBucketClient(options)
  const pool: PartPool = []
  const semaphore = createSemaphore(SMALL_AT_ONCE)
  const root = prefix === '' ? '' : `${prefix}/`

  // The operator may have other objects in the bucket.
  const isOurs = (key: string) => key.startsWith(root) && NAME.test(key.slice(root.length))
  const requireOurs = (key: string) => {
    if (!isOurs(key)) throw new TypeError('not the name of an object of ours')
    return key
  }

  const objects: Bucket = {
    ...createBucketReader(client, (sha256) => findObject(db, sha256)),
    keepsRemoved: true,
    addReferences: (trx, blobs) => addReferences(trx, [...blobs], clock()),
    beginBatch(memory) {
      const startedAt = clock().toISOString()
      const path = `${root}${startedAt.slice(0, 10).replaceAll('-', '/')}/${randomUUID()}`
      const begin = async (key: string) => createObjectWriter(client, key, pool)
      return createBlobBatch(
        { path, begin, unlink: client.remove, commitFiles: { startedAt }, semaphore },
        memory,
      )
    },
    async *list() {
      for await (const key of client.list(root)) if (isOurs(key)) yield key
    },
    findModifiedTime: async (key) => (await client.head(requireOurs(key)))?.modified,
    async inspect(key) {
      const head = await client.head(requireOurs(key))
      if (!head) return undefined
      const hash = createHash('sha256')
      for await (const chunk of objectChunks(client, key, { start: 0, end: head.size - 1 }))
        hash.update(chunk)
      return { sha256: hash.digest('hex'), size: head.size }
    },
    async remove(key) {
      if (!(await client.head(requireOurs(key)))) return false
      await client.remove(key)
      return true
    },
    removeFree: (db, work) => removeObjects(db, objects, work),
    async removeUnfinished(before) {
      let count = 0
      for await (const { key, upload, initiated } of client.listUploads(root)) {
        if (!isOurs(key) || (before && initiated >= before)) continue
        await client.abort(key, upload)
        count += 1
      }
      return count
    },
    check: () => checkBucket(client, root, options.bucket),
    storeIds: (name) => ({
      location: `object ${root}${name}`,
      async read() {
        const bytes = await client.read(root + name, { start: 0, end: STORE_ID_BYTES - 1 })
        return bytes?.toString().trim()
      },
      write: (text) => client.put(root + name, Buffer.from(`${text}\n`)),
    }),
    close: client.close,
  }
  return objects
}

async function addReferences(trx: WriteDb, blobs: UploadedBlob[], now: Date): Promise<boolean> {
  const tooOld = new Date(now.getTime() - LONGEST_UPLOAD_MS).toISOString()
  if (blobs.some(({ startedAt = '' }) => startedAt < tooOld)) {
    throw new AppError('unavailable', 'The upload took more than 12 hours: send it again')
  }
  blobs.sort((one, other) => (one.sha256 < other.sha256 ? -1 : 1))
  for (const batch of splitBatches(blobs, ROWS_AT_ONCE)) await insertReferences(trx, batch, now.toISOString())
  return true
}

async function checkBucket(client: BucketClient, root: string, bucket: string): Promise<void> {
  const key = `${root}probe-${randomUUID()}`
  try {
    await client.list(root).next()
    await client.put(key, Buffer.from('cambista asks whether it may write here'))
    await client.remove(key)
  } catch (error) {
    throw startError(error, bucket)
  }
}
