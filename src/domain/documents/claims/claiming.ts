// Claims: the workers of an agent share its documents. A document is claimed by a single worker at a time, for a
// lease, and finished once (decisions#claims).

import { hash, randomUUID } from 'node:crypto'
import { AppError } from '../../../runtime/errors.ts'
import { selectAgentsById } from '../../../store/directory/agents.ts'
import { claimRows, endClaim, lockClaim, selectAbandoned } from '../../../store/documents/claims.ts'
import { type DocumentRow, selectDocumentsById } from '../../../store/documents/documents.ts'
import { insertEvents, type NewEvent } from '../../../store/documents/events.ts'
import { type ClaimRow, selectClaimable } from '../../../store/documents/queue.ts'
import { atomically } from '../../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import type { Clock } from '../../../values/dates.ts'
import { queueOutcomes } from '../../hooks/queued-events.ts'
import { type Access, checkAgentAccess } from '../access.ts'
import type { DocumentWaiters } from '../arrivals.ts'
import type { WaitOptions } from '../queries.ts'
import { checkId, isEmptyValue } from '../uploads/checks.ts'
import { MOST_AGENTS } from './claim-limits.ts'
import type { Leases } from './leases.ts'

export type ClaimDeps = {
  db: WriteDb
  waiters: DocumentWaiters
  leases: Leases
  clock: Clock
  /** Number of unfinished claims after which a document is failed. */
  maxAttempts: number
  wakeHooks: () => void
}

/** Token of a worker, and its access. */
export type Worker = { tokenId: number; name: string; access: Access }

/** `agentIds`: different ones. */
export type ClaimRequest = { agentIds: readonly number[]; limit: number; leaseSeconds: number }

/** A claimed document. `lease_until`: end of the lease, unless the clock is changed. */
export type ClaimedDocument = DocumentRow & { claim_id: string; lease_until: string }

const FAILED_AT_ONCE = 1000
const ALTERNATIVES = 'agent_id and agent_ids are alternatives: send one of them'

/** Agents that a worker requests: none by default for a token of one agent. */
export type RequestedAgents = { agent_id: unknown; agent_ids: unknown }

/**
 * Checks the agents of a claim. Returns different ones.
 * @throws AppError `bad-request` for ids of another form, for too many or none of them
 */
export function checkAgentIds({ access }: Worker, { agent_id, agent_ids }: RequestedAgents): number[] {
  const hasList = agent_ids !== undefined && agent_ids !== null
  if (hasList && !isEmptyValue(agent_id)) throw new AppError('bad-request', ALTERNATIVES)
  if (hasList) return checkList(agent_ids)
  if (!isEmptyValue(agent_id)) return [checkId('agent_id', agent_id)]
  if (access.agentId !== null) return [access.agentId]
  throw new AppError('bad-request', 'agent_id is required: this token is not of one agent')
}

function checkList(agentIds: unknown): number[] {
  const count = Array.isArray(agentIds) ? agentIds.length : 0
  if (count < 1 || count > MOST_AGENTS)
    throw new AppError('bad-request', `agent_ids must be a list of 1 to ${MOST_AGENTS} ids of agents`)
  return [...new Set((agentIds as unknown[]).map((id) => checkId('each of agent_ids', id)))]
}

/**
 * Claims at most `limit` of the agents' documents that are new or whose lease has expired. The highest priority comes
 * first, then the oldest. With `waiting`, waits for the first or the end of the time.
 * @throws AppError `not-found` for an agent that does not exist or is outside of the access, `bad-request` for agents of
 * several companies, `busy` when too many clients wait, and errors of `recheckAccess`
 */
export async function claimDocuments(
  claiming: ClaimDeps,
  worker: Worker,
  request: ClaimRequest,
  waiting?: WaitOptions,
): Promise<ClaimedDocument[]> {
  const { waiters } = claiming
  await checkAgents(claiming.db, worker.access, request)
  if (!waiting) return claimNow(claiming, worker, request)
  const filter = { after: 0, agentIds: request.agentIds, worker: worker.tokenId }
  // Registered before the first query, so that a commit during the query is not missed.
  using wait = waiters.begin(filter, waiting.ms)
  let documents = await claimNow(claiming, worker, request)
  if (documents.length > 0) return documents
  using _watch = waiting.watch(() => wait.end())
  claiming.leases.wake()
  while (documents.length === 0) {
    const mayBeThere = await wait.next()
    const access = await waiting.recheckAccess()
    if (!mayBeThere) break
    await checkAgents(claiming.db, access, request)
    documents = await claimNow(claiming, { ...worker, access }, request)
  }
  return documents
}

/** Fails expired documents whose attempts are used up, even if no worker requests them again. */
export async function failAbandoned(claiming: ClaimDeps): Promise<void> {
  const { db, leases, clock, maxAttempts } = claiming
  let count: number
  do {
    count = await atomically(db, async (trx) => {
      const limits = { attempts: maxAttempts, limit: FAILED_AT_ONCE }
      const rows = await selectAbandoned(trx, leases.sql, limits)
      await failDocuments(trx, rows, clock().toISOString())
      return rows.length
    })
    if (count > 0) claiming.wakeHooks()
  } while (count === FAILED_AT_ONCE)
}

