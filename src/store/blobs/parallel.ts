/**
 * Runs the work on all items, some at once, and begins with no further one after a failure.
 * @throws the first failure, once nothing runs any more
 */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  let failed = false
  const lane = async () => {
    for (let next = rest.next(); !failed && !next.done; next = rest.next()) {
      await work(next.value).catch((error: unknown) => {
        failed = true
        throw error
      })
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, lane))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
}
