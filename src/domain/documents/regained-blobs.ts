// Blobs known to be lost. A row of `lost_contents` records each, until the same bytes exist again. An upload
// brings them, or an administrator who puts the file back.

import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { BlobReader } from '../../store/blobs/blob-reader.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { UploadedBlob } from '../../store/documents/blob-info.ts'
import { dropReferences, lockBlobRows } from '../../store/documents/blob-rows.ts'
import { isBlobReferenced } from '../../store/documents/documents.ts'
import { deleteLostBlobs, selectLostBlobs, selectLostHashes } from '../../store/documents/lost-blobs.ts'
import { atomically } from '../../store/engine.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock } from '../../values/dates.ts'
import { removeDropped } from './removal.ts'
import type { Batch } from './uploads/checks.ts'

/** Numbers of lost blobs that exist again, and of those that are still lost. */
export type Losses = { restored: number; lost: number }

/**
 * Checks the lost blobs. Deletes the record of a blob that exists again or has no row. An upload that runs at the same
 * time stores the bytes before its rows, and deletes the same record.
 */
export async function settleLostBlobs(db: WriteDb, blobs: BlobReader): Promise<Losses> {
  const losses = await selectLostBlobs(db)
  const restored: string[] = []
  const unnamed: string[] = []
  for (const { sha256 } of losses) {
    if (!(await isBlobReferenced(db, sha256))) unnamed.push(sha256)
    else if (await isSound(blobs, sha256)) restored.push(sha256)
  }
  await deleteLostBlobs(db, [...restored, ...unnamed])
  return { restored: restored.length, lost: losses.length - restored.length - unnamed.length }
}

/** Stores lost blobs from a repeated upload, which makes no rows. */
export async function restoreLostBlobs(
  { db, blobs, clock }: { db: WriteDb; blobs: Blobs; clock: Clock },
  batch: Batch,
): Promise<void> {
  const hashes = new Set(await selectLostHashes(db, blobHashes(batch.blobs)))
  if (hashes.size === 0) return
  await batch.blobs.commit(hashes)
  await atomically(db, async (trx) => {
    const restored = uploadedBlobs(batch.blobs).filter(({ sha256 }) => hashes.has(sha256))
    if (await blobs.addReferences(trx, restored)) await deleteLostBlobs(trx, [...hashes])
  })
  // Their documents may have been deleted since.
  const dropped = await atomically(db, async (trx) => {
    await lockBlobRows(trx, hashes)
    return dropReferences(trx, hashes, clock().toISOString())
  })
  await removeDropped(db, blobs, dropped)
}

/** True if a blob can be read and its bytes have the right hash. */
async function isSound(blobs: BlobReader, sha256: string): Promise<boolean> {
  try {
    const blob = await blobs.read(sha256)
    for await (const _ of blob?.chunks() ?? []);
    return blob !== undefined
  } catch {
    return false
  }
}

/** SHA-256 of the blobs of an upload, without duplicates. */
export function* blobHashes(blobs: BlobBatch): Generator<string> {
  for (const { sha256 } of uploadedBlobs(blobs)) yield sha256
}

export function* uploadedBlobs(blobs: BlobBatch): Generator<UploadedBlob> {
  for (let at = 0; at < blobs.count(); at++) yield blobs.at(at)
}
