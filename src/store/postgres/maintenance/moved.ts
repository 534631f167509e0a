// End of a move from a data directory: sets the sequences, the lost blobs and `meta`. No node can start on the database
// before.

import { errorCode } from '../../../runtime/errors.ts'
import { insertLostBlobs, type LostBlob } from '../../documents/lost-blobs.ts'
import { atomically, type Lock } from '../../engine.ts'
import { selectMeta } from '../../meta.ts'
import type { Row, WriteDb } from '../../tables.ts'
import { parseAddress } from '../address.ts'
import { selectVersions } from '../make-schema.ts'
import { createPostgresDb } from '../open-postgres.ts'
import { COMMIT_UNKNOWN } from '../postgres-errors.ts'
import { rawQuery } from '../raw-query.ts'
import { selectSequences, setSequence } from './sequences.ts'

const POOL = { size: 1, answerMs: 6000 }

export type MoveEnd = {
  /** New epoch, because the database is another one. */
  epoch: string
  /** The row of the data directory. */
  meta: Row<'meta'>
  /** Last assigned ids of tables with counters. */
  counters: Record<string, number>
  /** Blobs that were not moved. */
  lost: readonly LostBlob[]
}

/** Completes a move to the database at a URL in one transaction. */
export async function completeMove(db: WriteDb, url: string, end: MoveEnd, lock: Lock): Promise<void> {
  const { epoch, meta, counters } = end
  const work = async (trx: WriteDb) => {
    for (const { table, lastId, highest } of await selectSequences(trx)) {
      await setSequence(trx, table, Math.max(lastId, highest, counters[table] ?? 0))
    }
    await insertLostBlobs(trx, end.lost)
    await rawQuery(
      trx,
      `update meta set moving_from = null, epoch = $1, data_revision = $2, record_from = $3, coverage_from = $4,
        invoice_reader = $5, unread_before = $6, indicator_revision = $7, indicator_instant = $8`,
      [
        ...[epoch, meta.data_revision, meta.record_from, meta.coverage_from],
        ...[meta.invoice_reader, meta.unread_before, meta.indicator_revision, meta.indicator_instant],
      ],
      'meta',
    )
  }
  try {
    await atomically(db, work, lock)
  } catch (error) {
    // New connections of `db` refuse the new epoch, so another one finds out whether the commit arrived.
    if (errorCode(error) !== COMMIT_UNKNOWN || !(await wasMoved(url, epoch))) throw error
  }
}

/** Returns whether a move to a database was completed with an epoch. */
export async function wasMoved(url: string, epoch: string): Promise<boolean> {
  const db = createPostgresDb(parseAddress(url), POOL)
  try {
    return (await selectVersions(db)) !== undefined && (await hasEpoch(db, epoch))
  } finally {
    await db.destroy()
  }
}

async function hasEpoch(db: WriteDb, epoch: string): Promise<boolean> {
  return (await selectMeta(db)).epoch === epoch
}
