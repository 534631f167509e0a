// Figures of the queue for people (decisions 3.19), within the access of a client. Many tabs query them every few seconds,
// so all requests of a filter share an answer for a second.

import { selectOpenTimes } from '../../store/documents/claims.ts'
import { type AgentFilter, findLastClaim, selectSeconds, selectTotals } from '../../store/documents/counts.ts'
import type { LeaseSql } from '../../store/engine.ts'
import type { ReadDb } from '../../store/tables.ts'
import { type Clock, currentDay } from '../../values/dates.ts'
import { type Access, accessFilter } from './access.ts'

/** `changed` rises with each arrival, event and deletion. Instants are null where there is none. */
export type DocumentSummary = {
  waiting: number
  oldest_waiting_at: string | null
  working: number
  working_since: string | null
  failed: number
  failed_today: number
  last_failed_at: string | null
  done_today: number
  median_seconds_today: number | null
  stored: number
  bytes: number
  last_claim: { at: string; by: string | null } | null
  changed: number
}

export type Summaries = (access: Access, filter: AgentFilter) => Promise<DocumentSummary>

const SHARED_MS = 1000
const MOST_FILTERS = 1000

/** Returns the function for summaries. Its answers are at most a second old. */
export function createSummaries(deps: { db: ReadDb; leases: LeaseSql; clock: Clock }): Summaries {
  const answers = new Map<string, { summary: Promise<DocumentSummary>; until: number }>()
  return (access, request) => {
    const filter = accessFilter(access, request)
    const key = `${filter.companyId} ${filter.agentId}`
    const now = performance.now()
    const shared = answers.get(key)
    if (shared && now < shared.until) return shared.summary
    if (answers.size >= MOST_FILTERS) answers.clear()
    const summary = readSummary(deps, filter)
    answers.set(key, { summary, until: now + SHARED_MS })
    summary.catch(() => answers.delete(key)) // the next request queries again
    return summary
  }
}

async function readSummary(
  { db, leases, clock }: { db: ReadDb; leases: LeaseSql; clock: Clock },
  filter: AgentFilter,
): Promise<DocumentSummary> {
  const today = currentDay(clock)
  const totals = await selectTotals(db, filter, today)
  const isOpen = totals.new > 0 || totals.claimed > 0
  const open = isOpen ? await selectOpenTimes(db, leases, filter) : undefined
  const lastClaim = await findLastClaim(db, filter)
  const median = totals.done_today > 0 ? medianSeconds(await selectSeconds(db, filter, today)) : null
  const expired = open?.expired ?? 0
  return {
    waiting: totals.new + expired,
    oldest_waiting_at: open?.oldestWaiting ?? null,
    working: totals.claimed - expired,
    working_since: open?.workingSince ?? null,
    failed: totals.failed,
    failed_today: totals.failed_today,
    last_failed_at: totals.failed > 0 ? totals.failed_at : null,
    done_today: totals.done_today,
    median_seconds_today: median,
    stored: totals.new + totals.claimed + totals.done + totals.failed,
    bytes: totals.bytes,
    last_claim: lastClaim ?? null,
    changed: totals.changes,
  }
}

/** Returns the lower median; null: no values. */
export function medianSeconds(values: readonly { seconds: number; count: number }[]): number | null {
  let rest = Math.ceil(values.reduce((sum, { count }) => sum + count, 0) / 2)
  if (rest <= 0) return null
  for (const { seconds, count } of values) {
    rest -= count
    if (rest <= 0) return seconds
  }
  return null
}
