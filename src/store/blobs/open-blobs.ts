// Opens the blob store: a folder of one machine, or a folder or a bucket that several nodes share. The client of a
// bucket is loaded only for a bucket.

import { join } from 'node:path'
import { AppError } from '../../runtime/errors.ts'
import type { Clock } from '../../values/dates.ts'
import { hasBlobs } from '../documents/blob-rows.ts'
import type { Engine } from '../engine.ts'
import type { BucketConfig, StorageConfig } from '../storage-config.ts'
import type { ReadDb } from '../tables.ts'
import { type BlobReader, createBlobReader } from './blob-reader.ts'
import type { Blobs } from './blobs.ts'
import { type Bucket, openBucket } from './bucket/bucket.ts'
import { BLOB_FOLDER, type BlobFs, type FolderOptions, folderStoreIds, openBlobFolder } from './folder.ts'
import { openStoreId, type StoreId } from './store-id.ts'

export type BlobStore = Disposable & {
  blobs: Blobs
  /**
   * Checks that blobs can be read and written, and that the store belongs to this database.
   * @throws AppError `failed`
   */
  check(): Promise<void>
  /** Id and lineage of the database in a store that nodes share (store-id.ts). */
  lineage?:
    | Pick<
        StoreId,
        'check' | 'settleLineage' | 'findsEarlierCounters' | 'findGeneration' | 'writeLineage' | 'becomeCopy'
      >
    | undefined
  /** Explains why the store does not belong to the database; undefined: it does, or no node has started yet. */
  findFault(): Promise<string | undefined>
}

/** Place of the blobs. */
export type BlobPlace = Pick<StorageConfig, 'dataDir' | 'blobs' | 'outgoing'>

type Node = Pick<Engine, 'kind' | 'db' | 'clock' | 'lineage'>

/** Opens a store without a request to it. @throws AppError `failed` when the database has blobs of the other kind */
export async function openBlobStore(
  { dataDir, blobs: place, outgoing }: BlobPlace,
  { kind, db, clock, lineage }: Node,
  fs?: BlobFs,
  onFailure?: FolderOptions['onFailure'],
): Promise<BlobStore> {
  if (place !== undefined && 'bucket' in place) {
    const bucket = await openOwnBucket({ ...place, outgoing }, db, clock)
    const storeId = openStoreId(db, bucket.storeIds, lineage)
    const blobs: Blobs = {
      ...bucket,
      async addReferences(trx, added) {
        await storeId.ensureVerified(trx).catch((cause: unknown) => {
          throw new AppError('unavailable', 'The bucket of documents cannot be used: try again later', {
            cause,
          })
        })
        return bucket.addReferences(trx, added)
      },
    }
    return {
      ...{ blobs, lineage: storeId },
      findFault: () => storeId.findFault(),
      async check() {
        await bucket.check()
        await storeId.check()
      },
      [Symbol.dispose]: bucket.close,
    }
  }
  const folder = place?.folder ?? join(dataDir, BLOB_FOLDER)
  const storeId = kind === 'sqlite' ? undefined : openStoreId(db, folderStoreIds(folder, fs), lineage)
  if (storeId) await refuseBucket(db, folder)
  return {
    blobs: await openBlobFolder(folder, fs, { clock, storeId, onFailure }),
    lineage: storeId,
    check: async () => storeId?.check(),
    findFault: async () => storeId?.findFault(),
    [Symbol.dispose]() {},
  }
}

/** Opens blobs for a command that only reads. */
export async function openBlobReader(
  { dataDir, blobs: place, outgoing }: BlobPlace,
  { kind, db, clock }: Pick<Engine, 'kind' | 'clock'> & { db: ReadDb },
): Promise<Disposable & { blobs: BlobReader }> {
  if (place !== undefined && 'bucket' in place) {
    const blobs = await openOwnBucket({ ...place, outgoing }, db, clock)
    return { blobs, [Symbol.dispose]: blobs.close }
  }
  const folder = place?.folder ?? join(dataDir, BLOB_FOLDER)
  if (kind !== 'sqlite') await refuseBucket(db, folder)
  return { blobs: createBlobReader(folder), [Symbol.dispose]() {} }
}

/** @throws AppError `failed` when the database has blobs in a folder */
async function openOwnBucket(
  place: BucketConfig & Pick<BlobPlace, 'outgoing'>,
  db: ReadDb,
  clock: Clock,
): Promise<Bucket> {
  await refuseOther(db, 'files', `in a folder, and not in the bucket ${place.bucket}`)
  return openBucket({ ...bucketOptions(place), clock }, db)
}

function refuseBucket(db: ReadDb, folder: string): Promise<void> {
  return refuseOther(db, 'objects', `in a bucket, and not in the folder ${folder}`)
}

async function refuseOther(db: ReadDb, kind: 'objects' | 'files', where: string): Promise<void> {
  if (await hasBlobs(db, kind)) throw new AppError('failed', `the contents of this database are ${where}`)
}

/** Adds path-style addresses for a store other than AWS: the name of the bucket is in the path. */
function bucketOptions<Place extends BucketConfig>(place: Place) {
  return { ...place, pathStyle: place.endpoint !== undefined }
}
