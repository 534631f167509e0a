// Workers of an agent share its documents: each is claimed by one of them at a time, for a lease, and finished once
// (decisions 3.16). Rows say what is so; leases say how long.

import { randomUUID } from 'node:crypto'
import type { Clock } from '../../dates.ts'
import { AppError } from '../../errors.ts'
import { type ClaimRow, selectClaimed, selectClaims, selectNew, updateClaim } from '../../store/claims.ts'
import { findAgent } from '../../store/directory/agents.ts'
import { type DocumentRow, selectDocumentsById } from '../../store/documents.ts'
import { atomically } from '../../store/engine.ts'
import { insertEvents, type NewEvent } from '../../store/events.ts'
import type { Db } from '../../store/tables.ts'
import { type Access, checkAgentAccess } from './access.ts'
import type { Arrivals } from './arrivals.ts'
import { type Claim, createLeases, type Leases } from './leases.ts'
import type { Patience } from './queries.ts'

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

const LOADED_AT_ONCE = 1000

/** The leases of what is claimed: all begin anew. An agent whose leases end has its waiting workers woken. */
export async function openLeases(
  db: Db,
  arrivals: Arrivals,
  ticks = () => performance.now(),
): Promise<Leases> {
  const leases = createLeases({ ticks, ended: (agentId) => arrivals.wakeWorkers(agentId) })
  let after = 0
  for (;;) {
    const rows = await selectClaimed(db, after, LOADED_AT_ONCE)
    for (const row of rows) leases.begin(claimOf(row), row.lease_seconds ?? 0)
    const last = rows.at(-1)
    if (!last) return leases
    after = last.id
  }
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
export function failAbandoned(claiming: Claiming): Promise<void> {
  const { db, leases, clock, maxAttempts } = claiming
  return leases.inTurn(async () => {
    const ended = leases.endedOf()
    for (let at = 0; at < ended.length; at += LOADED_AT_ONCE) {
      const some = ended.slice(at, at + LOADED_AT_ONCE)
      const failed = await atomically(db, async (trx) => {
        const { same } = await comparedWithRows(trx, some)
        const rows = same.filter(({ attempts }) => attempts >= maxAttempts)
        await giveUp(trx, rows, clock().toISOString())
        return rows
      })
      for (const { id } of failed) leases.end(id)
    }
  })
}

async function claimNow(claiming: Claiming, worker: Worker, asked: ClaimAsked): Promise<ClaimedDocument[]> {
  const claimed: ClaimedDocument[] = []
  for (;;) {
    const rest = { ...asked, limit: asked.limit - claimed.length }
    const claimRest = () => claimSome(claiming, worker, rest)
    const { documents, isWorthAnotherLook } = await claiming.leases.inTurn(claimRest)
    claimed.push(...documents)
    if (claimed.length >= asked.limit || !isWorthAnotherLook) return claimed
  }
}

/** One transaction. What it failed, or found changed by another process, made room for what comes after. */
async function claimSome(claiming: Claiming, worker: Worker, { agentId, limit, leaseSeconds }: ClaimAsked) {
  const { db, leases, clock, maxAttempts } = claiming
  const ended = leases.endedOf(agentId).slice(0, limit)
  const at = clock()
  const { taken, changed, failed, rows } = await atomically(db, async (trx) => {
    const { same, changed } = await comparedWithRows(trx, ended)
    const free = [...(await selectNew(trx, agentId, limit)), ...same].sort((one, other) => one.id - other.id)
    const failed = free.filter(({ attempts }) => attempts >= maxAttempts)
    await giveUp(trx, failed, at.toISOString())
    const next = free.filter(({ attempts }) => attempts < maxAttempts).slice(0, limit)
    const taken = next.map((row) => ({ ...row, claim_id: randomUUID() }))
    for (const { id, attempts, claim_id } of taken) {
      const change = {
        state: 'claimed',
        attempts: attempts + 1,
        claim_id,
        lease_seconds: leaseSeconds,
      } as const
      await updateClaim(trx, id, change)
    }
    await insertEvents(
      trx,
      taken.map((row) => eventOf(row, 'claimed', at.toISOString(), worker)),
    )
    return {
      taken,
      changed,
      failed,
      rows: await selectDocumentsById(
        trx,
        taken.map(({ id }) => id),
      ),
    }
  })
  for (const { documentId, claimId } of changed) leases.end(documentId, claimId)
  for (const { id } of failed) leases.end(id)
  for (const row of taken) leases.begin(claimOf(row), leaseSeconds)
  const lease_until = new Date(at.getTime() + leaseSeconds * 1000).toISOString()
  const claimIds = new Map(taken.map(({ id, claim_id }) => [id, claim_id]))
  const documents = rows.map((row) => ({ ...row, claim_id: claimIds.get(row.id) ?? '', lease_until }))
  return { documents, isWorthAnotherLook: failed.length > 0 || changed.length > 0 }
}

/** Which claims are still those of their documents; the others were changed by another process. */
async function comparedWithRows(trx: Db, claims: readonly Claim[]) {
  const rows = new Map(
    (
      await selectClaims(
        trx,
        claims.map(({ documentId }) => documentId),
      )
    ).map((row) => [row.id, row]),
  )
  const same: ClaimRow[] = []
  const changed: Claim[] = []
  for (const claim of claims) {
    const row = rows.get(claim.documentId)
    if (row?.state === 'claimed' && row.claim_id === claim.claimId) same.push(row)
    else changed.push(claim)
  }
  return { same, changed }
}

/** Fails documents that were claimed as often as they may be. */
export async function giveUp(trx: Db, rows: readonly ClaimRow[], at: string): Promise<void> {
  for (const { id, attempts } of rows) {
    const note = `Given up: claimed ${attempts} times and never finished`
    await updateClaim(trx, id, {
      state: 'failed',
      lease_seconds: null,
      finished_at: at,
      finished_by: null,
      note,
    })
  }
  await insertEvents(
    trx,
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

/** Of a row that is claimed. */
export function claimOf({ id, agent_id, claim_id }: ClaimRow): Claim {
  return { documentId: id, agentId: agent_id, claimId: claim_id ?? '' }
}

async function checkAgent(db: Db, access: Access, agentId: number): Promise<void> {
  checkAgentAccess(access, agentId)
  const agent = await findAgent(db, agentId)
  if (!agent) throw new AppError('not-found', 'Agent not found')
  if (access.companyId !== null && agent.company_id !== access.companyId) {
    throw new AppError('not-found', 'Agent not found')
  }
}
