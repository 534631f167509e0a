// Finds the blobs of documents that a shared database lost when it went back (decisions 7.9).

import type { Blobs } from '../../store/blobs/blobs.ts'
import type { StoredName } from '../../store/documents/contents.ts'
import { type LossTime, mayBeLost, type OrphanedBlob } from '../../store/documents/orphans.ts'

/** Returns those of the names, which no row has, that were written at the time of a loss. Reads whole objects. */
export async function findOrphans(
  blobs: Pick<Blobs, 'findModifiedTime' | 'inspect'>,
  losses: readonly LossTime[],
  names: readonly StoredName[],
): Promise<OrphanedBlob[]> {
  const orphans: OrphanedBlob[] = []
  for (const object of names) {
    const modifiedTime = await blobs.findModifiedTime(object)
    if (!modifiedTime || !mayBeLost(losses, modifiedTime)) continue
    const blob = await blobs.inspect(object)
    if (blob) orphans.push({ object, ...blob, stored_at: modifiedTime.toISOString() })
  }
  return orphans
}
