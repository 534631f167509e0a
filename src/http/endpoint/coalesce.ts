// One work for all callers that need it at the same time, so that however many ask, it is done only so often.

import { setTimeout } from 'node:timers/promises'

/**
 * The promise that it returns is of a turn of the work that begins after the call; callers meanwhile share it. Turns
 * begin at least `apartMs` apart.
 */
export function coalesced(work: () => Promise<void>, apartMs: number): () => Promise<void> {
  let next: Promise<void> | undefined
  let earliest = 0
  const turn = async () => {
    await setTimeout(Math.max(0, earliest - performance.now()))
    next = undefined // what is asked for from now on may need more than this turn will see
    earliest = performance.now() + apartMs
    await work()
  }
  return () => {
    next ??= turn()
    return next
  }
}
