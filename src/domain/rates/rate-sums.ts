// Sums over the rates after a write by an older program: nothing is wrong with the rows, and their sums are made anew.

import type { Log } from '../../runtime/log.ts'
import type { Lock } from '../../store/engine.ts'
import { settleSums } from '../../store/rates/rate-sums.ts'
import type { WriteDb } from '../../store/tables.ts'

/** Computes the sums of rates anew that an older program has written since, and logs the number of series. */
export async function renewOutdatedSums(db: WriteDb, log: Log, lock: Lock | undefined): Promise<void> {
  const series = await settleSums(db, lock)
  if (series > 0) log.info('sums of rates computed anew', { series, because: 'an older program wrote them' })
}
