// Gives memory back after a rush. V8 collects when something is allocated: a server that no client asks any more would
// keep what its busiest minute needed, for days, on a machine that others share.

import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 10_000
const BUSY = 0.1 // of the time
const IDLE = 0.01

/** Collects once when a time with much to do is followed by one with nothing to do. Does not keep the process alive. */
export function collectWhenIdle(): Disposable {
  const isIdleAfterRush = idleAfterRush()
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    if (isIdleAfterRush(performance.eventLoopUtilization(now, last).utilization)) collectGarbage()
    last = now
  }, LOOK_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** For the utilization of one interval after the other (0 to 1): whether it is the first idle one after a busy one. */
export function idleAfterRush(): (utilization: number) => boolean {
  let wasBusy = false
  return (utilization) => {
    const isFirstIdle = wasBusy && utilization < IDLE
    if (utilization > BUSY) wasBusy = true
    else if (isFirstIdle) wasBusy = false
    return isFirstIdle
  }
}

/** A full collection, now. */
export function collectGarbage(): void {
  setFlagsFromString('--expose-gc') // at the start of the program it would make that slower
  const gc = runInNewContext('gc') as () => void
  gc()
}
