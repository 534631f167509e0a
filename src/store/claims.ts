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
