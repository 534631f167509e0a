// One process at a time asks a provider and stores what it says, be it a server or a command beside it.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { atomically, type Engine, type Lock } from '../store/engine.ts'
import { closeInterruptedRuns, findOpenTrigger } from '../store/sync-runs.ts'

export type LockDeps = Pick<Engine, 'db' | 'clock' | 'takeLock' | 'holderOf'>

const TRY_AGAIN_MS = 20
const LOOKS_WITHIN_MS = 1000 // a query for each series
const REFINING_ENDS_WITHIN_MS = 5 * 60_000 // a window: its requests, each with its time-out and its tries

/**
 * Does what only one process at a time may do: no other run is open meanwhile.
 * @throws AppError `conflict` when a sync is already running
 */
export async function underSyncLock<T>(deps: LockDeps, work: (lock: Lock) => Promise<T>): Promise<T> {
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
 * Refining gives the lock up after each window, so it is waited for, and briefly so while no run is open: refining looks
 * for its first window before it opens one.
 */
async function takeSyncLock({ db, takeLock, holderOf }: LockDeps): Promise<Lock> {
  const begun = performance.now()
  for (;;) {
    const lock = await takeLock('sync')
    if (lock) return lock
    const trigger = await findOpenTrigger(db)
    const longest = trigger === 'refine' ? REFINING_ENDS_WITHIN_MS : trigger ? 0 : LOOKS_WITHIN_MS
    if (performance.now() - begun > longest) {
      const where = (await holderOf('sync')) ?? 'on a node that has ended meanwhile'
      throw new AppError('conflict', `a sync is already running ${where}`)
    }
    await sleep(TRY_AGAIN_MS)
  }
}
