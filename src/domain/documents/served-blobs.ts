// Opens the blobs of documents for a server. Removes leftovers of a crash from a data directory; a shared store is
// probed.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { BlobFs, FolderOptions } from '../../store/blobs/folder.ts'
import { type BlobStore, openBlobStore } from '../../store/blobs/open-blobs.ts'
import type { Engine } from '../../store/engine.ts'
import type { StorageConfig } from '../../store/storage-config.ts'
import { collectGarbage, logMoves } from './gc.ts'
import { settleLostBlobs } from './regained-blobs.ts'

// Rates need no blobs, so an unavailable store does not prevent the start of a node.
const CHECK_MS = 10_000

type ServedOptions = Pick<FolderOptions, 'onFailure'> & {
  log: Log
  fs?: BlobFs | undefined
  collects: boolean
}

/**
 * Opens the blobs. The caller has the serve lock, if there is one. `collects`: leftovers of a crash are removed.
 * @throws AppError `failed` for a bucket that must not be used
 */
export async function openServedBlobs(
  place: Pick<StorageConfig, 'dataDir' | 'blobs'>,
  engine: Pick<Engine, 'kind' | 'db' | 'clock'>,
  { log, fs, collects, onFailure }: ServedOptions,
): Promise<BlobStore> {
  const blobStore = await openBlobStore(place, engine, fs, onFailure)
  try {
    if (blobStore.blobs.keepsRemoved) await check(blobStore, log)
    else if (collects) await removeLeftovers(engine, blobStore, log)
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

/** Removes leftovers of a crash from a data directory. */
async function removeLeftovers(
  { db, clock }: Pick<Engine, 'db' | 'clock'>,
  { blobs }: BlobStore,
  log: Log,
): Promise<void> {
  const gc = { db, clock, blobs, keepRemovedDays: 0, isIdle: true, keepsOld: true }
  const result = await collectGarbage(gc, undefined, new AbortController().signal)
  const { unfinished: temporary, removed: unnamed } = result
  if (temporary + unnamed > 0) log.info('swept what a crash left', { temporary, unnamed })
  logMoves(result, log)
  const { restored, lost } = await settleLostBlobs(db, blobs)
  if (restored > 0) log.info('lost contents of documents are there again', { contents: restored })
  if (lost > 0)
    log.warn('contents of documents are lost', { contents: lost, hint: 'cambista doctor names them' })
}
