// Backs up a server every night, and an hour after a failure. A start makes a backup that was missed or not verified.
// Each backup is read back whole before old ones are removed.

import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError, errorReason } from '../../../runtime/errors.ts'
import type { Log } from '../../../runtime/log.ts'
import { createPeriodic } from '../../../runtime/periodic.ts'
import { previousTime } from '../../../runtime/schedule.ts'
import { diskError } from '../../../runtime/storage-error.ts'
import { openTransferBatch, stageBlob } from '../../../store/blobs/transfer.ts'
import type { Clock } from '../../../values/dates.ts'
import { createBackup, pruneBackups } from './backup.ts'
import { verifyBackup } from './check.ts'
import { readManifest } from './manifest.ts'
import { type BackupSet, findBackup, isOnSameDisk, openBackupSet, UNVERIFIED_FILE } from './set.ts'
import { readVerifiedNote, writeVerifiedNote } from './verified-note.ts'

export type BackupPlan = {
  dir: string
  cron: string
  /** Number of backups in the set. */
  keep: number
}

export type NightlyBackup = {
  /** Starts the schedule. */
  start(): void
  status(): {
    schedule: string
    nextRun: Date | undefined
    /** Start of the last attempt; before the first attempt, time of the newest existing backup. */
    lastRun: Date | undefined
    lastStatus: 'ok' | 'error' | undefined
    /** Start of the newest backup that was verified; undefined: none is known. */
    lastVerified: Date | undefined
  }
  /** Stops; a backup under way is aborted. */
  close(): Promise<void>
}

const RETRY_MS = 60 * 60_000
const FAULTS_LOGGED = 20

export async function openNightlyBackup(
  plan: BackupPlan & { dataDir: string; clock: Clock; log: Log },
  run: (signal: AbortSignal) => Promise<void> = (signal) => backUp(plan, signal),
): Promise<NightlyBackup> {
  const { cron, clock, log } = plan
  const newest = await findNewest(plan.dir)
  const verified = readVerifiedNote(plan.dir)
  const isVerified = newest !== undefined && newest.name === verified?.name
  let lastRun = newest?.time
  let lastVerified = verified?.createdAt
  let lastStatus: 'ok' | 'error' | undefined = newest && (isVerified ? 'ok' : 'error')
  const attempt = async (now: Date) => {
    try {
      await run(runs.signal)
      lastStatus = 'ok'
      lastVerified = now
    } catch (error) {
      lastStatus = 'error'
      if (runs.signal.aborted) return
      log.error('backup failed', { dir: plan.dir, reason: errorReason(diskError(error, plan.dir)) })
      runs.plan({ at: new Date(clock().getTime() + RETRY_MS) })
    } finally {
      lastRun = now
    }
  }
  const runs = createPeriodic({ cron, clock, work: attempt })
  const now = clock()
  if (!isVerified || wasMissed(cron, lastRun, now)) runs.plan({ at: now })

  return {
    start: () => runs.start(),
    status: () => ({ schedule: cron, nextRun: runs.nextRun(), lastRun, lastStatus, lastVerified }),
    close: () => runs.close(),
  }
}

async function backUp(
  { dir, keep, dataDir, clock, log }: BackupPlan & { dataDir: string; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const set = await openBackupSet(dir, dataDir)
  try {
    const { name, path, manifest, added } = await createBackup(set, { dataDir, now: clock(), signal })
    await replaceUnverified(set, name)
    const faults: string[] = []
    const fault = (line: string) => faults.push(line)
    const bad: string[] = []
    await verifyBackup(path, { fault, damaged: (sha256) => bad.push(sha256), signal, inPieces: true })
    const mended = bad.length > 0 ? await mendBlobs(set, dataDir, bad, signal) : 0
    if (mended > 0) log.warn('backup mended', { backup: path, contents: mended })
    if (faults.length > mended) {
      for (const line of faults.slice(0, FAULTS_LOGGED))
        log.error('backup fault', { backup: path, fault: line })
      throw new AppError('failed', `${path} has ${faults.length} faults; no verified one was removed`)
    }
    rmSync(join(path, UNVERIFIED_FILE))
    const unnoted = await writeVerifiedNote(dir, { name, createdAt: manifest.created_at })
    if (unnoted !== undefined)
      log.warn('backup verified, which cannot be noted', { backup: path, reason: unnoted })
    // A retry would not read or remove more, but each would replace an older backup.
    const pruned = await pruneBackups(set, keep, name).catch((error: unknown) => {
      log.error('backup not pruned', { dir, reason: errorReason(diskError(error, dir)) })
    })
    log.info('backup made', {
      backup: path,
      database: manifest.database.bytes,
      contents: manifest.blobs.count,
      bytes: manifest.blobs.bytes,
      added: added.bytes,
      removed: pruned?.removed.length,
      lost: manifest.lost.length || undefined,
    })
    if (isOnSameDisk(dir, dataDir)) log.warn('backup on the disk of the data', { backup: path })
  } finally {
    set.close()
  }
}

/** Marks a backup as unverified, and removes the earlier ones: each failed verification would leave another. */
async function replaceUnverified(set: BackupSet, newest: string): Promise<void> {
  const markFile = (name: string) => join(set.dir, name, UNVERIFIED_FILE)
  writeFileSync(markFile(newest), '', { mode: 0o600 })
  for (const name of set.names()) {
    if (name !== newest && existsSync(markFile(name))) await set.remove(name)
  }
}

/**
 * Replaces blobs that are damaged in the set by those of the data directory. Returns their number. A blob that
 * was lost and restored may be in the set in its damaged form.
 */
async function mendBlobs(
  set: BackupSet,
  dataDir: string,
  hashes: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const batch = openTransferBatch(set.blobs)
  const to = { dir: set.blobsDir, blobs: set.blobs }
  let count = 0
  try {
    for (const sha256 of hashes) {
      const staged = await stageBlob(join(dataDir, 'blobs'), to, sha256, { mayLink: true, signal })
      if ('words' in staged) continue
      await batch.add(staged)
      count++
    }
    await batch.end()
  } finally {
    await batch.discard()
  }
  return count
}

/** Returns the newest backup; undefined: there is none, or it cannot be read. */
async function findNewest(dir: string): Promise<{ name: string; time: Date } | undefined> {
  try {
    const { dir: path, name } = findBackup(dir)
    const { created_at } = await readManifest(path)
    return { name, time: new Date(created_at) }
  } catch {
    return undefined // the next attempt reports the reason
  }
}

function wasMissed(cron: string, last: Date | undefined, now: Date): boolean {
  const due = previousTime(cron, now)
  // A later backup was made with a wrong clock.
  return last === undefined || last > now || (due !== undefined && last < due)
}
