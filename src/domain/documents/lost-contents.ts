// Contents that are known to be lost. A row in `lost_contents` says so, and goes when the same bytes are there again: with
// an upload, or with a file that an administrator found and put in its place.

import type { BlobBatch } from '../../store/blobs/batch.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { BlobReader } from '../../store/blobs/reader.ts'
import type { KeptContent } from '../../store/contents.ts'
import { isBlobNamed } from '../../store/documents.ts'
import { atomically } from '../../store/engine.ts'
import { deleteLostContents, selectLostAmong, selectLostContents } from '../../store/lost-contents.ts'
import type { Db } from '../../store/tables.ts'
import type { Batch } from './documents.ts'
import { removeUnnamedBlob } from './removal.ts'

/**
 * Looks for what is known to be lost: what is there again is lost no more, and what no row names any more is forgotten.
 * Of a folder of one process only while nothing is uploaded.
 */
export async function settleLostContents(
  db: Db,
  blobs: BlobReader,
): Promise<{ found: number; lost: number }> {
  const lost = await selectLostContents(db)
  const found: string[] = []
  const unnamed: string[] = []
  for (const { sha256 } of lost) {
    if (!(await isBlobNamed(db, sha256))) unnamed.push(sha256)
    else if (await isSound(blobs, sha256)) found.push(sha256)
  }
  await deleteLostContents(db, [...found, ...unnamed])
  return { found: found.length, lost: lost.length - found.length - unnamed.length }
}

/** Keeps the contents of an upload that makes no rows (it was answered before), if they are known to be lost. */
export async function healLostContents(db: Db, blobs: Blobs, { contents }: Batch): Promise<void> {
  const lost = new Set(await selectLostAmong(db, hashesOf(contents)))
  if (lost.size === 0) return
  await contents.commit(lost)
  await atomically(db, async (trx) => {
    const again = keptContentsOf(contents).filter(({ sha256 }) => lost.has(sha256))
    if (await blobs.claim(trx, again)) await deleteLostContents(trx, [...lost])
  })
  for (const sha256 of lost) await removeUnnamedBlob(db, blobs, sha256) // its documents may have been deleted since
}

/** Whether the bytes of a content can be read, and are the right ones. */
async function isSound(blobs: BlobReader, sha256: string): Promise<boolean> {
  try {
    const blob = await blobs.read(sha256)
    for await (const _ of blob?.chunks() ?? []);
    return blob !== undefined
  } catch {
    return false
  }
}

/** The contents of an upload, each once. */
export function* hashesOf(contents: BlobBatch): Generator<string> {
  for (const { sha256 } of keptContentsOf(contents)) yield sha256
}

export function* keptContentsOf(contents: BlobBatch): Generator<KeptContent> {
  for (let at = 0; at < contents.count(); at++) yield contents.at(at)
}
