// At most so many at once; others wait their turn, the longest waiting first.

import { AppError } from './errors.ts'

export type Turns = {
  /** Waits for a turn; disposing of it ends it. @throws AppError `busy` when none comes in time */
  take(): Promise<Disposable>
  status(): { running: number; waiting: number }
}

/** Without a patience they wait as long as it takes. */
export function createTurns(most: number, patience?: { ms: number; words: string }): Turns {
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
      if (taken < most) taken += 1
      else await called(waiting, patience)
      return turn()
    },
    status: () => ({ running: taken, waiting: waiting.length }),
  }
}

function called(waiting: (() => void)[], patience: { ms: number; words: string } | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!patience) return waiting.push(resolve)
    const timer = setTimeout(() => {
      waiting.splice(waiting.indexOf(call), 1)
      reject(new AppError('busy', patience.words))
    }, patience.ms)
    const call = () => {
      clearTimeout(timer)
      resolve()
    }
    waiting.push(call)
  })
}
