// Blobs that are known to be lost: rows reference them, and their file or object is missing. Usually there are none.

import { setImmediate } from 'node:timers/promises'
import { splitBatches } from '../batches.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

/** `fault`: description of the damage; `since`: time of its discovery. */
export type LostBlob = Row<'lost_contents'>

const AT_ONCE = 500

/** By SHA-256. */
export async function selectLostBlobs(db: ReadDb): Promise<LostBlob[]> {
  return db.selectFrom('lost_contents').selectAll().orderBy('sha256').execute()
}

export async function findLostBlob(db: ReadDb, sha256: string): Promise<LostBlob | undefined> {
  return db.selectFrom('lost_contents').selectAll().where('sha256', '=', sha256).executeTakeFirst()
}

/** Returns those of the hashes that are known to be lost. Yields to other requests between batches of AT_ONCE. */
export async function selectLostHashes(db: ReadDb, hashes: Iterable<string>): Promise<string[]> {
  const any = await db.selectFrom('lost_contents').select('sha256').limit(1).executeTakeFirst()
  if (!any) return [] // usual case: a single query for an upload of any size
  const lostHashes = new Set<string>()
  for (const some of splitBatches(hashes, AT_ONCE)) {
    const rows = await db.selectFrom('lost_contents').select('sha256').where('sha256', 'in', some).execute()
    for (const { sha256 } of rows) lostHashes.add(sha256)
    if (some.length === AT_ONCE) await setImmediate()
  }
  return [...lostHashes]
}

/** Records lost blobs. Existing records do not change. */
export function insertLostBlobs(db: WriteDb, blobs: readonly LostBlob[]): Promise<void> {
  return insertBatches(db, 'lost_contents', blobs, { skipExisting: true })
}

/** Deletes the records of blobs that exist again or are unreferenced. */
export async function deleteLostBlobs(db: WriteDb, hashes: readonly string[]): Promise<void> {
  for (const some of splitBatches(hashes, AT_ONCE)) {
    await db.deleteFrom('lost_contents').where('sha256', 'in', some).execute()
  }
}
