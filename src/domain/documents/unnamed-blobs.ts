// Finds the blobs of documents that a shared database lost when it went back (decisions#lineage).

import type { Blobs } from '../../store/blobs/blobs.ts'
import type { StoredName } from '../../store/documents/blob-info.ts'
import { selectFreeNames, selectRemovalTimes } from '../../store/documents/blob-rows.ts'
import {
  type LossTime,
  mayBeLost,
  type OrphanedBlob,
  selectOrphanNames,
} from '../../store/documents/orphans.ts'
import type { ReadDb } from '../../store/tables.ts'

/** Names that belong to no blob: those of lost documents, and those that are not recorded as removed. */
export type UnnamedBlobs = { orphans: OrphanedBlob[]; others: StoredName[] }

/**
 * Sorts the names that belong to no blob. Lost documents had those that are recorded, or were written at the time of a
 * loss. A removal from before the blob was written is of another document. Reads whole objects.
 */
export async function findUnnamed(
  db: ReadDb,
  blobs: Pick<Blobs, 'findModifiedTime' | 'inspect'>,
  losses: readonly LossTime[],
  names: readonly StoredName[],
): Promise<UnnamedBlobs> {
  const free = await selectFreeNames(db, names)
  const removalTimes = await selectRemovalTimes(db, free)
  const isUnremoved = (object: StoredName) => !removalTimes.has(object)
  if (losses.length === 0) return { orphans: [], others: free.filter(isUnremoved) }
  const recorded = await selectOrphanNames(db, free)
  const isLost = (object: StoredName, modifiedTime: Date) => {
    if (recorded.has(object)) return true
    const removalTime = removalTimes.get(object)
    const isRemoved = removalTime !== undefined && Date.parse(removalTime) >= modifiedTime.getTime()
    return !isRemoved && mayBeLost(losses, modifiedTime)
  }
  const orphans: OrphanedBlob[] = []
  const others: StoredName[] = []
  for (const object of free) {
    const modifiedTime = await blobs.findModifiedTime(object)
    const blob = modifiedTime && isLost(object, modifiedTime) ? await blobs.inspect(object) : undefined
    if (blob && modifiedTime) orphans.push({ object, ...blob, stored_at: modifiedTime.toISOString() })
    else if (isUnremoved(object)) others.push(object)
  }
  return { orphans, others }
}
