// The end of a move: what a database of several nodes has beside the rows that came from a data directory. Until then no node
// may start on it.

import { atomically, type Lock } from '../../engine.ts'
import { insertLostContents, type LostContent } from '../../lost-contents.ts'
import type { Db, Row } from '../../tables.ts'
import { ask } from '../ask.ts'
import { makeEpoch } from '../steps.ts'
import { selectSequences, setSequence } from './sequences.ts'

export type MoveEnd = {
  /** Of the data directory. */
  meta: Row<'meta'>
  /** The last ids that tables gave, where they remember them. */
  counters: Record<string, number>
  /** Contents that did not come along. */
  lost: readonly LostContent[]
}

/** All of it or nothing. Its epoch, for it is another database than the one it came from. */
export function endMove(db: Db, end: MoveEnd, lock: Lock): Promise<string> {
  const { meta, counters } = end
  const epoch = makeEpoch()
  const work = async (trx: Db) => {
    for (const { table, given, highest } of await selectSequences(trx)) {
      await setSequence(trx, table, Math.max(given, highest, counters[table] ?? 0))
    }
    await insertLostContents(trx, end.lost)
    // As after a start of one process: each claim has its whole lease again.
    await ask(
      trx,
      `update documents set lease_ends = clock_timestamp() + lease_seconds * interval '1 second' where state = 'claimed'`,
    )
    await ask(
      trx,
      `update meta set moving_from = null, epoch = $1, data_revision = $2, record_from = $3, coverage_from = $4`,
      [epoch, meta.data_revision, meta.record_from, meta.coverage_from],
    )
    return epoch
  }
  return atomically(db, work, lock)
}