async function claimNow(
  claiming: ClaimDeps,
  worker: Worker,
  request: ClaimRequest,
): Promise<ClaimedDocument[]> {
  const result: ClaimedDocument[] = []
  for (;;) {
    const rest = { ...request, limit: request.limit - result.length }
    const { documents, failed } = await claimOnce(claiming, worker, rest)
    result.push(...documents)
    if (failed > 0) claiming.wakeHooks()
    if (result.length >= request.limit || failed === 0) return result.sort(compareInClaimOrder)
  }
}

/** Documents may have become free between the queries of a claim. */
function compareInClaimOrder(one: ClaimedDocument, other: ClaimedDocument): number {
  return (other.priority ?? 0) - (one.priority ?? 0) || one.id - other.id
}

/** Claims documents in one transaction. Documents that it failed instead leave room for further ones. */
function claimOnce(
  { db, leases, clock, maxAttempts }: ClaimDeps,
  worker: Worker,
  { agentIds, limit, leaseSeconds }: ClaimRequest,
): Promise<{ documents: ClaimedDocument[]; failed: number }> {
  const claim = async (trx: WriteDb) => {
    const at = clock().toISOString()
    const free = await selectClaimable(trx, leases.sql, { agentIds, limit })
    const exhausted = free.filter(({ attempts }) => attempts >= maxAttempts)
    await failDocuments(trx, exhausted, at)
    const claims = free
      .filter(({ attempts }) => attempts < maxAttempts)
      .map((row) => ({ row, claimId: randomUUID() }))
    if (claims.length === 0) return { documents: [], failed: exhausted.length }
    const leaseEnd = await claimRows(trx, leases.sql, claims, { at, by: worker.name, leaseSeconds })
    await insertEvents(
      trx,
      claims.map(({ row }) => claimEvent(row, 'claimed', at, { worker, attempt: row.attempts + 1 })),
    )
    const claimIds = new Map(claims.map(({ row, claimId }) => [row.id, claimId]))
    const rows = await selectDocumentsById(trx, [...claimIds.keys()])
    const lease_until = leaseEnd.toISOString()
    const documents = rows.map((row) => ({ ...row, claim_id: claimIds.get(row.id) ?? '', lease_until }))
    return { documents, failed: exhausted.length }
  }
  return atomically(db, claim, {
    async wasCommitted(again, { documents: [first] }) {
      return first !== undefined && (await lockClaim(again, first.id))?.claim_id === first.claim_id
    },
  })
}

/** Fails documents whose attempts are used up. */
export async function failDocuments(trx: WriteDb, rows: readonly ClaimRow[], at: string): Promise<void> {
  for (const row of rows) {
    const note = `Given up: claimed ${row.attempts} times and never finished`
    const outcome = { state: 'failed', finished_at: at, finished_by: null, note } as const
    await endClaim(trx, row, outcome)
    await insertEvents(trx, [claimEvent(row, 'failed', at, { note })])
  }
  await queueOutcomes(trx, 'document.failed', at, rows)
}

/** Event of a document; without a worker the actor is the server. */
export function claimEvent(
  { id: document_id, company_id, attempts }: Pick<ClaimRow, 'id' | 'company_id' | 'attempts'>,
  kind: NewEvent['kind'],
  at: string,
  { worker, attempt = attempts, note = null, result = null }: ClaimEventFacts,
): NewEvent {
  const by = worker
    ? ({ via: 'token', actor: worker.name } as const)
    : ({ via: 'server', actor: 'cambista' } as const)
  const sha256 = result === null ? null : hash('sha256', result, 'hex')
  const size = result === null ? null : Buffer.byteLength(result)
  return { at, kind, ...by, document_id, company_id, sha256, size, attempt, note }
}

type ClaimEventFacts = {
  worker?: Pick<Worker, 'name'>
  attempt?: number
  note?: string | null
  result?: string | null
}

async function checkAgents(
  db: ReadDb,
  access: Access,
  { agentIds }: Pick<ClaimRequest, 'agentIds'>,
): Promise<void> {
  for (const id of agentIds) checkAgentAccess(access, id)
  const agents = await selectAgentsById(db, agentIds)
  const own = agents.filter(({ company_id }) => access.companyId === null || company_id === access.companyId)
  const missingId = agentIds.find((id) => !own.some((agent) => agent.id === id))
  if (missingId !== undefined)
    throw new AppError(
      'not-found',
      agentIds.length === 1 ? 'Agent not found' : `Agent ${missingId} not found`,
      { reason: 'no_agent' },
    )
  if (new Set(own.map(({ company_id }) => company_id)).size > 1)
    throw new AppError('bad-request', 'agent_ids must be agents of one company')
}
