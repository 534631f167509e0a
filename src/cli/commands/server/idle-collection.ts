// Returns memory to the system after a busy time. V8 collects garbage only on allocation. An idle server would occupy
// the memory of its busiest minute for days, on a machine that other programs share.

import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const POLL_EVERY_MS = 10_000
const BUSY = 0.1 // utilization of the event loop
const IDLE = 0.01
const GROWTH = 32 * 1024 ** 2 // large mails pass through a loop that is hardly busy

/**
 * Collects once in the first idle interval after the start, a busy interval, or 32 MiB more memory. Its timer does not
 * prevent the exit of the process.
 */
export function collectWhenIdle(): Disposable {
  const isIdleAfterRush = idleAfterRush()
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    if (isIdleAfterRush({ utilization, memory: process.memoryUsage.rss() })) collectHeap()
    last = now
  }, POLL_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Utilization of the event loop (0 to 1), and resident memory in bytes at its end. */
type LoopInterval = { utilization: number; memory: number }

/** Returns a function of each interval: true for the first idle one after the start, or after a rush. */
export function idleAfterRush(): (interval: LoopInterval) => boolean {
  let wasBusy = true // the start
  let least = Number.POSITIVE_INFINITY
  return ({ utilization, memory }) => {
    const isFirstIdle = wasBusy && utilization < IDLE
    least = Math.min(least, memory)
    if (utilization > BUSY || memory > least + GROWTH) wasBusy = true
    if (isFirstIdle) {
      wasBusy = false
      least = Number.POSITIVE_INFINITY // memory that a collection does not return is in use
    }
    return isFirstIdle
  }
}

/** Runs a full collection. */
export function collectHeap(): void {
  setFlagsFromString('--expose-gc') // as a flag of the program it would slow the start
  const gc = runInNewContext('gc') as () => void
  gc()
}
