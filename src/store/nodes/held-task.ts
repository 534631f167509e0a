// A task that one of several nodes has for as long as that runs, such as the scheduler: the node that gets the lock begins it,
// the others wait for that node's end.

import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Engine, Lock, LockName } from '../engine.ts'

export type HeldTask = {
  /** Fulfilled when the lock was asked for, and the task has begun if it was had. */
  readonly asked: Promise<void>
  /** Ends the task, and gives the lock back: another node may have it at once. */
  close(): Promise<void>
}

export type HeldTaskOptions = {
  /** `over` is aborted when the task must end: the lock was lost, or it is closed. */
  begin: (lock: Lock, over: AbortSignal) => Promise<{ close(): Promise<void> }>
  /** What a try failed with; the next one follows. */
  failed: (error: unknown) => void
  /** Between two tries. */
  everyMs?: number | undefined
}

const EVERY_MS = 5000

/** Tries to get the lock from now on, and does the task while it has it. A node that died is followed when its lock has ended. */
export function holdTask(
  { takeLock }: Pick<Engine, 'takeLock'>,
  name: LockName,
  { begin, failed, everyMs = EVERY_MS }: HeldTaskOptions,
): HeldTask {
  const stop = new AbortController()
  const asked = Promise.withResolvers<void>()
  const tryOnce = async () => {
    const lock = await takeLock(name)
    if (!lock) return
    const over = AbortSignal.any([stop.signal, lock.lost])
    try {
      const task = await begin(lock, over)
      asked.resolve()
      await aborted(over)
      await task.close()
    } finally {
      await lock.release()
    }
  }
  const trying = async () => {
    while (!stop.signal.aborted) {
      await tryOnce().catch(failed)
      asked.resolve()
      await wait(everyMs, undefined, { signal: stop.signal }).catch(() => {})
    }
  }
  const ended = trying()
  return {
    asked: asked.promise,
    async close() {
      stop.abort()
      await ended
    },
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
