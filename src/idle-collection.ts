// Gives memory back after a rush. V8 collects when something is allocated: a server that nobody asks any more would keep
// what its busiest minute needed, for days, on a machine that others share.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const LOOK_EVERY_MS = 10_000
const BUSY = 0.1 // of the time
const IDLE = 0.01

/** Collects once when a time with much to do is followed by one with nothing to do. Does not keep the process alive. */
export function collectWhenIdle(lookEveryMs = LOOK_EVERY_MS): Disposable {
  let wasBusy = false
  let last = performance.eventLoopUtilization()
  const timer = setInterval(() => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    if (utilization > BUSY) wasBusy = true
    else if (wasBusy && utilization < IDLE) {
      wasBusy = false
      collect()
    }
  }, lookEveryMs).unref()
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

function collect(): void {
  setFlagsFromString('--expose-gc') // at the start of the program it would make that slower
  const gc = runInNewContext('gc') as () => void
  gc()
}
