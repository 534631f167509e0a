// At most so many at once; the others wait, the longest waiting first.

import { AppError } from './errors.ts'

export type Semaphore = {
  /** Waits for a permit; disposing of it gives it back. @throws AppError `busy` when none comes in time */
  acquire(): Promise<Disposable>
  status(): { running: number; waiting: number }
}

/** How long to wait for a permit, and what the error says then. */
export type Timeout = { ms: number; message: string }

/** Without a time-out it waits as long as it takes. */
export function createSemaphore(permits: number, timeout?: Timeout): Semaphore {
  let acquired = 0
  const waiting: (() => void)[] = []
  const permit = (): Disposable => ({
    [Symbol.dispose]() {
      const next = waiting.shift()
      if (next)
        next() // the permit passes on, so that no later caller slips in between
      else acquired -= 1
    },
  })
  return {
    async acquire() {
      if (acquired < permits) acquired += 1
      else await released(waiting, timeout)
      return permit()
    },
    status: () => ({ running: acquired, waiting: waiting.length }),
  }
}

function released(waiting: (() => void)[], timeout: Timeout | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!timeout) return waiting.push(resolve)
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(next), 1)
      reject(new AppError('busy', timeout.message))
    }, timeout.ms)
    const next = () => {
      clearTimeout(timer)
      resolve()
    }
    waiting.push(next)
  })
}
