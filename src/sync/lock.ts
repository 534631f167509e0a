// Lock of a sync: one process at a time queries a provider and stores its rates. The process is a server or a
// command.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../runtime/errors.ts'
import { atomically, type Engine, type Lock } from '../store/engine.ts'
import { closeInterruptedRuns, findOpenTrigger } from '../store/rates/sync-runs.ts'

export type LockDeps = Pick<Engine, 'db' | 'clock' | 'takeLock' | 'findHolder'>

const RETRY_MS = 20
const REFINING_STARTS_WITHIN_MS = 10_000 // finding the first window takes a query for each series, on a busy machine
const REFINING_ENDS_WITHIN_MS = 5 * 60_000 // a window: its requests, each with time-out and retries

/**
 * Runs `work` under the lock of a sync, after closing interrupted runs.
 * @throws AppError `conflict` when a sync is already running
 */
export async function withSyncLock<T>(deps: LockDeps, work: (lock: Lock) => Promise<T>): Promise<T> {
  const { db, clock } = deps
  const lock = await takeSyncLock(deps)
  try {
    await atomically(db, (trx) => closeInterruptedRuns(trx, clock().toISOString()), lock)
    return await work(lock)
  } finally {
    await lock.release()
  }
}

/**
 * Waits for refining, which releases the lock after each window. Without an open run it waits for 10 seconds: refining
 * takes the lock before it opens a run.
 */
async function takeSyncLock({ db, takeLock, findHolder }: LockDeps): Promise<Lock> {
  const startMs = performance.now()
  for (;;) {
    const lock = await takeLock('sync')
    if (lock) return lock
    const trigger = await findOpenTrigger(db)
    const longest = trigger === 'refine' ? REFINING_ENDS_WITHIN_MS : trigger ? 0 : REFINING_STARTS_WITHIN_MS
    if (performance.now() - startMs > longest) {
      const where = (await findHolder('sync')) ?? 'on a node that has ended meanwhile'
      throw new AppError('conflict', `a sync is already running ${where}`)
    }
    await sleep(RETRY_MS)
  }
}
