// Claims of documents, and their leases (decisions#claims). `lease_ends` is an instant of the database's clock, or
// milliseconds since the start of the server of a file (`LeaseSql`). Each function but `selectDue` runs in a
// transaction.

import type { Expression, SqlBool } from 'kysely'
import { engineSql, type LeaseSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import { hasRow } from '../rows.ts'
import type { DocumentState, LeaseEnd, ReadDb, Row, WriteDb } from '../tables.ts'
import { type CountFilter, insertCounts, insertStateCounts, type NewCounts } from './counts.ts'
import { CLAIM_COLUMNS, type ClaimRow, type Documents, isFree } from './queue.ts'

/** A document to be claimed, and the id of its claim. */
export type NewClaim = { row: ClaimRow; claimId: string }

/** New values of a document whose lease ends. */
export type ClaimChange = Partial<
  Pick<Row<'documents'>, 'attempts' | 'claim_id' | 'finished_at' | 'finished_by' | 'note'>
> & { state: Exclude<DocumentState, 'claimed'> }

/** Restarts the leases of claimed documents whose end in the row is not valid for this server. */
export async function restartLeases(db: WriteDb, leases: LeaseSql): Promise<void> {
  const query = db.updateTable('documents').set({ lease_ends: leases.end() }).where('state', '=', 'claimed')
  await (leases.isPerProcess ? query : query.where('lease_ends', 'is', null)).execute()
}

/** Selects documents of any agent whose lease expired after at least `attempts` attempts. Skips locked rows. */
export function selectAbandoned(
  trx: WriteDb,
  leases: LeaseSql,
  { attempts, limit }: { attempts: number; limit: number },
): Promise<ClaimRow[]> {
  const query = trx
    .selectFrom('documents')
    .select(CLAIM_COLUMNS)
    .where('state', '=', 'claimed')
    .where('attempts', '>=', attempts)
    .where('lease_ends', '<=', leases.now())
    .orderBy('id')
    .limit(limit)
  return engineSql(trx).lockRows(query, 'update-skip-locked', ['documents']).execute()
}

/** `isFree`: the agent has a free document; `nextMs`: milliseconds until its next lease ends; undefined: no lease. */
export type DueAgent = { agentId: number; isFree: boolean; nextMs: number | undefined }

export async function selectDue(
  db: ReadDb,
  leases: LeaseSql,
  agentIds: readonly number[],
): Promise<DueAgent[]> {
  const rows = await db
    .selectFrom('agents')
    .where('agents.id', 'in', agentIds)
    .select((of) => {
      const open = of.selectFrom('documents').whereRef('agent_id', '=', 'agents.id').where(leases.isOpen)
      return [
        'agents.id as agentId',
        of.exists(open.select('documents.id').where(isFree(leases))).as('isFree'),
        open
          .select(({ fn }) => fn.min('lease_ends').as('end'))
          .where('state', '=', 'claimed')
          .where('lease_ends', '>', leases.now())
          .as('next'),
        of.parens(leases.now()).as('now'),
      ]
    })
    .execute()
  return rows.map(({ agentId, isFree, next, now }) => ({
    agentId,
    isFree: Boolean(isFree),
    nextMs: next === null ? undefined : Number(next) - Number(now),
  }))
}

/** Returns whether the lease of a claimed document has expired. */
export function isLeaseExpired(db: ReadDb, leases: LeaseSql, id: number): Promise<boolean> {
  const query = db.selectFrom('documents').select('id').where('id', '=', id).where('state', '=', 'claimed')
  return hasRow(query.where('lease_ends', '<=', leases.now()))
}

/** Selects the ends of the leases of claimed documents, by their ids. */
export async function selectLeaseEnds(
  db: ReadDb,
  leases: LeaseSql,
  ids: readonly number[],
): Promise<Map<number, Date>> {
  const rows = await db
    .selectFrom('documents')
    .select(['id', 'lease_ends'])
    .where('id', 'in', ids)
    .where('state', '=', 'claimed')
    .execute()
  return new Map(
    rows.flatMap(({ id, lease_ends }) => (lease_ends === null ? [] : [[id, leases.toInstant(lease_ends)]])),
  )
}

/** Facts of open documents that the counters lack. */
export type OpenTimes = {
  /** Number of claimed documents whose lease has expired: they wait again. */
  expired: number
  /** Instant of the oldest claim whose lease has not expired. */
  workingSince: string | null
  /** Instant of the arrival of the oldest document that waits. */
  oldestWaiting: string | null
}

export async function selectOpenTimes(db: ReadDb, leases: LeaseSql, filter: CountFilter): Promise<OpenTimes> {
  const agents = await selectOpenAgents(db, leases, filter)
  const oldest = agents.reduce((least, { oldestId }) => Math.min(least, oldestId), NO_DOCUMENT)
  const arrivals = await selectArrivals(db, [oldest])
  const claims = agents.flatMap(({ workingSince }) => workingSince ?? [])
  return {
    expired: agents.reduce((sum, { expired }) => sum + expired, 0),
    workingSince: claims.sort()[0] ?? null,
    oldestWaiting: arrivals.get(oldest) ?? null,
  }
}

/** The same for each agent that has open documents, by its id. */
export async function selectAgentOpenTimes(
  db: ReadDb,
  leases: LeaseSql,
  filter: CountFilter,
): Promise<Map<number, OpenTimes>> {
  const agents = await selectOpenAgents(db, leases, filter)
  const arrivals = await selectArrivals(
    db,
    agents.map(({ oldestId }) => oldestId),
  )
  return new Map(
    agents.map(({ agentId, oldestId, ...times }) => [
      agentId,
      { ...times, oldestWaiting: arrivals.get(oldestId) ?? null },
    ]),
  )
}

type OpenAgent = Omit<OpenTimes, 'oldestWaiting'> & {
  agentId: number
  /** The oldest document that waits, or NO_DOCUMENT. */
  oldestId: number
}

const NO_DOCUMENT = Number.POSITIVE_INFINITY

async function selectOpenAgents(
  db: ReadDb,
  leases: LeaseSql,
  { companyId, agentId, agentIds }: CountFilter,
): Promise<OpenAgent[]> {
  let agents = db.selectFrom('agents').select('agents.id')
  if (companyId !== undefined) agents = agents.where('agents.company_id', '=', companyId)
  if (agentId !== undefined) agents = agents.where('agents.id', '=', agentId)
  if (agentIds !== undefined) agents = agents.where('agents.id', 'in', agentIds)
  const claims = await db
    .selectFrom('documents')
    .where('state', '=', 'claimed')
    .where('agent_id', 'in', agents)
    .groupBy('agent_id')
    .select((of) => {
      const isExpired = of('lease_ends', '<=', leases.now())
      const inLease = of.case().when(isExpired).then(null).else(of.ref('claimed_at')).end()
      return [
        'agent_id',
        of.fn.sum<number>(of.case().when(isExpired).then(1).else(0).end()).as('expired'),
        of.fn.min(inLease).as('since'),
        of.fn.min(of.case().when(isExpired).then(of.ref('id')).end()).as('oldest'),
      ]
    })
    .execute()
  // The first of each agent, by the index of agent and state.
  const firsts = await db
    .selectFrom(agents.as('agent'))
    .select((of) => [
      'agent.id as agentId',
      of
        .selectFrom('documents')
        .select('documents.id')
        .whereRef('documents.agent_id', '=', 'agent.id')
        .where('state', '=', 'new')
        .orderBy('documents.id')
        .limit(1)
        .as('first'),
    ])
    .execute()
  const claimsByAgent = new Map(claims.map((row) => [row.agent_id, row]))
  return firsts.flatMap(({ agentId, first }) => {
    const { expired = 0, since = null, oldest = null } = claimsByAgent.get(agentId) ?? {}
    if (first === null && !claimsByAgent.has(agentId)) return []
    const oldestId = Math.min(first ?? NO_DOCUMENT, oldest ?? NO_DOCUMENT)
    return [{ agentId, expired, workingSince: since, oldestId }]
  })
}

/** Selects the instants of the arrival of documents, by their ids. */
async function selectArrivals(db: ReadDb, ids: readonly number[]): Promise<Map<number, string>> {
  const realIds = ids.filter((id) => id !== NO_DOCUMENT)
  if (realIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('documents')
    .select(['id', 'created_at'])
    .where('id', 'in', realIds)
    .execute()
  return new Map(rows.map(({ id, created_at }) => [id, created_at]))
}

/** `hasResult`: of an earlier outcome. `hasHooks`: any hook is on. */
export type LockedClaim = ClaimRow & { hasResult: boolean; hasHooks: boolean }

/** Locks a document and returns its claim. Waits for other transactions that change it. */
export async function lockClaim(trx: WriteDb, id: number): Promise<LockedClaim | undefined> {
  const query = trx
    .selectFrom('documents')
    .select(CLAIM_COLUMNS)
    .where('id', '=', id)
    .select((of) => [
      of
        .exists(of.selectFrom('document_results').select('size').whereRef('document_id', '=', 'documents.id'))
        .as('hasResult'),
      of.exists(of.selectFrom('hooks').select('hooks.id').where('off_at', 'is', null)).as('hasHooks'),
    ])
  const row = await engineSql(trx).lockRows(query, 'update', ['documents']).executeTakeFirst()
  return row && { ...row, hasResult: Boolean(row.hasResult), hasHooks: Boolean(row.hasHooks) }
}

/** Claims documents that were selected in this transaction. Returns the earliest end of their leases. */
export async function claimRows(
  trx: WriteDb,
  leases: LeaseSql,
  claims: readonly NewClaim[],
  { at, by, leaseSeconds }: { at: string; by: string; leaseSeconds: number },
): Promise<Date> {
  const ids = claims.map(({ row }) => row.id)
  const rows = await trx
    .updateTable('documents')
    .set((of) => ({
      state: 'claimed',
      attempts: of('attempts', '+', 1),
      claim_id: claimIdCase(of, claims),
      lease_seconds: leaseSeconds,
      lease_ends: leases.end(leaseSeconds),
      claimed_at: at,
    }))
    .where('id', 'in', ids)
    .where(leases.isOpen)
    .returning('lease_ends')
    .execute()
  if (rows.length !== ids.length)
    throw invariantError('Claim', `claimed ${rows.length} of ${ids.length} documents`)
  await insertCounts(trx, claimCounts(claims, { claimed_at: at, claimed_by: by }))
  return earliestEnd(leases, rows)
}

/** Restarts the lease of a claim, and returns its end. */
export async function extendLease(
  trx: WriteDb,
  leases: LeaseSql,
  row: ClaimRow,
  leaseSeconds: number,
): Promise<Date> {
  const rows = await trx
    .updateTable('documents')
    .set({ lease_seconds: leaseSeconds, lease_ends: leases.end(leaseSeconds) })
    .where('state', '=', 'claimed')
    .where(isUnchanged(row))
    .returning('lease_ends')
    .execute()
  if (rows.length !== 1)
    throw invariantError('Claim', `the claim of document ${row.id} changed before it was extended`)
  return earliestEnd(leases, rows)
}

/** Ends the lease of a claim, and sets the new state of the document. */
export async function endClaim(trx: WriteDb, row: ClaimRow, change: ClaimChange): Promise<void> {
  const { numUpdatedRows } = await trx
    .updateTable('documents')
    .set({ ...change, lease_seconds: null })
    .where(isUnchanged(row))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows !== 1n)
    throw invariantError('Claim', `the claim of document ${row.id} changed before it was ended`)
  await insertStateCounts(trx, row, change)
}

/** Condition: state and claim are still those of the row. */
function isUnchanged({ id, state, claim_id }: ClaimRow) {
  return (of: Documents): Expression<SqlBool> =>
    of.and([
      of('id', '=', id),
      of('state', '=', state),
      claim_id === null ? of('claim_id', 'is', null) : of('claim_id', '=', claim_id),
    ])
}

function claimCounts(
  claims: readonly NewClaim[],
  lastClaim: Pick<NewCounts, 'claimed_at' | 'claimed_by'>,
): NewCounts[] {
  const byAgent = Map.groupBy(claims, ({ row }) => row.agent_id)
  return Array.from(byAgent, ([agent_id, own]) => {
    const newCount = own.filter(({ row }) => row.state === 'new').length
    return { agent_id, new: -newCount, claimed: newCount, changes: own.length, ...lastClaim }
  })
}

function claimIdCase(of: Documents, [first, ...others]: readonly NewClaim[]) {
  if (!first) throw new TypeError('nothing to claim')
  const start = of.case('id').when(first.row.id).then(first.claimId)
  return others.reduce((cases, { row, claimId }) => cases.when(row.id).then(claimId), start).end()
}

function earliestEnd(leases: LeaseSql, rows: readonly { lease_ends: LeaseEnd | null }[]): Date {
  const instants = rows.map(({ lease_ends }) => {
    if (lease_ends === null) throw invariantError('Claim', 'a lease without an end would never expire')
    return leases.toInstant(lease_ends).getTime()
  })
  return new Date(Math.min(...instants))
}
