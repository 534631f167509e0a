// Removing objects that belong to no content. None of them comes to belong to one: a name is used once, and an upload has
// ended long before.

import type { ContentRows } from '../../contents.ts'
import { atomically, type Lock } from '../../engine.ts'
import type { Db } from '../../tables.ts'
import type { Blobs } from '../blobs.ts'
import { inParallel } from '../parallel.ts'
import { CALLS_AT_ONCE } from '../place.ts'

/** How many were removed. */
export async function removeObjects(
  db: Db,
  blobs: Pick<Blobs, 'remove'>,
  rows: Pick<ContentRows, 'freeAmong' | 'forget'>,
  { names, lock }: { names: readonly string[]; lock: Lock },
): Promise<number> {
  const free = await atomically(db, (trx) => rows.freeAmong(trx, names), lock)
  await inParallel(free, CALLS_AT_ONCE, async (name) => void (await blobs.remove(name)))
  await atomically(db, (trx) => rows.forget(trx, names), lock)
  return free.length
}
