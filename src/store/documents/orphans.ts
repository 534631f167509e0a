// Blobs that no document names since a shared database went back. Some belong to acknowledged documents that were lost,
// some to uploads that were refused during the failover. The garbage collection retains them until the operator accepts the
// loss (decisions#lineage).

import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'
import type { StoredName } from './blob-info.ts'

/** `object`: its name in the store. */
export type OrphanedBlob = Row<'orphaned_contents'>

/** A time whose acknowledged documents may be lost, in milliseconds since 1970. */
export type LossTime = { from: number; to: number }

// A blob is written before the rows of its document. A former primary may take documents after the failover.
const EARLIER_MS = 3_600_000
const LATER_MS = 300_000

/** Records a time; the database went back at its end. */
export async function insertLoss(trx: WriteDb, { from, to }: LossTime): Promise<void> {
  const [lost_from, lost_to] = [from, to].map((ms) => new Date(ms).toISOString()) as [string, string]
  await trx.insertInto('losses').values({ lost_from, lost_to }).execute()
}

/** Selects the times that the operator has not accepted yet, the earliest first. */
export async function selectLosses(db: ReadDb): Promise<LossTime[]> {
  const rows = await db.selectFrom('losses').selectAll().orderBy('lost_from').execute()
  return rows.map(({ lost_from, lost_to }) => ({ from: Date.parse(lost_from), to: Date.parse(lost_to) }))
}

/** Returns whether a blob that was written at an instant may belong to a lost document. */
export function mayBeLost(losses: readonly LossTime[], modifiedTime: Date): boolean {
  const at = modifiedTime.getTime()
  return losses.some(({ from, to }) => at >= from - EARLIER_MS && at <= to + LATER_MS)
}

/** Selects recorded orphans, by name. An upload of the same bytes heals those that are left out, while it exists. */
export function selectOrphans(db: ReadDb, limit: number): Promise<OrphanedBlob[]> {
  return orphansQuery(db).selectAll().orderBy('object').limit(limit).execute()
}

export async function countOrphans(db: ReadDb): Promise<{ count: number; bytes: number }> {
  const row = await orphansQuery(db)
    .select(({ fn }) => [fn.countAll<number>().as('count'), fn.sum<number | null>('size').as('bytes')])
    .executeTakeFirstOrThrow()
  return { count: row.count, bytes: row.bytes ?? 0 }
}

/** Returns those of the names that are recorded as orphans. */
export async function selectOrphanNames(db: ReadDb, names: readonly StoredName[]): Promise<Set<StoredName>> {
  const rows = await db
    .selectFrom('orphaned_contents')
    .select('object')
    .where('object', 'in', names)
    .execute()
  return new Set(rows.map(({ object }) => object))
}

/** Records orphans, which are then no longer recorded as removed. */
export async function insertOrphans(trx: WriteDb, orphans: readonly OrphanedBlob[]): Promise<void> {
  await insertBatches(trx, 'orphaned_contents', orphans, { skipExisting: true })
  const names = orphans.map(({ object }) => object)
  await trx.deleteFrom('removed_objects').where('object', 'in', names).execute()
}

/** Accepts all losses: the garbage collection removes their blobs in time. */
export async function deleteLosses(trx: WriteDb): Promise<void> {
  await trx.deleteFrom('orphaned_contents').execute()
  await trx.deleteFrom('losses').execute()
}

function orphansQuery(db: ReadDb) {
  return db
    .selectFrom('orphaned_contents')
    .where('sha256', 'not in', db.selectFrom('contents').select('sha256'))
}
