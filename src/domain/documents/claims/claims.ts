// Claims: the workers of an agent share its documents. A document is claimed by a single worker at a time, for a
// lease, and finished once (decisions 3.16).

import { hash, randomUUID } from 'node:crypto'
import { AppError } from '../../../runtime/errors.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import {
  type ClaimRow,
  claimRows,
  endClaim,
  lockClaim,
  selectAbandoned,
  selectClaimable,
} from '../../../store/documents/claims.ts'
import { type DocumentRow, selectDocumentsById } from '../../../store/documents/documents.ts'
import { insertEvents, type NewEvent } from '../../../store/documents/events.ts'
import { atomically } from '../../../store/engine.ts'
import type { ReadDb, WriteDb } from '../../../store/tables.ts'
import type { Clock } from '../../../values/dates.ts'
import { queueOutcomes } from '../../hooks/events.ts'
import { type Access, checkAgentAccess } from '../access.ts'
import type { DocumentWaiters } from '../arrivals.ts'
import type { WaitOptions } from '../queries.ts'
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

export type ClaimRequest = { agentId: number; limit: number; leaseSeconds: number }

/** A claimed document. `lease_until`: end of the lease, unless the clock is changed. */
export type ClaimedDocument = DocumentRow & { claim_id: string; lease_until: string }

const FAILED_AT_ONCE = 1000

/**
 * Claims at most `limit` of an agent's documents that are new or whose lease has expired. The highest priority comes
 * first, then the oldest. With `patience`,
 * waits for the first or the end of the time.
 * @throws AppError `not-found` for an agent that does not exist or is outside of the access, `busy` when too many
 * clients wait, and errors of `recheckAccess`
 */
export async function claimDocuments(
  claiming: ClaimDeps,
  worker: Worker,
  request: ClaimRequest,
  waiting?: WaitOptions,
): Promise<ClaimedDocument[]> {
  const { waiters } = claiming
  await checkAgent(claiming.db, worker.access, request.agentId)
  if (!waiting) return claimNow(claiming, worker, request)
  const filter = { after: 0, agentId: request.agentId, worker: worker.tokenId }
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
    await checkAgent(claiming.db, access, request.agentId)
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
    if (result.length >= request.limit || failed === 0) return result
  }
}

/** Claims documents in one transaction. Documents that it failed instead leave room for further ones. */
function claimOnce(
  { db, leases, clock, maxAttempts }: ClaimDeps,
  worker: Worker,
  { agentId, limit, leaseSeconds }: ClaimRequest,
): Promise<{ documents: ClaimedDocument[]; failed: number }> {
  const claim = async (trx: WriteDb) => {
    const at = clock().toISOString()
    const free = await selectClaimable(trx, leases.sql, { agentId, limit })
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
    const byId = new Map((await selectDocumentsById(trx, [...claimIds.keys()])).map((row) => [row.id, row]))
    const rows = claims.flatMap(({ row }) => byId.get(row.id) ?? []) // in the order of their claims
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

async function checkAgent(db: ReadDb, access: Access, agentId: number): Promise<void> {
  checkAgentAccess(access, agentId)
  const agent = await findAgent(db, agentId)
  if (!agent || (access.companyId !== null && agent.company_id !== access.companyId)) {
    throw new AppError('not-found', 'Agent not found')
  }
}
