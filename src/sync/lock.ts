// Lock of a sync: one process at a time queries a provider and stores its rates. The process is a server or a
// command.

import { setTimeout as sleep } from 'node:timers/promises'
import { AppError } from '../runtime/errors.ts'
import { atomically, type Engine, type Lock } from '../store/engine.ts'
import { hasOpenIndicatorRun } from '../store/indicators/runs.ts'
import { closeInterruptedRuns, findOpenTrigger } from '../store/rates/sync-runs.ts'

export type LockDeps = Pick<Engine, 'db' | 'clock' | 'takeLock' | 'findHolder'>

const RETRY_MS = 20
const YIELD_MS = 1000 // between two attempts of work that gives way
const REFINING_STARTS_WITHIN_MS = 10_000 // finding the first window takes a query for each series or indicator, on a busy machine
const WINDOW_ENDS_WITHIN_MS = 5 * 60_000 // a window: its requests, each with time-out and retries

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
 * Waits for the lock of a sync, for work that gives way to every run of the rates.
 * @throws the reason of the signal
 */
export async function waitForSyncLock(
  { takeLock }: Pick<LockDeps, 'takeLock'>,
  signal: AbortSignal,
): Promise<Lock> {
  for (;;) {
    signal.throwIfAborted()
    const lock = await takeLock('sync')
    if (lock) return lock
    await sleep(YIELD_MS, undefined, { signal })
  }
}

/**
 * Waits for refining and for indicators, which release the lock after each window. Without an open run it waits for 10
 * seconds: both take the lock before they open a run.
 */
async function takeSyncLock({ db, takeLock, findHolder }: LockDeps): Promise<Lock> {
  const startMs = performance.now()
  for (;;) {
    const lock = await takeLock('sync')
    if (lock) return lock
    const trigger = await findOpenTrigger(db)
    const releasesSoon = trigger === 'refine' || (trigger === undefined && (await hasOpenIndicatorRun(db)))
    const longest = releasesSoon ? WINDOW_ENDS_WITHIN_MS : trigger ? 0 : REFINING_STARTS_WITHIN_MS
    if (performance.now() - startMs > longest) {
      const where = (await findHolder('sync')) ?? 'on a node that has ended meanwhile'
      throw new AppError('conflict', `a sync is already running ${where}`)
    }
    await sleep(RETRY_MS)
  }
}
