// Leases of several nodes over one database: rows say when each ends, and the database's clock says when that is. A node
// keeps nothing of them, so what one claims another may finish, and a restart changes nothing (decisions 3.16).

import { type SharedClaims, updateClaim } from '../../../store/claims.ts'
import { atomically } from '../../../store/engine.ts'
import type { Db } from '../../../store/tables.ts'
import type { Arrivals } from '../arrivals.ts'
import type { Claims, Leases } from './leases.ts'

const LOOK_EVERY_MS = 1000 // nothing else tells that a lease is over

export async function openSharedLeases(db: Db, arrivals: Arrivals, shared: SharedClaims): Promise<Leases> {
  await shared.begin(db)
  let looking = Promise.resolve()
  let isAsked = false
  // Only workers for whom there is something are woken: each of them begins a transaction.
  const look = async () => {
    isAsked = false
    const agents = arrivals.agentsAwaited()
    if (agents.length === 0) return
    for (const id of await shared.selectAgentsWithFree(db, agents)) arrivals.wakeWorkers(id)
  }
  const wake = () => {
    if (!isAsked) looking = looking.then(look).catch(() => {}) // while the database is away nothing is free
    isAsked = true
  }
  const timer = setInterval(wake, LOOK_EVERY_MS)
  return {
    change: (work, isThere) =>
      atomically(db, (trx) => work(claimsIn(trx, shared)), isThere ? { isThere } : {}),
    wake,
    forget: () => {},
    async close() {
      clearInterval(timer)
      await looking
    },
  }
}

function claimsIn(trx: Db, shared: SharedClaims): Claims {
  return {
    trx,
    selectFree: (agentId, limit) => shared.selectFree(trx, agentId, limit),
    selectAbandoned: (attempts, limit) => shared.selectAbandoned(trx, attempts, limit),
    find: (documentId) => shared.lock(trx, documentId),
    claim: (claims, leaseSeconds) => shared.claim(trx, claims, leaseSeconds),
    extend: ({ id }, leaseSeconds) => shared.extend(trx, id, leaseSeconds),
    end: ({ id }, change) => updateClaim(trx, id, change),
  }
}
