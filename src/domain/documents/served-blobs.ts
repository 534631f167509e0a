// Opens the blobs of documents for a server, and probes a shared store.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BlobFs, FolderOptions } from '../../store/blobs/folder.ts'
import { type BlobPlace, type BlobStore, openBlobStore } from '../../store/blobs/open-blobs.ts'
import type { Engine } from '../../store/engine.ts'
import { logGarbage, restoreMoved } from './gc.ts'

// Rates need no blobs, so an unavailable store does not prevent the start of a node.
const CHECK_MS = 10_000

type ServedOptions = Pick<FolderOptions, 'onFailure'> & {
  log: Log
  fs?: BlobFs | undefined
  /** Contents that a later database names again are moved back first. */
  restores: boolean
}

/** Opens the blobs. @throws AppError `failed` for a bucket that must not be used */
export async function openServedBlobs(
  place: BlobPlace,
  engine: Pick<Engine, 'kind' | 'db' | 'clock'>,
  { log, fs, restores, onFailure }: ServedOptions,
): Promise<BlobStore> {
  const blobStore = await openBlobStore(place, engine, fs, onFailure)
  try {
    const { blobs } = blobStore
    if (blobs.keepsRemoved) await check(blobStore, log)
    else if (restores) logGarbage(await restoreMoved({ ...engine, blobs }), log)
    return blobStore
  } catch (error) {
    blobStore[Symbol.dispose]()
    throw error
  }
}

async function check(blobStore: BlobStore, log: Log): Promise<void> {
  const silence = wait(CHECK_MS, undefined, { ref: false }).then(() => {
    throw new AppError('unavailable', 'it does not answer')
  })
  try {
    await Promise.race([blobStore.check(), silence])
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error
    log.warn('contents of documents cannot be reached', { reason: errorReason(error) })
  }
}
