// Leases of the one process that has a database. It measures them itself, and after a restart each has its whole length
// again (decisions 3.16). Which claim a document has stands in its row; what is held here is compared with that before it
// is acted on, for a command may have changed it.

import type { Clock } from '../../../dates.ts'
import { type ClaimRow, selectClaimed, selectClaims, selectNew, updateClaim } from '../../../store/claims.ts'
import { atomically } from '../../../store/engine.ts'
import type { Db } from '../../../store/tables.ts'
import type { Arrivals } from '../arrivals.ts'
import { type Claim, createLeaseTimers, type LeaseTimers } from './lease-timers.ts'
import type { Claims, Leases } from './leases.ts'

const LOADED_AT_ONCE = 1000

/** The leases of what is claimed: all begin anew. An agent whose leases end has its waiting workers woken. */
export async function openOwnLeases(
  db: Db,
  arrivals: Arrivals,
  { clock, ticks }: { clock: Clock; ticks: () => number },
): Promise<Leases> {
  const timers = createLeaseTimers({ ticks, ended: (agentId) => arrivals.wakeWorkers(agentId) })
  let after = 0
  for (;;) {
    const rows = await selectClaimed(db, after, LOADED_AT_ONCE)
    for (const row of rows) timers.begin(claimOf(row), row.lease_seconds ?? 0)
    const last = rows.at(-1)
    if (!last) break
    after = last.id
  }
  let lastTurn: Promise<unknown> = Promise.resolve()
  return {
    // One after the other: which lease is over is looked up, written and noted before the next looks. Else one that was
    // extended a moment ago would be taken from its worker.
    change(work) {
      const turn = lastTurn.then(async () => {
        const { result, notes } = await atomically(db, async (trx) => {
          const notes: (() => void)[] = []
          return { notes, result: await work(claimsIn(trx, timers, clock, notes)) }
        })
        for (const note of notes) note()
        return result
      })
      lastTurn = turn.catch(() => {}) // its caller has the error
      return turn
    },
    wake: () => arrivals.wakeWorkers(),
    forget: timers.end,
    close: async () => timers.close(),
  }
}

/** `notes`: what is to be done with the timers once the transaction is committed. */
function claimsIn(trx: Db, timers: LeaseTimers, clock: Clock, notes: (() => void)[]): Claims {
  const untilOf = (seconds: number) => new Date(clock().getTime() + seconds * 1000)
  /** Those of claims that are still the ones of their documents; the others were changed by another process. */
  const stillHeld = async (claims: readonly Claim[]) => {
    const ids = claims.map(({ documentId }) => documentId)
    const rows = new Map((await selectClaims(trx, ids)).map((row) => [row.id, row]))
    return claims.flatMap(({ documentId, claimId }) => {
      const row = rows.get(documentId)
      if (row?.state === 'claimed' && row.claim_id === claimId) return row
      notes.push(() => timers.end(documentId, claimId))
      return []
    })
  }
  const firstOf = async (claims: readonly Claim[], limit: number) => {
    const found: ClaimRow[] = []
    for (let at = 0; at < claims.length && found.length < limit; at += limit) {
      found.push(...(await stillHeld(claims.slice(at, at + limit))))
    }
    return found.slice(0, limit)
  }
  return {
    trx,
    async selectFree(agentId, limit) {
      const ended = await firstOf(timers.endedOf(agentId), limit)
      const free = [...(await selectNew(trx, agentId, limit)), ...ended]
      return free.sort((one, other) => one.id - other.id).slice(0, limit)
    },
    selectAbandoned(least, limit) {
      const ended = timers.endedOf().filter(({ attempts }) => attempts >= least)
      return firstOf(ended, limit)
    },
    async find(documentId) {
      const [row] = await selectClaims(trx, [documentId])
      return row
    },
    async claim(claims, leaseSeconds) {
      for (const { row, claimId } of claims) {
        const { id, attempts } = row
        const claimed = { attempts: attempts + 1, claim_id: claimId }
        await updateClaim(trx, id, { state: 'claimed', lease_seconds: leaseSeconds, ...claimed })
        notes.push(() => timers.begin(claimOf({ ...row, ...claimed }), leaseSeconds))
      }
      return untilOf(leaseSeconds)
    },
    async extend(row, leaseSeconds) {
      await updateClaim(trx, row.id, { state: 'claimed', lease_seconds: leaseSeconds })
      notes.push(() => timers.begin(claimOf(row), leaseSeconds))
      return untilOf(leaseSeconds)
    },
    async end(row, change) {
      await updateClaim(trx, row.id, change)
      notes.push(() => timers.end(row.id))
    },
  }
}

/** Of a row that is claimed. */
function claimOf({ id, agent_id, claim_id, attempts }: ClaimRow): Claim {
  return { documentId: id, agentId: agent_id, claimId: claim_id ?? '', attempts }
}
