// Contents that no row names: a crash between the bytes and the rows of an upload leaves them, or one between the rows
// and the bytes of a deletion.

import type { Blobs } from './blobs.ts'

export type OrphanSearch = {
  /** Told the name of a content (`Blobs.list`). */
  isNamed(name: string): boolean | Promise<boolean>
  /** What is younger stays, for it may belong to an upload under way. Undefined: there is none under way. */
  writtenBefore?: Date
}

/** Removes what uploads that never ended left, and the contents without a row. */
export async function removeOrphans(
  blobs: Pick<Blobs, 'list' | 'writtenAt' | 'remove' | 'removeUnfinished'>,
  { isNamed, writtenBefore }: OrphanSearch,
): Promise<{ temporary: number; unnamed: number }> {
  const removed = { temporary: await blobs.removeUnfinished(writtenBefore), unnamed: 0 }
  for await (const name of blobs.list()) {
    if (await isNamed(name)) continue
    if (writtenBefore && !(await isOlder(blobs, name, writtenBefore))) continue
    if (await blobs.remove(name)) removed.unnamed++
  }
  return removed
}

async function isOlder(blobs: Pick<Blobs, 'writtenAt'>, name: string, than: Date): Promise<boolean> {
  const writtenAt = await blobs.writtenAt(name)
  return writtenAt !== undefined && writtenAt < than
}
