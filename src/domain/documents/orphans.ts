// Finds the blobs of documents that a shared database lost when it went back (decisions 7.9).

import type { Blobs } from '../../store/blobs/blobs.ts'
import { selectFreeNames, selectRemovalTimes } from '../../store/documents/content-rows.ts'
import type { StoredName } from '../../store/documents/contents.ts'
import {
  type LossTime,
  mayBeLost,
  type OrphanedBlob,
  selectOrphanNames,
} from '../../store/documents/orphans.ts'
import type { ReadDb } from '../../store/tables.ts'

/**
 * Returns the names without a document that are recorded, or were written at the time of a loss. Reads whole objects.
 * A removal from before the blob was written is of another document.
 */
export async function findOrphans(
  db: ReadDb,
  blobs: Pick<Blobs, 'findModifiedTime' | 'inspect'>,
  losses: readonly LossTime[],
  names: readonly StoredName[],
): Promise<OrphanedBlob[]> {
  const orphans: OrphanedBlob[] = []
  const free = await selectFreeNames(db, names)
  const recorded = await selectOrphanNames(db, free)
  const removalTimes = await selectRemovalTimes(db, free)
  for (const object of free) {
    const modifiedTime = await blobs.findModifiedTime(object)
    if (!modifiedTime) continue
    const removalTime = removalTimes.get(object)
    const isRemoved = removalTime !== undefined && Date.parse(removalTime) >= modifiedTime.getTime()
    if (!recorded.has(object) && (isRemoved || !mayBeLost(losses, modifiedTime))) continue
    const blob = await blobs.inspect(object)
    if (blob) orphans.push({ object, ...blob, stored_at: modifiedTime.toISOString() })
  }
  return orphans
}
