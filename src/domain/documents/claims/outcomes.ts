// What a worker does with a document that it has claimed (decisions 3.16). A claim is valid until another one has taken
// its place, also when its lease is over: work that is done is not thrown away.

import type { Clock } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import { type ClaimRow, updateClaim } from '../../../store/claims.ts'
import { type DocumentRow, findDocument } from '../../../store/documents.ts'
import { atomically, dialectOf } from '../../../store/engine.ts'
import { type Actor, insertEvents } from '../../../store/events.ts'
import type { Db, DocumentState } from '../../../store/tables.ts'
import { type Claiming, eventOf, giveUp, type Worker } from './claims.ts'
import type { Claims } from './leases.ts'

export type Outcome = 'done' | 'failed'

/** A document, and the claim of it that a worker names. */
export type Held = { id: number; claimId: string }

const EXPIRED = 'This claim has expired'

/**
 * Writes down the outcome. The same one sent again with the same claim is no error.
 * @throws AppError `not-found`, and `conflict` for a claim that is not the document's, or has another outcome already
 */
export function finishDocument(
  claiming: Claiming,
  worker: Worker,
  held: Held,
  { outcome, note }: { outcome: Outcome; note: string | null },
): Promise<DocumentRow> {
  return change(claiming, worker, held, async (claims, row, at) => {
    // What the server gave up, the worker may have done: nobody else has it.
    const isOpen = row.state === 'claimed' || (row.state === 'failed' && row.finished_by === null)
    if (!isOpen) {
      if (row.state === outcome) return
      const was = row.state === 'new' ? 'it was released' : `its outcome is ${row.state}`
      throw new AppError('conflict', `This claim has ended: ${was}`)
    }
    const finished = { finished_at: at, finished_by: worker.tokenId, note }
    await claims.end(row, { state: outcome, lease_seconds: null, ...finished })
    await insertEvents(claims.trx, [eventOf(row, outcome, at, worker)])
  })
}

/** Begins the lease of a claim anew, for so many seconds from now. @throws AppError like `finishDocument` */
export async function extendClaim(
  claiming: Claiming,
  worker: Worker,
  held: Held,
  leaseSeconds: number,
): Promise<DocumentRow & { lease_until: string }> {
  let until = ''
  const document = await change(claiming, worker, held, async (claims, row) => {
    if (row.state !== 'claimed') throw new AppError('conflict', EXPIRED)
    until = (await claims.extend(row, leaseSeconds)).toISOString()
  })
  return { ...document, lease_until: until }
}

/**
 * Gives a document back, which is new again, or failed if it was claimed as often as it may be.
 * @throws AppError like `finishDocument`
 */
export async function releaseDocument(claiming: Claiming, worker: Worker, held: Held): Promise<DocumentRow> {
  const document = await change(claiming, worker, held, async (claims, row, at) => {
    if (row.state === 'new') return // released already
    if (row.state !== 'claimed')
      throw new AppError('conflict', `This claim has ended: its outcome is ${row.state}`)
    await insertEvents(claims.trx, [eventOf(row, 'released', at, worker)])
    if (row.attempts >= claiming.maxAttempts) await giveUp(claims, [row], at)
    else await claims.end(row, { state: 'new', lease_seconds: null })
  })
  claiming.arrivals.wakeWorkers(document.agent_id)
  return document
}

/**
 * Makes a document new again whose work was done, failed or is under way; `was`: the state that it had. It needs no
 * server, and a running one sees it.
 * @throws AppError `not-found`, and `conflict` for one that is new
 */
export function retryDocument(
  db: Db,
  id: number,
  by: Actor,
  clock: Clock,
): Promise<{ was: DocumentState; document: DocumentRow }> {
  return atomically(db, async (trx) => {
    await dialectOf(trx).sharedClaims?.lock(trx, id)
    const document = await findDocument(trx, id)
    if (!document) throw new AppError('not-found', 'Document not found')
    const { state: was, company_id } = document
    if (was === 'new') throw new AppError('conflict', `document ${id} is new: the next worker claims it`)
    const begun = { attempts: 0, claim_id: null, lease_seconds: null }
    await updateClaim(trx, id, { state: 'new', ...begun, finished_at: null, finished_by: null, note: null })
    const event = {
      at: clock().toISOString(),
      kind: 'retried',
      document_id: id,
      company_id,
      sha256: null,
    } as const
    await insertEvents(trx, [{ ...event, ...by }])
    return { was, document: (await findDocument(trx, id)) ?? document }
  })
}

/** In one transaction, if the claim is the document's. */
function change(
  { leases, clock }: Claiming,
  { access }: Worker,
  { id, claimId }: Held,
  work: (claims: Claims, row: ClaimRow, at: string) => Promise<void>,
): Promise<DocumentRow> {
  return leases.change(async (claims) => {
    const { trx } = claims
    const seen = Number.isSafeInteger(id) ? await findDocument(trx, id, access) : undefined
    if (!seen) throw new AppError('not-found', 'Document not found')
    const row = await claims.find(id)
    if (!row || row.claim_id !== claimId) throw new AppError('conflict', EXPIRED)
    await work(claims, row, clock().toISOString())
    return (await findDocument(trx, id)) ?? seen
  })
}
