// Time in tests, on a machine that others share: it may stand still for seconds, at any moment, and that is no fault of
// what is tested.

/** The processor's time that something takes in this process, in milliseconds: none goes by while the machine stands still. */
export async function cpuMsOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * For what must stay within a time-out of some hundred milliseconds: a failure counts only if this process did not stand
 * still for `mostMs` meanwhile, else it is tried again.
 */
export async function steadily(mostMs: number, attempt: () => Promise<void>): Promise<void> {
  for (let left = 20; ; left -= 1) {
    let last = performance.now()
    let longest = 0
    const tick = () => {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    }
    const ticking = setInterval(tick, 5)
    try {
      return await attempt()
    } catch (error) {
      tick()
      if (longest < mostMs || left === 0) throw error
    } finally {
      clearInterval(ticking)
    }
  }
}
