// Time of the database on each node: polls measure its offset from the monotonic clock of the process. The fastest of
// the last 20 polls counts, because its answer is the least old.

import type { Clock } from '../../values/dates.ts'

const MAX_SAMPLES = 20
const MAX_STEP_BACK_MS = 1000
const DRIFT_MS = 50

export type SharedClock = {
  read: Clock
  /** Monotonic milliseconds. */
  ticks(): number
  /** Adds a measurement. `sentAt` and `receivedAt` are `ticks`; `serverTime`: answer of the database. */
  compare(sentAt: number, receivedAt: number, serverTime: Date): void
  /** Milliseconds that the machine is behind the database; negative: ahead. */
  offsetMs(): number
}

/** `machine`: milliseconds since 1970; an administrator or a time server may change them at any moment. */
export function createSharedClock(
  machine: () => number = Date.now,
  ticks = () => performance.now(),
): SharedClock {
  const samples: { trip: number; offset: number }[] = []
  let offset = machine() - ticks()
  let usedOffset: number | undefined
  return {
    read: () => new Date(ticks() + (usedOffset ?? offset)),
    ticks,
    compare(sentAt, receivedAt, serverTime) {
      const sample = { trip: receivedAt - sentAt, offset: serverTime.getTime() - (sentAt + receivedAt) / 2 }
      // Contradicting samples mean that the machine slept or the database moved to another server: the old ones are
      // dropped.
      const isApart = (one: typeof sample) =>
        Math.abs(one.offset - sample.offset) > (one.trip + sample.trip) / 2 + DRIFT_MS
      if (samples.some(isApart)) samples.length = 0
      samples.push(sample)
      if (samples.length > MAX_SAMPLES) samples.shift()
      offset = samples.reduce((best, one) => (one.trip < best.trip ? one : best)).offset
      // The clock goes back by at most MAX_STEP_BACK_MS a poll, so that stored instants are not far in the future.
      usedOffset = usedOffset === undefined ? offset : Math.max(offset, usedOffset - MAX_STEP_BACK_MS)
    },
    offsetMs: () => ticks() + offset - machine(),
  }
}
