// Figures of the queue for people (decisions#queue), within the access of a client. Many tabs query them every few
// seconds, so all requests of a filter share an answer for a second.

import { type AgentRow, selectAgents } from '../../store/directory/agents.ts'
import { type OpenTimes, selectAgentOpenTimes, selectOpenTimes } from '../../store/documents/claims.ts'
import {
  type CountTotals,
  findLastClaim,
  selectAgentClaims,
  selectAgentSeconds,
  selectAgentTotals,
  selectSeconds,
  selectTotals,
} from '../../store/documents/counts.ts'
import type { PartyFilter } from '../../store/documents/filter.ts'
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

/** Figures of an agent, with its name and its company. */
export type AgentSummary = { agent_id: number; company_id: number; agent: string } & DocumentSummary

/** `has_more`: agents of greater ids follow. */
export type AgentSummaries = { agents: AgentSummary[]; has_more: boolean }

/** Summaries within an access. @throws AppError `not-found` for a company or an agent outside of it */
export type Summaries = {
  total(access: Access, filter: PartyFilter): Promise<DocumentSummary>
  /** Answers the first 200 agents, active or not, by id. */
  byAgent(access: Access, filter: PartyFilter): Promise<AgentSummaries>
}

const SHARED_MS = 1000
const MOST_FILTERS = 1000
const MOST_AGENTS = 200

type SummaryDeps = {
  db: ReadDb
  leases: LeaseSql
  clock: Clock
  /** Monotonic milliseconds; default those of the process. */
  ticks?: (() => number) | undefined
}

/** Returns the functions for summaries. Their answers are at most a second old. */
export function createSummaries(deps: SummaryDeps): Summaries {
  const { ticks = () => performance.now() } = deps
  return {
    total: shareAnswers((filter) => readSummary(deps, filter), ticks),
    byAgent: shareAnswers((filter) => readAgentSummaries(deps, filter), ticks),
  }
}

/** Shares an answer among the requests of a filter for a second. */
function shareAnswers<T>(
  query: (filter: PartyFilter) => Promise<T>,
  ticks: () => number,
): (access: Access, filter: PartyFilter) => Promise<T> {
  const answers = new Map<string, { answer: Promise<T>; until: number }>()
  return (access, request) => {
    const filter = accessFilter(access, request)
    const key = `${filter.companyId} ${filter.agentId}`
    const now = ticks()
    const shared = answers.get(key)
    if (shared && now < shared.until) return shared.answer
    if (answers.size >= MOST_FILTERS) answers.clear()
    const answer = query(filter)
    answers.set(key, { answer, until: now + SHARED_MS })
    answer.catch(() => answers.delete(key)) // the next request queries again
    return answer
  }
}

async function readSummary(
  { db, leases, clock }: SummaryDeps,
  filter: PartyFilter,
): Promise<DocumentSummary> {
  const today = currentDay(clock)
  const totals = await selectTotals(db, filter, today)
  const open = hasOpen(totals) ? await selectOpenTimes(db, leases, filter) : undefined
  const lastClaim = await findLastClaim(db, filter)
  const seconds = totals.done_today > 0 ? await selectSeconds(db, filter, today) : []
  return toSummary(totals, open, lastClaim, seconds)
}

/** Runs the same number of queries for one agent and for all. */
async function readAgentSummaries(
  { db, leases, clock }: SummaryDeps,
  { companyId, agentId }: PartyFilter,
): Promise<AgentSummaries> {
  const today = currentDay(clock)
  const rows = await selectAgents(db, companyId, { id: agentId, limit: MOST_AGENTS + 1 })
  const agents = rows.slice(0, MOST_AGENTS)
  if (agents.length === 0) return { agents: [], has_more: false }
  const filter = { agentIds: agents.map(({ id }) => id) }
  const totals = await selectAgentTotals(db, filter, today)
  const openTimes = [...totals.values()].some(hasOpen)
    ? await selectAgentOpenTimes(db, leases, filter)
    : new Map<number, OpenTimes>()
  const lastClaims = await selectAgentClaims(db, filter)
  const seconds = await selectAgentSeconds(db, filter, today)
  const summarize = ({ id, company_id, name }: AgentRow): AgentSummary => ({
    ...{ agent_id: id, company_id, agent: name },
    ...toSummary(totals.get(id) ?? NO_TOTALS, openTimes.get(id), lastClaims.get(id), seconds.get(id) ?? []),
  })
  return { agents: agents.map(summarize), has_more: rows.length > MOST_AGENTS }
}

const NO_TOTALS: CountTotals = {
  ...{ new: 0, claimed: 0, done: 0, failed: 0, bytes: 0, changes: 0 },
  ...{ done_today: 0, failed_today: 0, failed_at: null },
}

function hasOpen(totals: CountTotals): boolean {
  return totals.new > 0 || totals.claimed > 0
}

function toSummary(
  totals: CountTotals,
  open: OpenTimes | undefined,
  lastClaim: DocumentSummary['last_claim'] | undefined,
  seconds: readonly { seconds: number; count: number }[],
): DocumentSummary {
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
    median_seconds_today: totals.done_today > 0 ? medianSeconds(seconds) : null,
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
