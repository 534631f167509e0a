// Garbage collection: removes blobs that no document needs, and unfinished uploads. Candidates are found first and
// removed later. A shared store retains each blob for some days. A data directory moves many blobs into
// `removed/` instead: its database was probably restored to an earlier moment. The later database would need them.

import { setImmediate } from 'node:timers/promises'
import { errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { readPages, splitBatches } from '../../store/batches.ts'
import type { Blobs, Removal, RemovalWork, RemovedBlob, RemovedFolder } from '../../store/blobs/blobs.ts'
import { filterOlder } from '../../store/blobs/removal.ts'
import { isCopyId } from '../../store/blobs/store-id.ts'
import {
  type StoredName,
  scanReferencedHashes,
  selectReferencedHashes,
} from '../../store/documents/blob-info.ts'
import {
  findStoreId,
  insertRemoved,
  isListingDue,
  selectRemoved,
  selectUnknownNames,
  updateListedAt,
} from '../../store/documents/blob-rows.ts'
import { insertOrphans, selectLosses } from '../../store/documents/orphans.ts'
import { atomically, type Lock } from '../../store/engine.ts'
import type { WriteDb } from '../../store/tables.ts'
import type { Clock, IsoDate } from '../../values/dates.ts'
import { type Losses, settleLostBlobs } from './regained-blobs.ts'
import { findUnnamed } from './unnamed-blobs.ts'

export type GcResult = {
  /** Blobs that were removed for good. */
  removed: number
  /** Blobs that the store failed to remove; `because`: reason of the first. */
  kept: number
  because?: string
  /** Blobs of a shared store that no row names: it removes them after some days. */
  unnamed: number
  /** Unfinished uploads. */
  unfinished: number
  /** Blobs of a data directory that no row names, moved into `removed/`. */
  moved?: number
  /** Blobs with a row, moved back from `removed/`. */
  restored?: number
  /** Blobs known to be lost, if there are any. */
  losses?: Losses
}

export type GcDeps = {
  db: WriteDb
  clock: Clock
  blobs: Blobs
  /** Days for which a shared store retains blobs that no document needs. */
  keepRemovedDays: number
  /** No other process writes blobs: compares all with the rows, whatever their age. */
  isAlone?: boolean
  /** Deletes nothing for its age, since the clock may be wrong. */
  keepsOld?: boolean
}

/** Days for which a data directory retains blobs in `removed/`. */
export const KEEP_MOVED_DAYS = 7
const MOST_REMOVED = 100
const MOST_REMOVED_SHARE = 0.01
const DAY_MS = 24 * 3_600_000
const YOUNG_MS = DAY_MS // the oldest upload of a bucket may take half of it (bucket.ts)
const AT_ONCE = 500

/** Removes garbage. The lock is lost when another node collects. @param signal ends the run early */
export async function collectGarbage(
  gc: GcDeps,
  lock: Lock | undefined,
  signal: AbortSignal,
): Promise<GcResult> {
  const { db, clock, blobs, isAlone = false } = gc
  const now = clock()
  const cutoff = isAlone ? undefined : new Date(now.getTime() - YOUNG_MS)
  // A copy of the database beside the original: all blobs are the original's.
  if (isCopyId(await findStoreId(db))) return { removed: 0, kept: 0, unnamed: 0, unfinished: 0 }
  const run: GcRun = {
    ...{ now, lock, writtenBefore: cutoff, isSweep: true },
    isStopped: () => signal.aborted || lock?.lost.aborted === true,
    result: { removed: 0, kept: 0, unnamed: 0, unfinished: await blobs.removeUnfinished(cutoff) },
  }
  if (blobs.removedFolder) await settleRemovedFolder(gc, blobs.removedFolder, run)
  if (isAlone || (await isListingDue(db, now))) {
    const isWhole = blobs.keepsRemoved ? await noteOrphans(gc, run) : await removeOrphans(gc, run)
    if (!isWhole) return run.result
    const losses = await settleLostBlobs(db, blobs)
    if (losses.restored + losses.lost > 0) run.result.losses = losses
    const listing = atomically(db, (trx) => updateListedAt(trx, now), lock)
    await listing.catch((error: unknown) => {
      if (!isAlone) throw error // a full disk, which the removal may have helped
    })
  }
  await removeDue(gc, run)
  return run.result
}

type GcRun = Pick<RemovalWork, 'lock' | 'writtenBefore' | 'isSweep'> & {
  now: Date
  isStopped: () => boolean
  result: GcResult
}

/** Records blobs of a shared store that no row names. Returns false if stopped. */
async function noteOrphans({ db, blobs }: GcDeps, run: GcRun): Promise<boolean> {
  const losses = await selectLosses(db)
  for await (const names of readPages(blobs.list(), AT_ONCE)) {
    if (run.isStopped()) return false
    const { orphans, others } = await findUnnamed(db, blobs, losses, names)
    if (orphans.length > 0) await atomically(db, (trx) => insertOrphans(trx, orphans), run.lock)
    const garbage = await filterOlder(blobs, others, run.writtenBefore)
    if (garbage.length === 0) continue
    await atomically(db, (trx) => insertRemoved(trx, garbage, run.now.toISOString()), run.lock)
    run.result.unnamed += garbage.length
  }
  return true
}

/**
 * Removes blobs of a data directory that no row names, or moves them if they are many. Returns false if stopped.
 */
async function removeOrphans({ db, blobs }: GcDeps, run: GcRun): Promise<boolean> {
  const suspects: StoredName[] = []
  let count = 0
  for await (const names of readPages(blobs.list(), AT_ONCE)) {
    if (run.isStopped()) return false
    count += names.length
    suspects.push(...(await filterOlder(blobs, await selectUnknownNames(db, names), run.writtenBefore)))
  }
  if (suspects.length === 0) return true
  const hashes = await scanReferencedHashes(db) // from the table, not an index: a damaged index must not remove the blob of a document
  const names = suspects.filter((name) => !hashes.has(name))
  const areMany = names.length > MOST_REMOVED || names.length >= count * MOST_REMOVED_SHARE
  const removal = await blobs.removeFree(db, {
    ...run,
    names,
    moveDay: areMany ? isoDay(run.now) : undefined,
  })
  const { length } = removal.removed
  if (!areMany) run.result.removed += length
  else if (length > 0) run.result.moved = length
  addRefusals(run.result, removal)
  return true
}

/** Removes blobs whose waiting time is over; in a data directory there is none. */
async function removeDue(
  { db, blobs, keepRemovedDays, keepsOld = false }: GcDeps,
  run: GcRun,
): Promise<void> {
  const keepMs = blobs.keepsRemoved ? keepRemovedDays * DAY_MS : 0
  if (keepsOld && keepMs > 0) return
  const deadline = new Date(run.now.getTime() - keepMs).toISOString()
  for (let after = ''; !run.isStopped(); await setImmediate()) {
    const names = await selectRemoved(db, { upTo: deadline, after, limit: AT_ONCE })
    const last = names.at(-1)
    if (last === undefined) break
    const removal = await blobs.removeFree(db, { ...run, names })
    const { removed, errors } = removal
    if (removed.length === 0 && errors.length === AT_ONCE) throw errors[0] // the store rejects every removal
    run.result.removed += removed.length
    addRefusals(run.result, removal)
    after = last
  }
}

function addRefusals(result: GcResult, { errors }: Removal): void {
  result.kept += errors.length
  if (errors.length > 0) result.because ??= errorReason(errors[0])
}

/** Moves blobs with a row back into a data directory. A start does so before it answers: a later database may be back. */
export async function restoreMoved({
  db,
  blobs,
  clock,
}: Pick<GcDeps, 'db' | 'blobs' | 'clock'>): Promise<GcResult> {
  const result: GcResult = { removed: 0, kept: 0, unnamed: 0, unfinished: 0 }
  const gc = { db, blobs, keepsOld: true }
  if (blobs.removedFolder) await settleRemovedFolder(gc, blobs.removedFolder, { now: clock(), result })
  return result
}

/** Moves blobs with a row back, and deletes blobs that were moved more than KEEP_MOVED_DAYS ago. */
async function settleRemovedFolder(
  { db, blobs, keepsOld = false }: Pick<GcDeps, 'db' | 'blobs' | 'keepsOld'>,
  folder: RemovedFolder,
  { now, result }: Pick<GcRun, 'now' | 'result'>,
): Promise<void> {
  const oldest = isoDay(new Date(now.getTime() - KEEP_MOVED_DAYS * DAY_MS))
  let allNames: Set<string> | undefined
  for (const some of splitBatches(await folder.list(), AT_ONCE)) {
    const hashes = some.map(({ sha256 }) => sha256)
    const names = await selectReferencedHashes(db, hashes)
    const missing: RemovedBlob[] = []
    for (const blob of some) {
      if (names.has(blob.sha256)) {
        if (await blobs.findModifiedTime(blob.sha256)) await folder.delete(blob)
        else missing.push(blob)
      } else if (!keepsOld && blob.day < oldest) {
        allNames ??= await scanReferencedHashes(db)
        if (!allNames.has(blob.sha256)) await folder.delete(blob)
      }
    }
    if (missing.length === 0) continue
    await folder.restore(missing)
    result.restored = (result.restored ?? 0) + missing.length
  }
}

/** `isAlone`: of a run at the start of a data directory's server, whose garbage was left by a crash. */
export function logGarbage(
  { moved = 0, restored = 0, losses, ...counts }: GcResult,
  log: Log,
  isAlone = false,
): void {
  const { unfinished: temporary, removed: unnamed } = counts
  if (counts.kept === 0 && isAlone && temporary + unnamed > 0)
    log.info('swept what a crash left', { temporary, unnamed })
  else if (counts.kept > 0) log.warn('contents swept, but for some that cannot be removed', counts)
  else if (Object.values(counts).some(Boolean)) log.info('contents swept', counts)
  if (restored > 0) log.info('contents of documents moved back from blobs/removed', { contents: restored })
  if (moved > 0) {
    log.warn('contents that belong to no document moved to blobs/removed', {
      contents: moved,
      ...{ days: KEEP_MOVED_DAYS },
      hint: 'if the database was put back to an earlier moment, the later one finds them again',
    })
  }
  if (losses?.restored) log.info('lost contents of documents are there again', { contents: losses.restored })
  if (losses?.lost)
    log.warn('contents of documents are lost', { contents: losses.lost, hint: 'cambista doctor names them' })
}

function isoDay(instant: Date): IsoDate {
  return instant.toISOString().slice(0, 10) as IsoDate
}
