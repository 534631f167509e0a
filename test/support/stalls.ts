// Time measurements on a shared machine, which may stall for seconds. A stall is no fault of the program.

/** Processor time of some work in this process, in milliseconds; a stall of the machine adds nothing. */
export async function measureCpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Measures the longest time without a turn of the event loop, in processor milliseconds of this thread. The returned
 * function ends the measurement.
 */
export function measurePauses(): () => number {
  let last = process.threadCpuUsage()
  let longest = 0
  const tick = () => {
    const usage = process.threadCpuUsage()
    longest = Math.max(longest, (usage.user + usage.system - last.user - last.system) / 1000)
    last = usage
  }
  const timer = setInterval(tick, 1)
  return () => {
    clearInterval(timer)
    tick()
    return longest
  }
}

/**
 * Retries an attempt that depends on a time-out of some hundred milliseconds. A failure counts only if this process
 * stalled for less than `mostMs`.
 */
export async function retryWhenStalled(mostMs: number, attempt: () => Promise<void>): Promise<void> {
  for (let attemptsLeft = 20; ; attemptsLeft -= 1) {
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
      if (longest < mostMs || attemptsLeft === 0) throw error
    } finally {
      clearInterval(ticking)
    }
  }
}
