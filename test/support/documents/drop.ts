// Drops references to blobs, as a deletion of documents does.

import { removeDropped } from '../../../src/domain/documents/removal.ts'
import type { Blobs } from '../../../src/store/blobs/blobs.ts'
import { dropReferences, lockBlobRows } from '../../../src/store/documents/blob-rows.ts'
import { atomically } from '../../../src/store/engine.ts'
import type { WriteDb } from '../../../src/store/tables.ts'

/** Drops a reference to a blob that no attachment uses; true if it had one. */
export async function dropReference(db: WriteDb, sha256: string): Promise<boolean> {
  const hashes = await atomically(db, async (trx) => {
    await lockBlobRows(trx, [sha256])
    return dropReferences(trx, [sha256], new Date().toISOString())
  })
  return hashes.length > 0
}

/** Drops the reference and removes the blob, unless its store retains it for some days. */
export async function dropBlob(db: WriteDb, blobs: Blobs, sha256: string): Promise<void> {
  if (await dropReference(db, sha256)) await removeDropped(db, blobs, [sha256])
}
