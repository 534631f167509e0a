// Removing objects that belong to no content. None of them comes to belong to one: a name is used once, and an upload has
// ended long before.

import type { ContentRows } from '../../contents.ts'
import { atomically, type Lock } from '../../engine.ts'
import type { Db } from '../../tables.ts'
import type { Blobs, Removal } from '../blobs.ts'
import { inParallel } from '../parallel.ts'
import { CALLS_AT_ONCE } from '../place.ts'

/** One that the bucket keeps, such as under a lock of its own, stays for the next time and stands in nobody's way. */
export async function removeObjects(
  db: Db,
  blobs: Pick<Blobs, 'remove'>,
  rows: Pick<ContentRows, 'freeAmong' | 'forget'>,
  { names, lock }: { names: readonly string[]; lock: Lock },
): Promise<Removal> {
  const free = await atomically(db, (trx) => rows.freeAmong(trx, names), lock)
  const kept = new Map<string, unknown>()
  await inParallel(free, CALLS_AT_ONCE, async (name) => {
    await blobs.remove(name).catch((error: unknown) => kept.set(name, error))
  })
  const done = names.filter((name) => !kept.has(name))
  await atomically(db, (trx) => rows.forget(trx, done), lock)
  return { removed: free.length - kept.size, kept: [...kept.values()] }
}
