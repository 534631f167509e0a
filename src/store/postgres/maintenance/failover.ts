// Renews a database that a node found to have gone back, or that may have (../lineage.ts). The transaction locks the row
// of `meta`: the first node renews, the others find it done. Decisions 7.9.

import { atomically } from '../../engine.ts'
import type { WriteDb } from '../../tables.ts'
import {
  changedAgainError,
  type LineageReading,
  type LineageSql,
  type RenewalCause,
  type ServerState,
  selectServer,
} from '../lineage.ts'
import { rawQuery } from '../raw-query.ts'
import { type RenewedDatabase, renewRows } from './restored.ts'

export type LineageRenewal = RenewedDatabase & {
  /** `contents`: the blob store has recorded a later generation. */
  cause: RenewalCause | 'contents'
  /** Timelines before and after; undefined: not known. */
  timelines: { from: number | undefined; to: number | undefined }
}

type LineageRow = { epoch: string; timeline: number | null }

/** Records the server of a database that has never recorded one. */
export async function recordServer(
  db: WriteDb,
  { timeline, serverId }: LineageSql,
  { server }: LineageReading,
): Promise<void> {
  await rawQuery(
    db,
    `update meta set timeline = coalesce(timeline, $1), server_id = coalesce(server_id, $2)
     where ${timeline} is not distinct from $1::int and ${serverId} is not distinct from $2::text`,
    [server.timeline ?? null, server.serverId ?? null],
    'meta',
  )
}

/**
 * Sets a new epoch, raises ids and counters, records the gap, and ends the leases of all tasks. Their holders take them
 * anew. Undefined: another node did it.
 * @throws AppError `unavailable` when the connection leads to another server than the poll
 */
export function renewLineage(
  db: WriteDb,
  sql: LineageSql,
  cause: RenewalCause,
  reading: LineageReading,
  last: LineageReading | undefined,
): Promise<LineageRenewal | undefined> {
  const { epoch, server } = reading
  return atomically(db, async (trx) => {
    const row = await lockMeta(trx, sql, reading)
    const isDone = cause === 'timeline' ? (row.timeline ?? 0) >= (server.timeline ?? 0) : row.epoch !== epoch
    return isDone ? undefined : renew(trx, row, cause, { generation: last?.generation ?? 0, server })
  })
}

/**
 * Renews a database whose blob store has recorded a generation that the database lost. Undefined: another node did it.
 * @throws AppError like `renewLineage`
 */
export function renewAbove(
  db: WriteDb,
  sql: LineageSql,
  generation: number,
  reading: LineageReading,
): Promise<LineageRenewal | undefined> {
  return atomically(db, async (trx) => {
    const row = await lockMeta(trx, sql, reading)
    if (row.epoch !== reading.epoch) return undefined
    return renew(trx, row, 'contents', { generation, server: reading.server })
  })
}

async function renew(
  trx: WriteDb,
  { timeline }: LineageRow,
  cause: LineageRenewal['cause'],
  known: { generation: number; server: ServerState },
): Promise<LineageRenewal> {
  const renewed = await renewRows(trx, known)
  return { ...renewed, cause, timelines: { from: timeline ?? undefined, to: known.server.timeline } }
}

/** The connection may lead to another server than the poll that found the reason for a renewal. */
async function lockMeta(trx: WriteDb, sql: LineageSql, { server }: LineageReading): Promise<LineageRow> {
  const { rows } = await rawQuery<LineageRow>(trx, 'select epoch, timeline from meta for update')
  const { timeline, serverId } = await selectServer(trx, sql)
  const [row] = rows
  if (!row || timeline !== server.timeline || serverId !== server.serverId) throw changedAgainError()
  return row
}
