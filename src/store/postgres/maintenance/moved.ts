// End of a move from a data directory: sets the sequences, the lost blobs and `meta`. No node can start on the database
// before.

import { insertLostBlobs, type LostBlob } from '../../documents/lost-contents.ts'
import { atomically, type Lock } from '../../engine.ts'
import type { Row, WriteDb } from '../../tables.ts'
import { rawQuery } from '../raw-query.ts'
import { makeEpoch } from '../steps.ts'
import { selectSequences, setSequence } from './sequences.ts'

export type MoveEnd = {
  /** The row of the data directory. */
  meta: Row<'meta'>
  /** Last assigned ids of tables with counters. */
  counters: Record<string, number>
  /** Blobs that were not moved. */
  lost: readonly LostBlob[]
}

/** Completes a move in one transaction. Returns the epoch, which is new, because the database is another one. */
export function completeMove(db: WriteDb, end: MoveEnd, lock: Lock): Promise<string> {
  const { meta, counters } = end
  const epoch = makeEpoch()
  const work = async (trx: WriteDb) => {
    for (const { table, lastId, highest } of await selectSequences(trx)) {
      await setSequence(trx, table, Math.max(lastId, highest, counters[table] ?? 0))
    }
    await insertLostBlobs(trx, end.lost)
    await rawQuery(
      trx,
      `update meta set moving_from = null, epoch = $1, data_revision = $2, record_from = $3, coverage_from = $4,
        invoice_reader = $5, unread_before = $6`,
      [
        ...[epoch, meta.data_revision, meta.record_from, meta.coverage_from],
        ...[meta.invoice_reader, meta.unread_before],
      ],
    )
    return epoch
  }
  return atomically(db, work, lock)
}
