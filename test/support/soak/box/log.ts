// Log of the box at the end of the soak. An error without the absent bank is a fault, and so is a line that is
// no event.

import { count, fault, type Soak } from '../world.ts'
import type { LogIssue } from './box.ts'

/** A period in milliseconds since 1970. */
export type Period = { from: number; to: number }

const OF_BANK = /^(sync failed|sync finished|reading indicators failed|refining failed)$/
const LATE_MS = 120_000 // a run that began while the bank was away, and its retries

/** Checks the warnings and errors of a server. */
export function checkLog(soak: Soak, issues: readonly LogIssue[], away: Period): void {
  for (const issue of issues) {
    const { time, level, event } = issue
    count(soak, `log: ${level} ${event}`)
    const at = Date.parse(time)
    const isOfBank = OF_BANK.test(event) && at >= away.from && at <= away.to + LATE_MS
    if (level !== 'warn' && !isOfBank) fault(soak, `log: ${JSON.stringify(issue)}`)
  }
}
