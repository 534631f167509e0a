// Semaphore: at most `permits` holders at once; others wait in order of arrival.

import { AppError } from './errors.ts'

export type Semaphore = {
  /** Waits for a permit; disposal returns it. @throws AppError `busy` after the time-out */
  acquire(): Promise<Disposable>
  status(): { running: number; waiting: number }
}

/** Longest wait for a permit, and the message of its error. */
export type Timeout = { ms: number; message: string }

/** Without a time-out, the wait is unlimited. */
export function createSemaphore(permits: number, timeout?: Timeout): Semaphore {
  let acquired = 0
  const waiting: (() => void)[] = []
  const permit = (): Disposable => ({
    [Symbol.dispose]() {
      const next = waiting.shift()
      if (next)
        next() // passes the permit on directly, so that no later caller overtakes
      else acquired -= 1
    },
  })
  return {
    async acquire() {
      if (acquired < permits) acquired += 1
      else await waitForPermit(waiting, timeout)
      return permit()
    },
    status: () => ({ running: acquired, waiting: waiting.length }),
  }
}

function waitForPermit(waiting: (() => void)[], timeout: Timeout | undefined): Promise<void> {
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
