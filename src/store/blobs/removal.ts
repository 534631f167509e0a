// Removes unreferenced blobs: files inside transactions, objects in parallel.

import { splitBatches } from '../batches.ts'
import type { StoredName } from '../documents/blob-info.ts'
import { deleteRemoved, selectFreeNames, takeFreeFiles } from '../documents/blob-rows.ts'
import { atomically } from '../engine.ts'
import type { WriteDb } from '../tables.ts'
import type { Blobs, Removal, RemovalWork } from './blobs.ts'
import { CALLS_AT_ONCE } from './commit.ts'
import { inParallel } from './parallel.ts'

type FileRemoval = RemovalWork & { at: string; isInUse: (sha256: StoredName) => boolean }

const FILES_AT_ONCE = 100 // in one transaction

/**
 * Unlinks files, or moves them into `removed/`, inside the transaction: the only other I/O in a transaction. An upload
 * of the same blob has written its rows before it, or writes them afterwards and finds no file.
 */
export async function removeFiles(
  db: WriteDb,
  blobs: Pick<Blobs, 'findModifiedTime' | 'remove' | 'removedFolder'>,
  { names, writtenBefore, isSweep, isInUse, lock, moveDay, at }: FileRemoval,
): Promise<Removal> {
  const hashes = new Set<StoredName>()
  const errors = new Map<StoredName, unknown>()
  const take = async (sha256: string) => {
    try {
      const isTaken = moveDay ? blobs.removedFolder?.add({ sha256, day: moveDay }) : blobs.remove(sha256)
      if (await isTaken) hashes.add(sha256)
    } catch (error) {
      errors.set(sha256, error)
    }
  }
  for (const some of splitBatches(await filterOlder(blobs, names, writtenBefore), FILES_AT_ONCE)) {
    const work = async (trx: WriteDb) => {
      const names = isSweep ? some.filter((name) => !isInUse(name)) : some
      if (names.length === 0) return
      await takeFreeFiles(trx, names, at, take)
      await deleteRemoved(
        trx,
        names.filter((name) => !errors.has(name)),
      )
    }
    await atomically(db, work, lock)
  }
  return { removed: [...hashes], errors: [...errors.values()] }
}

/** Returns the names that were written before an instant, or do not exist; without an instant, all names. */
export async function filterOlder(
  blobs: Pick<Blobs, 'findModifiedTime'>,
  names: readonly StoredName[],
  than: Date | undefined,
): Promise<readonly StoredName[]> {
  if (!than) return names
  const older: StoredName[] = []
  for (const name of names) {
    const instant = await blobs.findModifiedTime(name)
    if (!instant || instant < than) older.push(name)
  }
  return older
}

/**
 * Removes objects. No upload can need them again: each name is used once, and its upload has ended. Objects that the
 * bucket does not delete, such as locked ones, are retried at the next collection.
 */
export async function removeObjects(
  db: WriteDb,
  blobs: Pick<Blobs, 'remove'>,
  { names, lock }: RemovalWork,
): Promise<Removal> {
  const free = await atomically(db, (trx) => selectFreeNames(trx, names), lock)
  const errors = new Map<StoredName, unknown>()
  await inParallel(free, CALLS_AT_ONCE, async (name) => {
    await blobs.remove(name).catch((error: unknown) => errors.set(name, error))
  })
  const settled = names.filter((name) => !errors.has(name))
  await atomically(db, (trx) => deleteRemoved(trx, settled), lock)
  return { removed: free.filter((name) => !errors.has(name)), errors: [...errors.values()] }
}
