// The database's time on each node: what its last looks at the database measured, carried on by a count of milliseconds that
// nobody sets. Of the last looks the one counts that came back fastest, for its answer is the least old.

import type { Clock } from '../../dates.ts'

const LOOKS_KEPT = 20
const MOST_BACK_MS = 1000
const DRIFT_MS = 50

export type SharedClock = {
  read: Clock
  /** Milliseconds that never go back. */
  ticks(): number
  /** `sentAt` and `receivedAt` by `ticks`, and what the database said in between. */
  compare(sentAt: number, receivedAt: number, told: Date): void
  /** How far the machine is behind the database; negative: ahead of it. */
  offsetMs(): number
}

/** `machine`: milliseconds since 1970 as an administrator or a time server sets them, now and then. */
export function createSharedClock(
  machine: () => number = Date.now,
  ticks = () => performance.now(),
): SharedClock {
  const looks: { trip: number; offset: number }[] = []
  let offset = machine() - ticks()
  let used: number | undefined
  return {
    read: () => new Date(ticks() + (used ?? offset)),
    ticks,
    compare(sentAt, receivedAt, told) {
      const look = { trip: receivedAt - sentAt, offset: told.getTime() - (sentAt + receivedAt) / 2 }
      // Where both cannot be, the machine slept, or the database is another server: what was before is of no use.
      const isApart = (one: typeof look) =>
        Math.abs(one.offset - look.offset) > (one.trip + look.trip) / 2 + DRIFT_MS
      if (looks.some(isApart)) looks.length = 0
      looks.push(look)
      if (looks.length > LOOKS_KEPT) looks.shift()
      offset = looks.reduce((best, look) => (look.trip < best.trip ? look : best)).offset
      // What was written down shall not seem to lie far in the future: it is set back by steps.
      used = used === undefined ? offset : Math.max(offset, used - MOST_BACK_MS)
    },
    offsetMs: () => ticks() + offset - machine(),
  }
}
