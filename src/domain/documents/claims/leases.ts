// Leases of claims (decisions#claims). Each row has the end of its lease; a timer wakes workers at the next end.

import { restartLeases, selectDue } from '../../../store/documents/claims.ts'
import { engineSql, type LeaseSql, type ServerTime } from '../../../store/engine.ts'
import type { WriteDb } from '../../../store/tables.ts'
import type { DocumentWaiters } from '../arrivals.ts'

export type Leases = {
  readonly sql: LeaseSql
  /**
   * Wakes workers for whom a document is free, now and at each end of a lease, until no worker waits. Call it when a
   * worker begins to wait, and after a commit of another process.
   */
  wake(): void
  close(): Promise<void>
}

const QUERY_EVERY_MS = 1000 // another node may claim, extend and release
const MERGE_MS = 50 // leases that end within this time wake workers once

/**
 * Opens the leases. Restarts leases of an earlier run of the server, so call it before the server listens. `onlyReads`:
 * restarts none.
 */
export async function openLeases(
  db: WriteDb,
  waiters: DocumentWaiters,
  { onlyReads = false, ...time }: ServerTime & { onlyReads?: boolean },
): Promise<Leases> {
  const sql = engineSql(db).leases(time)
  if (!onlyReads) await restartLeases(db, sql)
  let querying = Promise.resolve()
  let isQueued = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  const query = async () => {
    isQueued = false
    clearTimeout(timer)
    const agents = waiters.waitingAgents()
    if (agents.length === 0 || isClosed) return
    let nextMs = QUERY_EVERY_MS
    // During an outage no document is free.
    for (const due of await selectDue(db, sql, agents).catch(() => [])) {
      if (due.isFree) waiters.wakeWorkers(due.agentId)
      if (due.nextMs !== undefined) nextMs = Math.min(nextMs, due.nextMs + MERGE_MS)
    }
    if (!isClosed) timer = setTimeout(wake, nextMs)
  }
  const wake = () => {
    if (!isQueued) querying = querying.then(query)
    isQueued = true
  }
  return {
    sql,
    wake,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await querying
    },
  }
}
