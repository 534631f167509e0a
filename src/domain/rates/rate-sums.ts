// Sums over the rates: their faults in words. Sums are computed anew after an operator accepted the rows, and after an
// older program wrote them.

import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import { atomically, type Lock, snapshot } from '../../store/engine.ts'
import { raiseRevision } from '../../store/meta.ts'
import { takeInstant } from '../../store/rates/change-log.ts'
import { acceptSums, listDamagedParts, REVISIONS, settleSums } from '../../store/rates/rate-sums.ts'
import { type SeriesRow, selectSeries } from '../../store/rates/series.ts'
import type { ReadDb, WriteDb } from '../../store/tables.ts'

/** Part of a series, a year or `revisions`, whose rows are not those that were stored. */
export type DamagedPart = { series: SeriesRow; part: string; message: string }

/** Compares the sums of all rates with their rows, in a snapshot for each series. */
export async function findDamagedRates(db: ReadDb): Promise<DamagedPart[]> {
  const damaged: DamagedPart[] = []
  for (const series of await selectSeries(db)) {
    for (const part of await snapshot(db, (trx) => listDamagedParts(trx, series.id))) {
      const rows = part === REVISIONS ? 'revisions' : `values of ${part}`
      const message = `${describeSeries(series)}: its ${rows} are not as they were stored`
      damaged.push({ series, part, message })
    }
  }
  return damaged
}

/**
 * Accepts the rows of a damaged part of a series: writes their sums anew.
 * @throws AppError `failed` for a part that is not damaged
 */
export async function acceptDamagedPart(
  db: WriteDb,
  { seriesId, part, now }: { seriesId: number; part: string; now: Date },
): Promise<void> {
  await atomically(db, async (trx) => {
    const instant = await takeInstant(trx, now)
    if (!(await listDamagedParts(trx, seriesId)).includes(part)) {
      const words = `the sums of series ${seriesId}, ${part}, fit its rows: there is nothing to accept`
      throw new AppError('failed', words)
    }
    await acceptSums(trx, seriesId, [part], await raiseRevision(trx, instant))
  })
}

/** Computes the sums of rates anew that an older program has written since, and logs the number of series. */
export async function renewOutdatedSums(db: WriteDb, log: Log, lock: Lock | undefined): Promise<void> {
  const series = await settleSums(db, lock)
  if (series > 0) log.info('sums of rates computed anew', { series, because: 'an older program wrote them' })
}

export function describeSeries({ id, base_currency, quote_currency, rate_type }: SeriesRow): string {
  return `series ${id} (${base_currency}/${quote_currency} ${rate_type})`
}
