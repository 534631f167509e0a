// Polls a database that other nodes write to: change counters, time, and reachability. While polling fails, other
// queries fail at once instead of timing out.

import { setTimeout as wait } from 'node:timers/promises'
import { AppError } from '../../runtime/errors.ts'
import type { ChangeCounters } from '../engine.ts'
import type { WriteDb } from '../tables.ts'
import type { SharedClock } from './clock.ts'
import { isConnectionLost } from './errors.ts'
import type { CircuitBreaker } from './pool.ts'
import { rawQuery } from './raw-query.ts'
import { makeEpoch } from './steps.ts'

export type PollerOptions = {
  /** Has a connection of its own, which ignores the circuit breaker. */
  db: WriteDb
  breaker: CircuitBreaker
  clock: SharedClock
  onRollback?: (() => void) | undefined
}

/** Timeout of a poll. */
export const POLL_MS = 1000
const QUICK_FAILURE_MS = 500
const GRACE_MS = 100

type MetaRow = {
  epoch: string
  data_revision: number
  access_revision: number
  documents_revision: number
  server_time: Date
}

/**
 * Returns the poll function. Simultaneous polls share one query. A failed poll trips the circuit breaker, and the next
 * good one resets it.
 * @throws AppError `unavailable` after a second without an answer, or the error of the database
 */
export function createPoller({
  db,
  breaker,
  clock,
  onRollback,
}: PollerOptions): () => Promise<ChangeCounters> {
  let lastEpoch: { epoch: string; revision: number } | undefined
  let pendingQuery: Promise<MetaRow> | undefined
  const once = async () => {
    const sendTime = clock.ticks()
    const { rows } = await rawQuery<MetaRow>(
      db,
      `select epoch, data_revision, access_revision, documents_revision + turn as documents_revision,
         clock_timestamp() as server_time
       from meta, document_order`,
    )
    const [row] = rows
    if (!row) throw new AppError('unavailable', 'The database has no data')
    clock.compare(sendTime, clock.ticks(), row.server_time)
    return row
  }
  const twice = async () => {
    const startTime = performance.now()
    try {
      return await once()
    } catch (error) {
      // An idle connection may have been closed although the server is up: a new one decides.
      if (!isConnectionLost(error) || performance.now() - startTime > QUICK_FAILURE_MS) throw error
      return await once()
    }
  }
  const toCounters = async ({
    epoch,
    data_revision: revision,
    ...more
  }: MetaRow): Promise<ChangeCounters> => {
    let now = epoch
    // After a rollback of the database the next revision would be one that clients know for other data.
    if (lastEpoch?.epoch === epoch && revision < lastEpoch.revision) {
      now = makeEpoch()
      await rawQuery(db, 'update meta set epoch = $1 where epoch = $2', [now, epoch])
      onRollback?.()
    }
    lastEpoch = { epoch: now, revision }
    const [access, documents] = [String(more.access_revision), String(more.documents_revision)]
    return { data: `${now} ${revision}`, access, documents }
  }
  return async () => {
    pendingQuery ??= twice().finally(() => {
      pendingQuery = undefined
    })
    try {
      const counters = await toCounters(await withinTime(pendingQuery))
      breaker.reset()
      return counters
    } catch (error) {
      breaker.trip()
      throw error
    }
  }
}

async function withinTime<T>(query: Promise<T>): Promise<T> {
  const over = new AbortController()
  const { signal } = over
  // Two waits: after a suspension of the whole machine the answer still gets GRACE_MS.
  const late = wait(POLL_MS - GRACE_MS, undefined, { signal }).then(async () => {
    await wait(GRACE_MS, undefined, { signal })
    throw new AppError('unavailable', `the database did not answer within ${POLL_MS} ms`)
  })
  for (const one of [late, query]) one.catch(() => {}) // the slower one may fail unhandled
  try {
    return await Promise.race([query, late])
  } finally {
    over.abort()
  }
}
