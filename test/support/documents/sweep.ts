// Removes unreferenced blobs and temporary files from a folder of blobs, as a start does.

import type { BlobFolder } from '../../../src/store/blobs/folder.ts'

export async function removeUnreferenced(
  blobs: BlobFolder,
  isReferenced: (sha256: string) => boolean = () => false,
): Promise<{ temporary: number; unnamed: number }> {
  const counts = { temporary: await blobs.removeUnfinished(), unnamed: 0 }
  for await (const sha256 of blobs.list()) {
    if (!isReferenced(sha256) && (await blobs.remove(sha256))) counts.unnamed += 1
  }
  return counts
}
