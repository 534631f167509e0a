// The queue of documents that workers may claim (decisions#claims). Each is new, or its lease has expired.

import type { ExpressionBuilder } from 'kysely'
import { engineSql, type LeaseSql } from '../engine.ts'
import type { Row, Tables, WriteDb } from '../tables.ts'

export const CLAIM_COLUMNS = [
  ...(['id', 'company_id', 'agent_id', 'state'] as const),
  ...(['attempts', 'claim_id', 'finished_by', 'created_at', 'finished_at', 'created_by'] as const),
] as const

/** The claim in a document's row. */
export type ClaimRow = Pick<Row<'documents'>, (typeof CLAIM_COLUMNS)[number]>

export type Documents = ExpressionBuilder<Tables, 'documents'>

/**
 * Selects documents of agents that are new or whose lease has expired. The highest priority comes first, then the
 * oldest. Skips locked rows.
 */
export async function selectClaimable(
  trx: WriteDb,
  leases: LeaseSql,
  { agentIds, limit }: { agentIds: readonly number[]; limit: number },
): Promise<ClaimRow[]> {
  const [agentId] = agentIds
  if (agentIds.length === 1 && agentId !== undefined)
    return lockFirst(trx, freeDocuments(trx, leases).where('agent_id', '=', agentId), limit)
  // A lock over several agents would sort all their documents. So the first are found without one, and those that
  // others lock are left out of the next search.
  const rows: ClaimRow[] = []
  const seenIds: number[] = []
  while (rows.length < limit) {
    const missing = limit - rows.length
    const ids = await findFirstIds(trx, leases, { agentIds, limit: missing, seenIds })
    if (ids.length > 0)
      rows.push(...(await lockFirst(trx, freeDocuments(trx, leases).where('id', 'in', ids))))
    if (ids.length < missing) break
    seenIds.push(...ids)
  }
  return rows
}

/** Finds the ids of the first free documents of several agents. */
async function findFirstIds(
  trx: WriteDb,
  leases: LeaseSql,
  { agentIds, limit, seenIds }: { agentIds: readonly number[]; limit: number; seenIds: readonly number[] },
): Promise<number[]> {
  const ofAgent = (agentId: number) => {
    const unseen = freeDocuments(trx, leases).where('agent_id', '=', agentId)
    const query = seenIds.length === 0 ? unseen : unseen.where('id', 'not in', seenIds)
    const first = inClaimOrder(query).limit(limit)
    return trx.selectFrom(first.as('first')).select(['id', 'priority'])
  }
  const [union, ...others] = agentIds.map(ofAgent)
  if (!union) return []
  const all = others.reduce((some, one) => some.unionAll(one), union)
  const firsts = trx.selectFrom(all.as('firsts')).select('id')
  return (await firsts.orderBy('priority', 'desc').orderBy('id').limit(limit).execute()).map(({ id }) => id)
}

function freeDocuments(trx: WriteDb, leases: LeaseSql) {
  return trx
    .selectFrom('documents')
    .select([...CLAIM_COLUMNS, 'priority'])
    .where(leases.isOpen)
    .where(isFree(leases))
}

function inClaimOrder(query: ReturnType<typeof freeDocuments>) {
  return query.orderBy('priority', 'desc').orderBy('id')
}

function lockFirst(
  trx: WriteDb,
  query: ReturnType<typeof freeDocuments>,
  limit?: number,
): Promise<ClaimRow[]> {
  const ordered = inClaimOrder(query)
  const first = limit === undefined ? ordered : ordered.limit(limit)
  return engineSql(trx).lockRows(first, 'update-skip-locked', ['documents']).execute()
}

export function isFree(leases: LeaseSql) {
  return (of: Documents) => of.or([of('documents.state', '=', 'new'), of('lease_ends', '<=', leases.now())])
}
