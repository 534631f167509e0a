// The time by which the leases of claims are measured, which passes when a test says so.

import { postgres } from '../temporary.ts'

export type LeaseTime = {
  /** Milliseconds, for a process that measures leases itself. */
  ticks(): number
  /** Lets time pass. Where the database's clock counts, all leases end so much earlier instead. */
  pass(seconds: number): Promise<void>
}

export function leaseTimeIn(dataDir: string): LeaseTime {
  let now = 0
  return {
    ticks: () => now,
    async pass(seconds) {
      now += seconds * 1000
      await postgres?.passLeases(dataDir, seconds)
    },
  }
}
