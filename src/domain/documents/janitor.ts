// What is removed from a store of contents that several nodes share: what deletions let go of, when it was kept long enough,
// and what uploads left that never ended. Nothing goes at once that a row has named, or might have.

import { setImmediate } from 'node:timers/promises'
import type { Clock } from '../../dates.ts'
import { reasonOf } from '../../errors.ts'
import type { Blobs } from '../../store/blobs/blobs.ts'
import type { SharedContents } from '../../store/blobs/open.ts'
import type { StoredName } from '../../store/contents.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import { pagesOf } from '../../store/portions.ts'
import type { Db } from '../../store/tables.ts'
import { settleLostContents } from './lost-contents.ts'

export type Swept = {
  /** Contents that were to be removed, and are. */
  removed: number
  /** Those that the store did not give up; `because`: what it said of the first. */
  kept: number
  because?: string
  /** What no row names: from now on it is to be removed. */
  unnamed: number
  /** Uploads that never ended. */
  unfinished: number
}

export type Sweep = { db: Db; clock: Clock; contents: SharedContents; keepRemovedDays: number }

// The oldest that an upload may come to an end with are half as old (bucket.ts).
const YOUNG_MS = 24 * 3_600_000
const AT_ONCE = 500

/** Sweeps under a lock that is lost when another node sweeps. @param stopped ends it early */
export async function sweepContents(sweep: Sweep, lock: Lock, stopped: AbortSignal): Promise<Swept> {
  const { db, clock, contents, keepRemovedDays } = sweep
  const { blobs, rows, removeFree } = contents
  const writtenBefore = new Date(clock().getTime() - YOUNG_MS)
  const isOver = () => stopped.aborted || lock.lost.aborted
  const unfinished = await blobs.removeUnfinished(writtenBefore)
  const swept: Swept = { removed: 0, kept: 0, unnamed: 0, unfinished }
  if (await rows.isListingDue()) {
    for await (const names of pagesOf(blobs.list(), AT_ONCE)) {
      if (isOver()) return swept
      const old = await olderAmong(blobs, await rows.unknownAmong(names), writtenBefore)
      if (old.length > 0) await atomically(db, (trx) => rows.remove(trx, old), lock)
      swept.unnamed += old.length
    }
    await settleLostContents(db, blobs)
    await atomically(db, (trx) => rows.noteListing(trx), lock)
  }
  for (let after = ''; !isOver(); await setImmediate()) {
    const names = await rows.due(keepRemovedDays, after, AT_ONCE)
    const last = names.at(-1)
    if (last === undefined) break
    const { removed, kept } = await removeFree({ names, writtenBefore, lock })
    if (removed === 0 && kept.length === AT_ONCE) throw kept[0] // it gives up nothing at all
    swept.removed += removed
    swept.kept += kept.length
    if (kept.length > 0) swept.because ??= reasonOf(kept[0])
    after = last
  }
  return swept
}

async function olderAmong(
  blobs: Pick<Blobs, 'writtenAt'>,
  names: readonly StoredName[],
  than: Date,
): Promise<StoredName[]> {
  const older: StoredName[] = []
  for (const name of names) {
    const writtenAt = await blobs.writtenAt(name)
    if (writtenAt && writtenAt < than) older.push(name)
  }
  return older
}
