// Queue of the runs of a server, one at a time. Runs of required providers come first, and a run of an optional one gives
// way to them. Otherwise a source that never answers would delay the bank by minutes.

/** Abort reason of a run that gives way. */
export const GAVE_WAY = new Error('gave way to a sync of a required provider')

export type RunQueue = {
  /** Runs `work` after the runs before it. `isFirst`: before all others, and the current one of them is aborted. */
  enqueue<T>(work: (giveWay: AbortSignal) => Promise<T>, options: { isFirst: boolean }): Promise<T>
}

export function createRunQueue(): RunQueue {
  const first: (() => Promise<unknown>)[] = []
  const others: (() => Promise<unknown>)[] = []
  let current: { isFirst: boolean; abort: AbortController } | undefined
  const runNext = () => {
    if (current) return
    const isFirst = first.length > 0
    const task = first.shift() ?? others.shift()
    if (!task) return
    current = { isFirst, abort: new AbortController() }
    void task().finally(() => {
      current = undefined
      runNext()
    })
  }
  return {
    enqueue(work, { isFirst }) {
      const result = Promise.withResolvers<Awaited<ReturnType<typeof work>>>()
      const task = async () => {
        const { signal } = (current as NonNullable<typeof current>).abort
        await Promise.try(work, signal).then(result.resolve, result.reject)
      }
      ;(isFirst ? first : others).push(task)
      if (isFirst && current && !current.isFirst) current.abort.abort(GAVE_WAY)
      runNext()
      return result.promise
    },
  }
}
