// Returns memory to the system after a busy time. V8 collects garbage only on allocation. An idle server would occupy
// the memory of its busiest minute for days, on a machine that other programs share.

import { performance } from 'node:perf_hooks'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const POLL_EVERY_MS = 10_000
const BUSY = 0.1 // utilization of the event loop
const IDLE = 0.01

/** Collects once when an idle interval follows a busy one. Its timer does not prevent the exit of the process. */
export function collectWhenIdle(): Disposable {
  const isIdleAfterRush = idleAfterRush()
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    if (isIdleAfterRush(performance.eventLoopUtilization(now, last).utilization)) collectHeap()
    last = now
  }, POLL_EVERY_MS).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

/** Returns a function of each interval's utilization (0 to 1): true for the first idle one after a busy one. */
export function idleAfterRush(): (utilization: number) => boolean {
  let wasBusy = false
  return (utilization) => {
    const isFirstIdle = wasBusy && utilization < IDLE
    if (utilization > BUSY) wasBusy = true
    else if (isFirstIdle) wasBusy = false
    return isFirstIdle
  }
}

/** Runs a full collection. */
export function collectHeap(): void {
  setFlagsFromString('--expose-gc') // as a flag of the program it would slow the start
  const gc = runInNewContext('gc') as () => void
  gc()
}
