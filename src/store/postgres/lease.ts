// A task that one node at a time has, for as long as it says so often enough. Only the database's clock counts, and whoever
// takes a lease over gets a higher fence: each transaction of the task asks for its own, so that a holder that was stopped
// and wakes up cannot write, whatever it believes.

import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { AppError } from '../../errors.ts'
import type { Lock, LockName } from '../engine.ts'
import type { Db } from '../tables.ts'
import { ask } from './ask.ts'

export type LeaseTimes = { ttlMs: number; renewMs: number }

/** A holder that could not renew for ttlMs - renewMs stops by itself. */
export const LEASE_TIMES: LeaseTimes = { ttlMs: 15_000, renewMs: 5000 }

/** Takes the lease; undefined: another has it. */
export async function takeLease(
  db: Db,
  name: LockName,
  { ttlMs, renewMs }: LeaseTimes,
): Promise<Lock | undefined> {
  const holder = `host ${hostname()}, pid ${process.pid}, ${randomBytes(4).toString('hex')}`
  const ends = `clock_timestamp() + ${ttlMs} * interval '1 millisecond'`
  const { rows } = await ask<{ fence: number }>(
    db,
    `insert into leases (name, holder, fence, taken_at, expires_at)
     values ($1, $2, 1, clock_timestamp(), ${ends})
     on conflict (name) do update
       set holder = excluded.holder, fence = leases.fence + 1, taken_at = excluded.taken_at,
         expires_at = excluded.expires_at
       where leases.expires_at < clock_timestamp()
     returning fence`,
    [name, holder],
  )
  const fence = rows[0]?.fence
  if (fence === undefined) return undefined
  const mine = 'name = $1 and holder = $2 and fence = $3'
  const values = [name, holder, fence]
  const lost = new AbortController()
  let renewedAt = performance.now()
  let renewing: Promise<void> | undefined
  const renew = async () => {
    const askedAt = performance.now()
    try {
      const { numAffectedRows } = await ask(
        db,
        `update leases set expires_at = ${ends} where ${mine}`,
        values,
      )
      if (numAffectedRows === 0n) lost.abort(taken(name))
      else renewedAt = askedAt
    } catch {
      // While the database is away nobody else can take it: what counts is for how long.
    } finally {
      renewing = undefined
    }
  }
  const timer = setInterval(() => {
    if (performance.now() - renewedAt > ttlMs - renewMs) lost.abort(notKept(name, ttlMs - renewMs))
    if (lost.signal.aborted) clearInterval(timer)
    else renewing ??= renew()
  }, renewMs)
  timer.unref()
  return {
    lost: lost.signal,
    async check(trx) {
      lost.signal.throwIfAborted()
      const held = await ask(trx, `select 1 from leases where ${mine} for update`, values)
      if (held.rows.length === 0) throw taken(name)
    },
    // The row stays: a deleted one would begin the fence anew.
    async release() {
      clearInterval(timer)
      await renewing
      const ended = ask(db, `update leases set expires_at = clock_timestamp() where ${mine}`, values)
      await ended.catch(() => {}) // else it ends by itself
    },
  }
}

/** Who has the lease, such as `on host office, pid 4711, since 2026-03-24T12:00:00Z`; undefined: it is free. */
export async function holderOfLease(db: Db, name: LockName): Promise<string | undefined> {
  const { rows } = await ask<{ holder: string; since: string }>(
    db,
    `select holder, to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
    from leases where name = $1 and expires_at > clock_timestamp()`,
    [name],
  )
  const [row] = rows
  return row && `on ${row.holder.split(', ').slice(0, 2).join(', ')}, since ${row.since}`
}

function taken(name: LockName): AppError {
  return new AppError('busy', `another node has the task ${name} by now`)
}

/** It is not known whether the database was away or this process stood still. */
function notKept(name: LockName, ms: number): AppError {
  const words = `another node may have the task ${name} by now: it could not be renewed for ${ms / 1000} s`
  return new AppError('busy', words)
}
