// Renews a database that a node found to have gone back, or that may have (../lineage.ts). The transaction locks the row
// of `meta`: the first node renews, the others find it done. Decisions 7.9.

import { atomically } from '../../engine.ts'
import type { WriteDb } from '../../tables.ts'
import type { LineageReading, RenewalCause } from '../lineage.ts'
import { rawQuery } from '../raw-query.ts'
import { type RenewedDatabase, renewRows } from './restored.ts'

export type LineageRenewal = RenewedDatabase & {
  cause: RenewalCause
  /** Timelines before and after; undefined: not known. */
  timelines: { from: number | undefined; to: number | undefined }
}

/** Records the server of a database that has never recorded one. */
export async function recordServer(db: WriteDb, { server }: LineageReading): Promise<void> {
  await rawQuery(
    db,
    `update meta set timeline = coalesce(timeline, $1), server_id = coalesce(server_id, $2)`,
    [server.timeline ?? null, server.serverId ?? null],
  )
}

/**
 * Sets a new epoch, raises ids and counters, records the gap, and ends the leases of all tasks. Their holders take them
 * anew. Undefined: another node did it.
 */
export function renewLineage(
  db: WriteDb,
  cause: RenewalCause,
  { epoch, server }: LineageReading,
  last: LineageReading | undefined,
): Promise<LineageRenewal | undefined> {
  return atomically(db, async (trx) => {
    const row = await lockMeta(trx)
    if (!row) return undefined
    const from = row.timeline ?? undefined
    const isDone = cause === 'timeline' ? (from ?? 0) >= (server.timeline ?? 0) : row.epoch !== epoch
    if (isDone) return undefined
    const renewed = await renewRows(trx, { generation: last?.generation ?? 0, server })
    return { ...renewed, cause, timelines: { from, to: server.timeline } }
  })
}

/** Renews a database whose blob store has recorded a generation that the database lost, unless another node did. */
export async function renewAbove(
  db: WriteDb,
  generation: number,
  { epoch, server }: LineageReading,
): Promise<void> {
  await atomically(db, async (trx) => {
    const row = await lockMeta(trx)
    if (row?.epoch === epoch) await renewRows(trx, { generation, server })
  })
}

async function lockMeta(trx: WriteDb): Promise<{ epoch: string; timeline: number | null } | undefined> {
  const { rows } = await rawQuery<{ epoch: string; timeline: number | null }>(
    trx,
    'select epoch, timeline from meta for update',
  )
  return rows[0]
}
