// Workers of an agent share its documents: each is claimed by one of them at a time, for a lease, and finished once
// (decisions 3.16).

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import { type ClaimRow, selectClaims } from '../../../store/claims.ts'
import { findAgent } from '../../../store/directory/agents.ts'
import { type DocumentRow, selectDocumentsById } from '../../../store/documents.ts'
import { dialectOf } from '../../../store/engine.ts'
import { insertEvents, type NewEvent } from '../../../store/events.ts'
import type { Db } from '../../../store/tables.ts'
import { type Access, checkAgentAccess } from '../access.ts'
import type { Arrivals } from '../arrivals.ts'
import type { Patience } from '../queries.ts'
import type { Claims, Leases } from './leases.ts'
import { openOwnLeases } from './own-leases.ts'
import { openSharedLeases } from './shared-leases.ts'

export type Claiming = {
  db: Db
  arrivals: Arrivals
  leases: Leases
  clock: Clock
  /** After so many claims that nobody finished a document is failed. */
  maxAttempts: number
}

/** The token that works, and what it may see. */
export type Worker = { tokenId: number; name: string; access: Access }

export type ClaimAsked = { agentId: number; limit: number; leaseSeconds: number }

/** A document that is now claimed. `lease_until`: when its lease ends if the clock goes on as it is. */
export type ClaimedDocument = DocumentRow & { claim_id: string; lease_until: string }

const FAILED_AT_ONCE = 1000

/** `ticks`: milliseconds that never go back, by which a process that has the database for itself measures leases. */
export function openLeases(
  db: Db,
  arrivals: Arrivals,
  { clock, ticks = () => performance.now() }: { clock: Clock; ticks?: (() => number) | undefined },
): Promise<Leases> {
  const { sharedClaims } = dialectOf(db)
  if (sharedClaims) return openSharedLeases(db, arrivals, sharedClaims)
  return openOwnLeases(db, arrivals, { clock, ticks })
}

/**
 * Claims the oldest documents of an agent that are new or whose lease is over, at most `limit`. With patience, where
 * there are none, as soon as there is one, or none when the time is over.
 * @throws AppError `not-found` for an agent that is not there or may not be seen, `busy` when too many wait, and what
 *   `checkAgain` throws
 */
export async function claimDocuments(
  claiming: Claiming,
  worker: Worker,
  asked: ClaimAsked,
  patience?: Patience,
): Promise<ClaimedDocument[]> {
  const { arrivals } = claiming
  await checkAgent(claiming.db, worker.access, asked.agentId)
  if (!patience) return claimNow(claiming, worker, asked)
  const wanted = { after: 0, agentId: asked.agentId, worker: worker.tokenId }
  // It begins before the first look, for what is committed while the database is read.
  using wait = arrivals.begin(wanted, patience.ms)
  let found = await claimNow(claiming, worker, asked)
  if (found.length > 0) return found
  using _watch = patience.watch(() => wait.end())
  while (found.length === 0) {
    const mayBeThere = await wait.next()
    const access = await patience.checkAgain()
    if (!mayBeThere) break
    await checkAgent(claiming.db, access, asked.agentId)
    found = await claimNow(claiming, { ...worker, access }, asked)
  }
  return found
}

/** Fails what nobody finished in as many attempts as there may be, though no worker comes for it any more. */
export async function failAbandoned({ leases, clock, maxAttempts }: Claiming): Promise<void> {
  let failed: number
  do {
    failed = await leases.change(async (claims) => {
      const rows = await claims.selectAbandoned(maxAttempts, FAILED_AT_ONCE)
      await giveUp(claims, rows, clock().toISOString())
      return rows.length
    })
  } while (failed === FAILED_AT_ONCE)
}

async function claimNow(claiming: Claiming, worker: Worker, asked: ClaimAsked): Promise<ClaimedDocument[]> {
  const claimed: ClaimedDocument[] = []
  for (;;) {
    const rest = { ...asked, limit: asked.limit - claimed.length }
    const { documents, failed } = await claimSome(claiming, worker, rest)
    claimed.push(...documents)
    if (claimed.length >= asked.limit || failed === 0) return claimed
  }
}

/** One transaction. What it failed made room for what comes after. */
function claimSome(
  { leases, clock, maxAttempts }: Claiming,
  worker: Worker,
  { agentId, limit, leaseSeconds }: ClaimAsked,
): Promise<{ documents: ClaimedDocument[]; failed: number }> {
  const claim = async (claims: Claims) => {
    const at = clock().toISOString()
    const free = await claims.selectFree(agentId, limit)
    const failed = free.filter(({ attempts }) => attempts >= maxAttempts)
    await giveUp(claims, failed, at)
    const taken = free
      .filter(({ attempts }) => attempts < maxAttempts)
      .map((row) => ({ row, claimId: randomUUID() }))
    if (taken.length === 0) return { documents: [], failed: failed.length }
    const until = await claims.claim(taken, leaseSeconds)
    await insertEvents(
      claims.trx,
      taken.map(({ row }) => eventOf(row, 'claimed', at, worker)),
    )
    const claimIds = new Map(taken.map(({ row, claimId }) => [row.id, claimId]))
    const rows = await selectDocumentsById(claims.trx, [...claimIds.keys()])
    const lease_until = until.toISOString()
    const documents = rows.map((row) => ({ ...row, claim_id: claimIds.get(row.id) ?? '', lease_until }))
    return { documents, failed: failed.length }
  }
  return leases.change(claim, async (db, { documents: [first] }) => {
    if (!first) return false
    const [row] = await selectClaims(db, [first.id])
    return row?.claim_id === first.claim_id
  })
}

/** Fails documents that were claimed as often as they may be. */
export async function giveUp(claims: Claims, rows: readonly ClaimRow[], at: string): Promise<void> {
  for (const row of rows) {
    const note = `Given up: claimed ${row.attempts} times and never finished`
    const failed = { state: 'failed', finished_at: at, finished_by: null, note } as const
    await claims.end(row, { ...failed, lease_seconds: null })
  }
  await insertEvents(
    claims.trx,
    rows.map((row) => eventOf(row, 'failed', at)),
  )
}

/** What happened to a document. Without a worker the server did it by itself. */
export function eventOf(
  { id: document_id, company_id }: { id: number; company_id: number },
  kind: NewEvent['kind'],
  at: string,
  worker?: Pick<Worker, 'name'>,
): NewEvent {
  const by = worker
    ? ({ via: 'token', actor: worker.name } as const)
    : ({ via: 'server', actor: 'cambista' } as const)
  return { at, kind, ...by, document_id, company_id, sha256: null }
}

async function checkAgent(db: Db, access: Access, agentId: number): Promise<void> {
  checkAgentAccess(access, agentId)
  const agent = await findAgent(db, agentId)
  if (!agent) throw new AppError('not-found', 'Agent not found')
  if (access.companyId !== null && agent.company_id !== access.companyId) {
    throw new AppError('not-found', 'Agent not found')
  }
}
