/**
 * Runs the work on all items, at most `atOnce` in parallel. After a failure it begins no further item.
 * @throws the first failure, after the running items have ended
 */
export async function inParallel<T>(
  items: Iterable<T>,
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]()
  let hasFailed = false
  const lane = async () => {
    for (let next = rest.next(); !hasFailed && !next.done; next = rest.next()) {
      await work(next.value).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: atOnce }, lane))
  for (const lane of lanes) if (lane.status === 'rejected') throw lane.reason
}
