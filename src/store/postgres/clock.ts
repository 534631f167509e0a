// The database's time on each node: that of the machine, and how far it is off. Of the last looks the one counts that came
// back fastest, for its answer is the least old.

import type { Clock } from '../../dates.ts'

const LOOKS_KEPT = 20
const MOST_BACK_MS = 1000

export type SharedClock = {
  read: Clock
  /** `sentAt` and `receivedAt` of this machine, milliseconds since 1970, and what the database said in between. */
  compare(sentAt: number, receivedAt: number, told: Date): void
  /** How far the machine is behind the database; negative: ahead of it. */
  offsetMs(): number
}

export function createSharedClock(machine: () => number = Date.now): SharedClock {
  const looks: { trip: number; offset: number }[] = []
  let offset = 0
  let used = 0
  return {
    read: () => new Date(machine() + used),
    compare(sentAt, receivedAt, told) {
      looks.push({ trip: receivedAt - sentAt, offset: told.getTime() - (sentAt + receivedAt) / 2 })
      if (looks.length > LOOKS_KEPT) looks.shift()
      offset = looks.reduce((best, look) => (look.trip < best.trip ? look : best)).offset
      // What was written down shall not seem to lie far in the future: it is set back by steps.
      used = looks.length === 1 ? offset : Math.max(offset, used - MOST_BACK_MS)
    },
    offsetMs: () => offset,
  }
}
