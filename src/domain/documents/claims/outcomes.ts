// Operations of a worker on a claimed document (decisions#claims). A claim is valid until another replaces it, also
// after its lease: finished work is not discarded.

import { AppError } from '../../../runtime/errors.ts'
import {
  endClaim,
  extendLease,
  isLeaseExpired,
  type LockedClaim,
  lockClaim,
} from '../../../store/documents/claims.ts'
import { type DocumentRow, findDocument } from '../../../store/documents/documents.ts'
import { type Actor, insertEvents } from '../../../store/documents/events.ts'
import type { ClaimRow } from '../../../store/documents/queue.ts'
import { findResult, replaceResult } from '../../../store/documents/results.ts'
import { addUsed } from '../../../store/documents/usage.ts'
import { atomically } from '../../../store/engine.ts'
import type { DocumentState, WriteDb } from '../../../store/tables.ts'
import type { Clock } from '../../../values/dates.ts'
import { queueOutcomes } from '../../hooks/queued-events.ts'
import type { Access } from '../access.ts'
import { checkQuotas, selectQuotas } from '../uploads/quotas.ts'
import { type ClaimDeps, claimEvent, failDocuments, type Worker } from './claiming.ts'

export type ClaimOutcome = 'done' | 'failed'

/** `result`: JSON, to the letter, of at most `LARGEST_RESULT` bytes. */
export type Completion = { outcome: ClaimOutcome; note: string | null; result: string | null }

/** A document, and the claim of it that a worker names. */
export type ClaimRef = { id: number; claimId: string }

const HOOKS = { done: 'document.finished', failed: 'document.failed' } as const
const RESULT = { overflow: 'the result does not fit', consequence: 'the document is still claimed' }
const EXPIRED = 'This claim has expired'

/**
 * Records the outcome of a claim, with its result. The same outcome and result sent again with the same claim are no
 * error.
 * @throws AppError `not-found`, `conflict` for a claim that was replaced or has another outcome or result, and
 * `over-quota` for a result
 */
export async function finishDocument(
  claiming: ClaimDeps,
  worker: Worker,
  ref: ClaimRef,
  { outcome, note, result }: Completion,
): Promise<DocumentRow> {
  let hasMessage = false
  const document = await changeClaim(claiming, worker, ref, async (trx, row, at) => {
    if (row.state !== 'claimed' && !isFailedByServer(row)) return checkRepetition(trx, row, outcome, result)
    if (result !== null || row.hasResult) await storeResult(trx, row, result)
    const finished = { finished_at: at, finished_by: worker.tokenId, note }
    await endClaim(trx, row, { state: outcome, ...finished })
    await insertEvents(trx, [claimEvent(row, outcome, at, { worker, note, result })])
    if (row.hasHooks) await queueOutcomes(trx, HOOKS[outcome], at, [row], { hasResult: result !== null })
    hasMessage = row.hasHooks
  })
  if (hasMessage) claiming.wakeHooks()
  return document
}

/** Returns true for a document that its last worker may still finish: no other worker has it. */
function isFailedByServer({ state, finished_by }: ClaimRow): boolean {
  return state === 'failed' && finished_by === null
}

/** @throws AppError `conflict` unless outcome and result are those of the row */
async function checkRepetition(
  trx: WriteDb,
  { id, state }: ClaimRow,
  outcome: ClaimOutcome,
  result: string | null,
): Promise<void> {
  if (state === 'new') throw new AppError('conflict', 'This claim has ended: it was released')
  if (state !== outcome) throw new AppError('conflict', `This claim has ended: its outcome is ${state}`)
  if ((await findResult(trx, id)) === result) return
  throw new AppError('conflict', 'This claim has ended: its result is another one')
}

/** Replaces the result of a document, and counts it. @throws AppError `over-quota` */
async function storeResult(trx: WriteDb, row: ClaimRow, result: string | null): Promise<void> {
  const bytes = await replaceResult(trx, row.id, result)
  if (bytes === 0) return
  const account = { companyId: row.company_id, tokenId: row.created_by }
  await addUsed(trx, [{ ...account, bytes }]) // locks the sums, so that the quotas are read after it
  if (bytes < 0) return
  const quotas = await selectQuotas(trx, account)
  checkQuotas(
    quotas.map((quota) => ({ ...quota, used: quota.used - bytes })),
    bytes,
    RESULT,
  )
}

