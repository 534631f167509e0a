// A task that one node at a time runs, such as the scheduler. The leader has its lock; the other nodes retry until the
// lock is released or expires. A single process gets its lock at once and never loses it.

import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { AppError, errorReason } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { Engine, Lock, LockName } from '../engine.ts'

export type LeaderTask = {
  /** Resolves after the first attempt: the task has begun, or another node runs it. */
  readonly attempted: Promise<void>
  /** Ends the task and releases the lock: another node may take it at once. */
  close(): Promise<void>
}

export type LeaderOptions = {
  /** `over` aborts when the task must end: the lock was lost, or the task is closed. */
  begin: (lock: Lock, over: AbortSignal) => Promise<{ close(): Promise<void> }>
  log: Log
  /** Events of the log: this node is the leader, and an attempt failed. */
  events: { leads: string; failed: string }
  /** Milliseconds between two attempts. */
  retryMs?: number | undefined
}

const RETRY_MS = 5000

/** Runs the task while this node has the lock. Another node follows a leader that died when the lock expires. */
export function runAsLeader(
  { takeLock }: Pick<Engine, 'takeLock'>,
  name: LockName,
  { begin, log, events, retryMs = RETRY_MS }: LeaderOptions,
): LeaderTask {
  const stop = new AbortController()
  const attempted = Promise.withResolvers<void>()
  let lastReason: string | undefined
  const attempt = async () => {
    const lock = await takeLock(name)
    if (!lock) return
    const over = AbortSignal.any([stop.signal, lock.lost])
    try {
      const task = await begin(lock, over)
      if (lock.outlivesHolderMs > 0) log.info(events.leads)
      attempted.resolve()
      if (!over.aborted) await once(over, 'abort')
      await task.close()
    } finally {
      await lock.release()
    }
  }
  // The watch of the database logs an outage; `busy` is a lease that another node has taken over.
  const logFailure = (error: unknown) => {
    const reason = errorReason(error)
    const isNew = reason !== lastReason && !(error instanceof AppError)
    log[isNew ? 'warn' : 'debug'](events.failed, { reason })
    lastReason = reason
  }
  const attemptUntilClosed = async () => {
    while (!stop.signal.aborted) {
      await attempt().catch(logFailure)
      attempted.resolve()
      await wait(retryMs, undefined, { signal: stop.signal }).catch(() => {}) // closed
    }
  }
  const loop = attemptUntilClosed()
  return {
    attempted: attempted.promise,
    async close() {
      stop.abort()
      await loop
    },
  }
}
