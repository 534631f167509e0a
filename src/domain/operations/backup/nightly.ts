// The backup that a server makes of itself: at its time, at start when one was missed, and again an hour after one that
// failed. It is made, then read back whole, and only then are old ones dropped.

import { join } from 'node:path'
import type { Clock } from '../../dates.ts'
import { AppError, reasonOf } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { createPeriodic } from '../../periodic.ts'
import { previousTime } from '../../schedule.ts'
import { diskError } from '../../storage-error.ts'
import { readManifest } from '../../store/backup/manifest.ts'
import { type BackupSet, findBackup, openBackupSet } from '../../store/backup/set.ts'
import { readVerifiedNote, writeVerifiedNote } from '../../store/backup/verified-note.ts'
import { openBatch, stageBlob } from '../../store/blobs/transfer.ts'
import { createBackup, pruneBackups } from './backup.ts'
import { verifyBackup } from './check.ts'

export type BackupPlan = {
  dir: string
  cron: string
  /** How many backups stay in the set. */
  keep: number
}

export type NightlyBackup = {
  /** Begins to look at the clock; before that nothing runs. */
  start(): void
  status(): {
    schedule: string
    nextRun: Date | undefined
    /** Begin of the last attempt, or when the newest backup was made that was there at start. */
    lastRun: Date | undefined
    lastStatus: 'ok' | 'error' | undefined
    /** When the newest backup was begun that was read back whole and found good; undefined: none is known to be. */
    lastVerified: Date | undefined
  }
  /** Stops; a backup that is under way is given up. */
  close(): Promise<void>
}

const RETRY_MS = 60 * 60_000
const FAULTS_LOGGED = 20

export async function openNightlyBackup(
  plan: BackupPlan & { dataDir: string; clock: Clock; log: Log },
  run: (signal: AbortSignal) => Promise<void> = (signal) => backUp(plan, signal),
): Promise<NightlyBackup> {
  const { cron, clock, log } = plan
  let lastRun = await newestIn(plan.dir)
  let lastStatus: 'ok' | 'error' | undefined = lastRun && 'ok'
  let lastVerified = readVerifiedNote(plan.dir)
  const attempt = async (now: Date) => {
    try {
      await run(runs.signal)
      lastStatus = 'ok'
      lastVerified = now
    } catch (error) {
      lastStatus = 'error'
      if (runs.signal.aborted) return
      log.error('backup failed', { dir: plan.dir, reason: reasonOf(diskError(error, plan.dir)) })
      runs.plan({ at: new Date(clock().getTime() + RETRY_MS) })
    } finally {
      lastRun = now
    }
  }
  const runs = createPeriodic({ cron, clock, work: attempt })
  const now = clock()
  if (wasMissed(cron, lastRun, now)) runs.plan({ at: now })

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
    const faults: string[] = []
    const fault = (line: string) => faults.push(line)
    const bad: string[] = []
    await verifyBackup(path, { fault, damaged: (sha256) => bad.push(sha256), signal, inPieces: true })
    const mended = bad.length > 0 ? await takeAgain(set, dataDir, bad, signal) : 0
    if (mended > 0) log.warn('backup mended', { backup: path, contents: mended })
    if (faults.length > mended) {
      for (const line of faults.slice(0, FAULTS_LOGGED))
        log.error('backup fault', { backup: path, fault: line })
      throw new AppError('failed', `${path} has ${faults.length} faults; no older one was removed`)
    }
    const unnoted = await writeVerifiedNote(dir, { name, createdAt: manifest.created_at })
    if (unnoted !== undefined)
      log.warn('backup verified, which cannot be noted', { backup: path, reason: unnoted })
    const pruned = await pruneBackups(set, keep, name)
    log.info('backup made', {
      backup: path,
      database: manifest.database.bytes,
      contents: manifest.blobs.count,
      bytes: manifest.blobs.bytes,
      added: added.bytes,
      removed: pruned.removed.length,
      lost: manifest.lost.length || undefined,
    })
  } finally {
    set.close()
  }
}

/**
 * Takes contents that are damaged in the set from the data directory again, where they are right. Returns how many. A
 * content that was lost and came back may lie in the set as it was when it was lost.
 */
async function takeAgain(
  set: BackupSet,
  dataDir: string,
  contents: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const batch = openBatch(set.blobs)
  const to = { dir: set.blobsDir, blobs: set.blobs }
  let taken = 0
  try {
    for (const sha256 of contents) {
      const staged = await stageBlob(join(dataDir, 'blobs'), to, sha256, { mayLink: true, signal })
      if ('words' in staged) continue
      await batch.add(staged)
      taken++
    }
    await batch.end()
  } finally {
    await batch.discard()
  }
  return taken
}

/** When the newest backup was made; undefined: there is none, or it cannot be read. */
async function newestIn(dir: string): Promise<Date | undefined> {
  try {
    return new Date((await readManifest(findBackup(dir).dir)).created_at)
  } catch {
    return undefined // the next attempt says why
  }
}

function wasMissed(cron: string, last: Date | undefined, now: Date): boolean {
  const due = previousTime(cron, now)
  return last === undefined || (due !== undefined && last < due)
}