/** Restarts the lease of a claim for `leaseSeconds` from now. @throws AppError like `finishDocument` */
export async function extendClaim(
  claiming: ClaimDeps,
  worker: Worker,
  ref: ClaimRef,
  leaseSeconds: number,
): Promise<DocumentRow & { lease_until: string }> {
  let leaseEnd = ''
  const document = await changeClaim(claiming, worker, ref, async (trx, row) => {
    if (row.state !== 'claimed') throw new AppError('conflict', EXPIRED)
    leaseEnd = (await extendLease(trx, claiming.leases.sql, row, leaseSeconds)).toISOString()
  })
  return { ...document, lease_until: leaseEnd }
}

/**
 * Releases a document, which becomes new, or failed if its attempts are used up.
 * @throws AppError like `finishDocument`
 */
export async function releaseDocument(
  claiming: ClaimDeps,
  worker: Worker,
  ref: ClaimRef,
): Promise<DocumentRow> {
  const document = await changeClaim(claiming, worker, ref, async (trx, row, at) => {
    if (row.state === 'new' || isFailedByServer(row)) return // released already, or its lease has expired
    if (row.state !== 'claimed')
      throw new AppError('conflict', `This claim has ended: its outcome is ${row.state}`)
    await insertEvents(trx, [claimEvent(row, 'released', at, { worker })])
    if (row.attempts >= claiming.maxAttempts) await failDocuments(trx, [row], at)
    else await endClaim(trx, row, { state: 'new' })
  })
  if (document.state === 'failed') claiming.wakeHooks()
  claiming.waiters.wakeWorkers(document.agent_id)
  return document
}

/**
 * Makes a claimed or finished document new again; `was`: its former state. Works without a server, and a running
 * server notices it.
 * @throws AppError `not-found`, and `conflict` for a document that is new
 */
export function retryDocument(
  db: WriteDb,
  id: number,
  by: Actor,
  clock: Clock,
): Promise<{ was: DocumentState; document: DocumentRow }> {
  return atomically(db, (trx) => retryRow(trx, { id, by, clock }))
}

/**
 * Makes a document new again that no worker has: failed, done, or claimed with an expired lease.
 * @throws AppError `not-found`, also outside of the access, and `conflict` for a document that is new or has a lease
 */
export async function retryEnded(
  { db, leases, clock, waiters }: ClaimDeps,
  access: Access,
  id: number,
  by: Actor,
): Promise<DocumentRow> {
  const { document } = await atomically(db, async (trx) => {
    const current = Number.isSafeInteger(id) ? await findDocument(trx, id, access) : undefined
    if (!current) throw new AppError('not-found', 'Document not found', { reason: 'no_document' })
    return retryRow(trx, { id, by, clock }, async ({ state }) => {
      if (state !== 'claimed' || (await isLeaseExpired(trx, leases.sql, id))) return
      throw new AppError(
        'conflict',
        `document ${id} is claimed: wait for its worker, or for the end of the lease`,
      )
    })
  })
  waiters.wakeWorkers(document.agent_id)
  return document
}

async function retryRow(
  trx: WriteDb,
  { id, by, clock }: { id: number; by: Actor; clock: Clock },
  check?: (row: ClaimRow) => Promise<void>,
): Promise<{ was: DocumentState; document: DocumentRow }> {
  const row = await lockClaim(trx, id)
  const document = row && (await findDocument(trx, id))
  if (!document) throw new AppError('not-found', 'Document not found', { reason: 'no_document' })
  await check?.(row)
  const { state: was, company_id } = document
  if (was === 'new') throw new AppError('conflict', `document ${id} is new: the next worker claims it`)
  const reset = { attempts: 0, claim_id: null, finished_at: null, finished_by: null, note: null }
  await endClaim(trx, row, { state: 'new', ...reset })
  const event = {
    at: clock().toISOString(),
    kind: 'retried',
    document_id: id,
    company_id,
    sha256: null,
  } as const
  await insertEvents(trx, [{ ...event, ...by }])
  return { was, document: (await findDocument(trx, id)) ?? document }
}

/** Runs `work` in a transaction if the claim is that of the document. */
function changeClaim(
  { db, clock }: ClaimDeps,
  { access }: Worker,
  { id, claimId }: ClaimRef,
  work: (trx: WriteDb, row: LockedClaim, at: string) => Promise<void>,
): Promise<DocumentRow> {
  return atomically(db, async (trx) => {
    const document = Number.isSafeInteger(id) ? await findDocument(trx, id, access) : undefined
    if (!document) throw new AppError('not-found', 'Document not found', { reason: 'no_document' })
    const row = await lockClaim(trx, id)
    if (!row || row.claim_id !== claimId) throw new AppError('conflict', EXPIRED)
    await work(trx, row, clock().toISOString())
    return (await findDocument(trx, id)) ?? document
  })
}
