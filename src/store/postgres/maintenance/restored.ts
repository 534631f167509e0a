// Renews a database that its administrator restored to an earlier instant. No new id, ETag or cursor may equal an old
// one. Counterpart of ../../sqlite/restored-database.ts.

import { AppError } from '../../../runtime/errors.ts'
import { insertLoss } from '../../documents/orphans.ts'
import { atomically, type Lock } from '../../engine.ts'
import { COUNTER_STEP, raiseCounter, tablesWithCounters } from '../../ids.ts'
import { invariantError } from '../../invariant.ts'
import type { WriteDb } from '../../tables.ts'
import { LEASE_TIMES, takeLease } from '../lease.ts'
import { findLineageSql, type ServerState, selectServer } from '../lineage.ts'
import { rawQuery } from '../raw-query.ts'
import { makeEpoch } from '../steps.ts'
import { selectSequences, setSequence } from './sequences.ts'

export type RenewedDatabase = {
  epoch: string
  generation: number
  timeline: number | undefined
  /** New values of the id counters, by table. */
  ids: Record<string, number>
  /** Lost time, in milliseconds since 1970; undefined: none. */
  gap: { from: number; to: number } | undefined
}

/**
 * Pauses the mailboxes, renews the database (`renewRows`), and runs `work` afterwards under the same lease `migrate`.
 * `generation`: greatest one that the blob store has recorded.
 * The caller has checked that no node runs (open-connections.ts).
 * @throws AppError `failed` while another process does the same
 */
export async function renewRestored<T>(
  db: WriteDb,
  generation: number,
  work: (renewed: RenewedDatabase, lock: Lock) => Promise<T>,
): Promise<T> {
  const lock = await takeLease(db, 'migrate', LEASE_TIMES)
  if (!lock) {
    const reason = 'another process is doing the same with this database, or did when it was backed up'
    throw new AppError('failed', `${reason}: try again in ${LEASE_TIMES.ttlMs / 1000} s`)
  }
  try {
    const server = await selectServer(db, await findLineageSql(db))
    const renew = async (trx: WriteDb) => {
      await pauseRestoredMailboxes(trx)
      return await renewRows(trx, { server, generation })
    }
    const renewal = await atomically(db, renew, lock)
    return await work(renewal, lock)
  } finally {
    await lock.release()
  }
}

/**
 * Sets a new epoch, raises ids and counters, records the gap, and ends the leases of all tasks. `generation`: the
 * greatest that is known elsewhere. A database below it has lost renewals, and the ids that followed them.
 * The numbers are raised once more for each.
 */
export async function renewRows(
  trx: WriteDb,
  { server, generation }: { server: ServerState; generation: number },
): Promise<RenewedDatabase> {
  const epoch = makeEpoch()
  const { rows } = await rawQuery<{ generation: number }>(trx, 'select generation from meta for update')
  const formerGeneration = rows[0]?.generation
  if (formerGeneration === undefined) throw invariantError('Counter', 'meta has no row, and so no generation')
  const newGeneration = Math.max(formerGeneration, generation) + 1
  const steps = newGeneration - formerGeneration
  const more = steps * COUNTER_STEP
  await rawQuery(
    trx,
    `update meta set epoch = $1, data_revision = data_revision + ${more},
       access_revision = access_revision + ${more}, documents_revision = documents_revision + ${more},
       generation = $2, timeline = $3, server_id = $4,
       contents_listed_at = null -- the next collection lists the contents that no document names`,
    [epoch, newGeneration, server.timeline ?? null, server.serverId ?? null],
    'meta',
  )
  const gap = await findGap(trx)
  if (gap) {
    await rawQuery(
      trx,
      'insert into record_gaps (gap_from, gap_to) values ($1, $2)',
      [gap.from, gap.to],
      'record_gaps',
    )
    await insertLoss(trx, gap)
  }
  // Holders cannot write with a raised fence, even if their process still runs, and take the lease anew.
  await rawQuery(
    trx,
    `update leases set fence = fence + ${more}, expires_at = least(expires_at, clock_timestamp())
     where name <> 'migrate'`,
    [],
    'leases',
  )
  await rawQuery(
    trx,
    `delete from removed_objects as removed using contents
     where contents.object = removed.object or (contents.object is null and contents.sha256 = removed.object)`,
    [],
    'removed_objects',
  )
  // The restored rows may include used links, closed sessions and links of documents that were lost.
  for (const table of ['login_links', 'page_tickets', 'page_sessions', 'upload_links'] as const)
    await rawQuery(trx, `delete from ${table}`, [], table)
  const ids: Record<string, number> = {}
  const counted = new Set(tablesWithCounters())
  for (const { table, lastId, highest } of await selectSequences(trx)) {
    if (!counted.has(table)) continue
    ids[table] = raiseCounter(Math.max(lastId, highest), steps)
    await setSequence(trx, table, ids[table])
  }
  return { epoch, generation: newGeneration, timeline: server.timeline, ids, gap }
}

/** Pauses every mailbox: the nodes of the original may take mails of the same folder. */
async function pauseRestoredMailboxes(trx: WriteDb): Promise<void> {
  await rawQuery(
    trx,
    `update mailboxes set paused_at = to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
       pause_reason = 'restore'
     where paused_at is null and deleted_at is null`,
    [],
    'mailboxes',
  )
}

/** Finds the gap, which begins at the last instant of the restored data: of stored changes, or of renewed leases. */
async function findGap(trx: WriteDb): Promise<RenewedDatabase['gap']> {
  const alive = `greatest(taken_at, expires_at - ${LEASE_TIMES.ttlMs} * interval '1 millisecond')`
  const ms = (instant: string) => `(extract(epoch from ${instant}) * 1000)::bigint`
  const { rows } = await rawQuery<{ from: number | null; to: number }>(
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
