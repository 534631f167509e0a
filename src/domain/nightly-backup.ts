// The backup that a server makes of itself: at its time, at start when one was missed, and again an hour after one that
// failed. It is made, then read back whole, and only then are old ones dropped. Like sync/scheduler.ts it compares clock
// readings, so that a machine that slept or a clock that jumped does no harm.

import type { Clock } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import { isSetBack, nextTime, previousTime } from '../schedule.ts'
import { findBackup, openBackupSet } from '../store/backup-set.ts'
import { readManifest } from '../store/manifest.ts'
import { createBackup, pruneBackups } from './backup.ts'
import { verifyBackup } from './backup-check.ts'

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
  }
  /** Stops; a backup that is under way is given up. */
  close(): Promise<void>
}

const LOOK_EVERY_MS = 1000
const RETRY_MS = 60 * 60_000
const FAULTS_LOGGED = 20

export async function openNightlyBackup(
  plan: BackupPlan & { dataDir: string; clock: Clock; log: Log },
  run: (signal: AbortSignal) => Promise<void> = (signal) => backUp(plan, signal),
): Promise<NightlyBackup> {
  const { cron, clock, log } = plan
  const stop = new AbortController()
  let lastRun = await newestIn(plan.dir)
  let lastStatus: 'ok' | 'error' | undefined = lastRun && 'ok'
  let seen = clock()
  let due = wasMissed(cron, lastRun, seen) ? seen : nextTime(cron, seen)
  let running: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const attempt = async (now: Date) => {
    due = nextTime(cron, now)
    try {
      await run(stop.signal)
      lastStatus = 'ok'
    } catch (error) {
      lastStatus = 'error'
      if (stop.signal.aborted) return
      log.error('backup failed', { dir: plan.dir, reason: reasonOf(error) })
      const again = new Date(clock().getTime() + RETRY_MS)
      if (due === undefined || again < due) due = again
    } finally {
      lastRun = now
    }
  }
  const look = () => {
    const now = clock()
    if (isSetBack(seen, now)) due = nextTime(cron, now)
    seen = now
    if (running || due === undefined || now < due) return
    running = attempt(now).finally(() => {
      running = undefined
    })
  }

  return {
    start() {
      timer = setInterval(look, LOOK_EVERY_MS)
    },
    status: () => ({ schedule: cron, nextRun: due, lastRun, lastStatus }),
    async close() {
      clearInterval(timer)
      stop.abort()
      await running
    },
  }
}

async function backUp(
  { dir, keep, dataDir, clock, log }: BackupPlan & { dataDir: string; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const set = await openBackupSet(dir, dataDir)
  try {
    const { name, path, manifest, added } = await createBackup(set, { dataDir, now: clock(), signal })
    const fault = (line: string) => {
      if (faults++ < FAULTS_LOGGED) log.error('backup fault', { backup: path, fault: line })
    }
    let faults = 0
    await verifyBackup(path, { fault, signal, inPieces: true })
    if (faults > 0) throw new AppError('failed', `${path} has ${faults} faults; no older one was removed`)
    const pruned = await pruneBackups(set, keep, name)
    log.info('backup made', {
      backup: path,
      database: manifest.database.bytes,
      contents: manifest.blobs.count,
      bytes: manifest.blobs.bytes,
      added: added.bytes,
      removed: pruned.removed.length,
    })
  } finally {
    set.close()
  }
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
