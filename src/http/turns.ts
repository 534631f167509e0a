// At most so many at once; others wait their turn for a while.

import { AppError } from '../errors.ts'

export type Turns = {
  /** Waits for a turn; disposing of it ends it. @throws AppError `busy` when none comes in time */
  take(): Promise<Disposable>
  status(): { running: number; waiting: number }
}

export function createTurns(most: number, waitMs: number): Turns {
  let taken = 0
  const waiting: (() => void)[] = []
  const turn = (): Disposable => ({
    [Symbol.dispose]() {
      const next = waiting.shift()
      if (next)
        next() // the turn passes on, so that nobody slips in between
      else taken -= 1
    },
  })
  return {
    async take() {
      if (taken < most) {
        taken += 1
        return turn()
      }
      await new Promise<void>((resolve, reject) => {
        const called = () => {
          clearTimeout(timer)
          resolve()
        }
        const timer = setTimeout(() => {
          waiting.splice(waiting.indexOf(called), 1)
          reject(new AppError('busy', `${most} uploads are under way: try again in a moment`))
        }, waitMs)
        waiting.push(called)
      })
      return turn()
    },
    status: () => ({ running: taken, waiting: waiting.length }),
  }
}
