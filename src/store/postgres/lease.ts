// Leases of tasks that one node at a time runs; the holder must renew its lease. Expiry uses the database clock. A
// new holder gets a higher fence, and each transaction of the task checks its fence. So a holder that was suspended
// cannot write after its lease has expired.

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { AppError } from '../../runtime/errors.ts'
import type { Lock, LockName } from '../engine.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { rawQuery } from './raw-query.ts'

export type LeaseTimes = { ttlMs: number; renewMs: number }

/** A holder that could not renew for ttlMs - renewMs stops its task. */
export const LEASE_TIMES: LeaseTimes = { ttlMs: 15_000, renewMs: 5000 }

/** Takes the lease; undefined: another node has it. */
export async function takeLease(
  db: WriteDb,
  name: LockName,
  { ttlMs, renewMs }: LeaseTimes,
): Promise<Lock | undefined> {
  const holder = `host ${hostname()}, pid ${process.pid}, ${randomBytes(4).toString('hex')}`
  const ends = `clock_timestamp() + ${ttlMs} * interval '1 millisecond'`
  const { rows } = await rawQuery<{ fence: number }>(
    db,
    `insert into leases (name, holder, fence, taken_at, expires_at)
     values ($1, $2, 1, clock_timestamp(), ${ends})
     on conflict (name) do update
       set holder = excluded.holder, fence = leases.fence + 1, taken_at = excluded.taken_at,
         expires_at = excluded.expires_at
       where leases.expires_at < clock_timestamp()
     returning fence`,
    [name, holder],
    'leases',
  )
  const fence = rows[0]?.fence
  if (fence === undefined) return undefined
  const mine = 'name = $1 and holder = $2 and fence = $3'
  const values = [name, holder, fence]
  const lossController = new AbortController()
  let lastRenewal = performance.now()
  let renewing: Promise<void> | undefined
  const renew = async () => {
    const sendTime = performance.now()
    try {
      const { numAffectedRows } = await rawQuery(
        db,
        `update leases set expires_at = ${ends} where ${mine}`,
        values,
        'leases',
      )
      if (numAffectedRows === 0n) lossController.abort(takeoverError(name))
      else lastRenewal = sendTime
    } catch {
      // No other node can take it while the database is unreachable; the timer below limits that time.
    } finally {
      renewing = undefined
    }
  }
  const timer = setInterval(() => {
    if (performance.now() - lastRenewal > ttlMs - renewMs)
      lossController.abort(expiredError(name, ttlMs - renewMs))
    if (lossController.signal.aborted) clearInterval(timer)
    else renewing ??= renew()
  }, renewMs)
  timer.unref()
  return {
    outlivesHolderMs: ttlMs,
    lost: lossController.signal,
    async check(trx) {
      lossController.signal.throwIfAborted()
      const lease = await rawQuery(trx, `select 1 from leases where ${mine} for update`, values)
      if (lease.rows.length === 0) throw takeoverError(name)
    },
    // The row stays: without it the fence would start again at 1.
    async release() {
      clearInterval(timer)
      await renewing
      const expiry = rawQuery(
        db,
        `update leases set expires_at = clock_timestamp() where ${mine}`,
        values,
        'leases',
      )
      await expiry.catch(() => {}) // after an error it expires
    },
  }
}

/** Returns the holder, such as `on host office, pid 4711, since 2026-03-24T12:00:00Z`; undefined: the lease is free. */
export async function findLeaseHolder(db: ReadDb, name: LockName): Promise<string | undefined> {
  const { rows } = await rawQuery<{ holder: string; since: string }>(
    db,
    `select holder, to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from leases where name = $1 and expires_at > clock_timestamp()`,
    [name],
  )
  const [row] = rows
  return row && `on ${row.holder.split(', ').slice(0, 2).join(', ')}, since ${row.since}`
}

function takeoverError(name: LockName): AppError {
  return new AppError('busy', `another node has the task ${name} by now`)
}

/** Error of a lease that was not renewed: the database was unreachable, or this process was suspended. */
function expiredError(name: LockName, ms: number): AppError {
  const words = `another node may have the task ${name} by now: it could not be renewed for ${ms / 1000} s`
  return new AppError('busy', words)
}
