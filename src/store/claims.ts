// The states of documents (decisions 3.16). Each function runs inside the caller's transaction, which has looked.

import type { Db, DocumentState } from './tables.ts'

/** What stands of a claim in a document's row. */
export type ClaimRow = {
  id: number
  company_id: number
  agent_id: number
  state: DocumentState
  attempts: number
  claim_id: string | null
  lease_seconds: number | null
  finished_by: number | null
}

const CLAIM = [
  'id',
  'company_id',
  'agent_id',
  'state',
  'attempts',
  'claim_id',
  'lease_seconds',
  'finished_by',
] as const

/** The oldest documents of an agent that are new. */
export function selectNew(db: Db, agentId: number, limit: number): Promise<ClaimRow[]> {
  return db
    .selectFrom('documents')
    .select(CLAIM)
    .where('agent_id', '=', agentId)
    .where('state', '=', 'new')
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Documents that are claimed, by id: those of greater ids than `after`. */
export function selectClaimed(db: Db, after: number, limit: number): Promise<ClaimRow[]> {
  return db
    .selectFrom('documents')
    .select(CLAIM)
    .where('state', '=', 'claimed')
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

export function selectClaims(db: Db, ids: readonly number[]): Promise<ClaimRow[]> {
  return db.selectFrom('documents').select(CLAIM).where('id', 'in', ids).orderBy('id').execute()
}

/** What a document becomes; what is not named stays. */
export type ClaimChange = {
  state: DocumentState
  attempts?: number
  claim_id?: string | null
  lease_seconds: number | null
  finished_at?: string | null
  finished_by?: number | null
  note?: string | null
}

export async function updateClaim(db: Db, id: number, change: ClaimChange): Promise<void> {
  await db.updateTable('documents').set(change).where('id', '=', id).execute()
}

/** A document that is claimed, and the new claim of it. */
export type NewClaim = { row: ClaimRow; claimId: string }

/**
 * Claims as an engine has them that several nodes share: rows say when a lease ends, which is when the database's clock
 * says so. What is selected inside a transaction no other one changes before its end.
 */
export type SharedClaims = {
  /** To be called at the start of a node: a claim that does not say when its lease ends begins it, as it came from a file. */
  begin(db: Db): Promise<void>
  /** The oldest documents of an agent that are new or whose lease is over, but those that another transaction takes. */
  selectFree(trx: Db, agentId: number, limit: number): Promise<ClaimRow[]>
  /** Documents whose lease is over and that were claimed so often, but those that another transaction takes. */
  selectAbandoned(trx: Db, attempts: number, limit: number): Promise<ClaimRow[]>
  /** Which of these agents have a document that is new or whose lease is over. */
  selectAgentsWithFree(db: Db, agentIds: readonly number[]): Promise<number[]>
  /** Waits for other transactions that change the document. */
  lock(trx: Db, id: number): Promise<ClaimRow | undefined>
  /** Claims documents, and returns when the lease of the first ends. */
  claim(trx: Db, claims: readonly NewClaim[], leaseSeconds: number): Promise<Date>
  /** Begins a lease anew, and returns when it ends. */
  extend(trx: Db, id: number, leaseSeconds: number): Promise<Date>
}
