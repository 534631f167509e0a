// Log of the box at the end of the soak. An error without the absent bank is a fault, and so is a line that is
// no event.

import { count, fault, type Soak } from '../world.ts'
import type { LogIssue } from './box.ts'

/** A period in milliseconds since 1970. */
export type Period = { from: number; to: number }

const OF_BANK = /^(sync failed|sync finished|reading indicators failed|refining failed)$/
/** A source gives way to the bank: its run ends as an error, and is repeated. */
const GAVE_WAY = /gave way to a sync of a required provider/
const LATE_MS = 120_000 // a run that began while the bank was away, and its retries

/** Checks the warnings and errors of a server. */
export function checkLog(soak: Soak, issues: readonly LogIssue[], away: Period): void {
  const interruptedRuns = new Set(
    issues.filter(({ problem }) => GAVE_WAY.test(problem ?? '')).map(({ run }) => run),
  )
  for (const issue of issues) {
    const { time, level, event, run } = issue
    count(soak, `log: ${level} ${event}`)
    const at = Date.parse(time)
    const isOfBank = OF_BANK.test(event) && at >= away.from && at <= away.to + LATE_MS
    const gaveWay = event === 'sync finished' && interruptedRuns.has(run)
    if (level !== 'warn' && !isOfBank && !gaveWay) fault(soak, `log: ${JSON.stringify(issue)}`)
  }
}
