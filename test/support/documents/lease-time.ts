// Time that claim leases are measured with; only the test moves it.

import { postgres } from '../temporary.ts'

export type LeaseTime = {
  /** Milliseconds, for a process that measures leases itself. */
  ticks(): number
  /** Moves the time. On PostgreSQL, whose own clock counts, it shortens all leases instead. */
  pass(seconds: number): Promise<void>
}

export function openLeaseTime(dataDir: string): LeaseTime {
  let now = 0
  return {
    ticks: () => now,
    async pass(seconds) {
      now += seconds * 1000
      await postgres?.shortenLeases(dataDir, seconds)
    },
  }
}
