// Long work in parts, one part of all such works at a time, with a turn of the event loop after each: however many clients
// ask for it at once, what else is asked waits for no more than a part.

import { setImmediate } from 'node:timers/promises'
import { createSemaphore } from './semaphore.ts'

/** The parts, each of which is made when it is its turn. A caller that keeps a part waiting keeps no other work waiting. */
export type Turns = <T>(parts: Iterable<T>) => AsyncGenerator<T, void>

export function createTurns(): Turns {
  const semaphore = createSemaphore(1)
  const made = async <T>(parts: Iterator<T>) => {
    using _turn = await semaphore.acquire()
    const next = parts.next()
    await setImmediate()
    return next
  }
  return async function* inTurns(parts) {
    const iterator = parts[Symbol.iterator]()
    for (let next = await made(iterator); !next.done; next = await made(iterator)) yield next.value
  }
}
