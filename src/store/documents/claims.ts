// Claims of documents, and their leases (decisions 3.16). `lease_ends` is an instant of the database's clock, or
// milliseconds since the start of the server of a file (`LeaseSql`). Each function but `selectDue` runs in a
// transaction.

import type { Expression, ExpressionBuilder, SqlBool } from 'kysely'
import { engineSql, type LeaseSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import type { DocumentState, LeaseEnd, ReadDb, Row, Tables, WriteDb } from '../tables.ts'

const CLAIM_COLUMNS = [
  ...(['id', 'company_id', 'agent_id', 'state'] as const),
  ...(['attempts', 'claim_id', 'finished_by'] as const),
] as const

/** The claim in a document's row. */
export type ClaimRow = Pick<Row<'documents'>, (typeof CLAIM_COLUMNS)[number]>

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

/** Selects the oldest documents of an agent that are new or whose lease has expired. Skips locked rows. */
export function selectClaimable(
  trx: WriteDb,
  leases: LeaseSql,
  { agentId, limit }: { agentId: number; limit: number },
): Promise<ClaimRow[]> {
  const query = trx
    .selectFrom('documents')
    .select(CLAIM_COLUMNS)
    .where('agent_id', '=', agentId)
    .where(leases.isOpen)
    .where(isFree(leases))
    .orderBy('id')
    .limit(limit)
  return engineSql(trx).lockRows(query, 'update-skip-locked', ['documents']).execute()
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

/** Locks a document and returns its claim. Waits for other transactions that change it. */
export function lockClaim(trx: WriteDb, id: number): Promise<ClaimRow | undefined> {
  const query = trx.selectFrom('documents').select(CLAIM_COLUMNS).where('id', '=', id)
  return engineSql(trx).lockRows(query, 'update', ['documents']).executeTakeFirst()
}

/** Claims documents that were selected in this transaction. Returns the earliest end of their leases. */
export async function claimRows(
  trx: WriteDb,
  leases: LeaseSql,
  claims: readonly NewClaim[],
  leaseSeconds: number,
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
    }))
    .where('id', 'in', ids)
    .where(leases.isOpen)
    .returning('lease_ends')
    .execute()
  if (rows.length !== ids.length)
    throw invariantError('Claim', `claimed ${rows.length} of ${ids.length} documents`)
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
}

type Documents = ExpressionBuilder<Tables, 'documents'>

function isFree(leases: LeaseSql) {
  return (of: Documents) => of.or([of('documents.state', '=', 'new'), of('lease_ends', '<=', leases.now())])
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
