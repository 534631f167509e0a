// What makes a database that its administrator put back to an earlier moment the beginning of another life: nothing that it
// says from there may be taken for what it said before. Counterpart of ../../sqlite/restored-database.ts.

import { AppError } from '../../../errors.ts'
import { atomically, type Lock, type LockName } from '../../engine.ts'
import { raisedAbove, tablesWithCounters } from '../../ids.ts'
import type { Db } from '../../tables.ts'
import { ask } from '../ask.ts'
import { holderOfLease, LEASE_TIMES, takeLease } from '../lease.ts'
import { makeEpoch } from '../steps.ts'
import { selectSequences, setSequence } from './sequences.ts'

const STEP = 1_000_000

export type Renewed = {
  epoch: string
  /** The last ids that count as given now, by table. */
  ids: Record<string, number>
  /** From when to when nothing is known of what was answered: milliseconds since 1970; undefined: there is nothing. */
  gap: { from: number; to: number } | undefined
}

/**
 * Gives it another epoch, ids and counters that were not seen yet, and a gap in its record, and ends the leases that it had
 * then: all of it or nothing. Under the lease `migrate`, which `work` has too.
 * @throws AppError `failed` while a node runs, or another process is at it
 */
export async function renewRestored<T>(
  db: Db,
  work: (renewed: Renewed, lock: Lock) => Promise<T>,
): Promise<T> {
  const { rows } = await ask<{ name: LockName }>(
    db,
    'select name from leases where expires_at > clock_timestamp() order by name limit 1',
  )
  const [running] = rows
  if (running) {
    const where = `${running.name}: ${await holderOfLease(db, running.name)}`
    throw new AppError(
      'failed',
      `a node has a task of this database (${where}): stop all nodes, and try again`,
    )
  }
  const lock = await takeLease(db, 'migrate', LEASE_TIMES)
  if (!lock) throw new AppError('failed', 'another process is doing the same with this database')
  try {
    return await work(await atomically(db, renew, lock), lock)
  } finally {
    await lock.release()
  }
}

async function renew(trx: Db): Promise<Renewed> {
  const epoch = makeEpoch()
  await ask(
    trx,
    `update meta set epoch = $1, access_revision = access_revision + ${STEP}, documents_revision = documents_revision + ${STEP}`,
    [epoch],
  )
  const gap = await findGap(trx)
  if (gap) await ask(trx, 'insert into record_gaps (gap_from, gap_to) values ($1, $2)', [gap.from, gap.to])
  // Of a holder that ran then: it writes nothing any more, though its process should still be there.
  await ask(trx, `update leases set fence = fence + ${STEP} where name <> 'migrate'`)
  await ask(
    trx,
    `delete from removed_objects as removed using contents
     where contents.object = removed.object or (contents.object is null and contents.sha256 = removed.object)`,
  )
  // A link that was used since, or a session that was ended, may be among them.
  for (const table of ['login_links', 'page_tickets', 'page_sessions']) await ask(trx, `delete from ${table}`)
  const ids: Record<string, number> = {}
  const counted = new Set(tablesWithCounters())
  for (const { table, given, highest } of await selectSequences(trx)) {
    if (!counted.has(table)) continue
    ids[table] = raisedAbove(Math.max(given, highest))
    await setSequence(trx, table, ids[table])
  }
  return { epoch, ids, gap }
}

/** It lived at least until the last of its instants: of what it stored, and of the leases that its nodes renewed. */
async function findGap(trx: Db): Promise<Renewed['gap']> {
  const alive = `greatest(taken_at, expires_at - ${LEASE_TIMES.ttlMs} * interval '1 millisecond')`
  const ms = (instant: string) => `(extract(epoch from ${instant}) * 1000)::bigint`
  const { rows } = await ask<{ from: number | null; to: number }>(
    trx,
    `select ${ms('clock_timestamp()')} as "to", greatest(
       (select max(stored_at) from rates),
       (select max(changed_at) from coverage_changes),
       (select max(changed_at) from catalogue_changes),
       (select max(${ms(alive)}) from leases where name <> 'migrate')
     ) as "from"`,
  )
  const [row] = rows
  if (!row || row.from === null || row.from >= row.to) return undefined
  return { from: row.from, to: row.to }
}
