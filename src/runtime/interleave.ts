// Runs long tasks in parts: a single part of all tasks, then a turn of the event loop. Other requests wait for at most
// a part, whatever the number of tasks.

import { setImmediate } from 'node:timers/promises'
import { createSemaphore } from './semaphore.ts'

/** Computes each part when its turn comes. A slow consumer delays no other task. */
export type Interleave = <T>(parts: Iterable<T>) => AsyncGenerator<T, void>

export function createInterleaver(): Interleave {
  const semaphore = createSemaphore(1)
  const computePart = async <T>(parts: Iterator<T>) => {
    using _turn = await semaphore.acquire()
    const next = parts.next()
    await setImmediate()
    return next
  }
  return async function* interleaveParts(parts) {
    const iterator = parts[Symbol.iterator]()
    for (let next = await computePart(iterator); !next.done; next = await computePart(iterator))
      yield next.value
  }
}
