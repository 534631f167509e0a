// Removes stored values and covered days of the future, which no source can have published. Both are recorded, so
// that an older `as_of` answers as before (decisions#as-of).

import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { takeInstant } from '../store/rates/change-log.ts'
import { replaceCoverage, selectCoverage } from '../store/rates/coverage.ts'
import { openRateWriter } from '../store/rates/rate-writer.ts'
import { selectRates } from '../store/rates/rates.ts'
import { selectSeries } from '../store/rates/series.ts'
import { deleteLaterDoubts } from '../store/rates/withheld.ts'
import type { ReadDb, WriteDb } from '../store/tables.ts'
import { addDays, type IsoDate, LATEST_DAY, latest } from '../values/dates.ts'
import { subtractInterval } from '../values/intervals.ts'
import { type LockDeps, withSyncLock } from './lock.ts'
import { COVERAGE_KINDS } from './windows/answer-coverage.ts'

/** Counts of values after a day. `lastDay` is the last of these days; undefined: none. */
export type LaterRates = { values: number; series: number; lastDay: IsoDate | undefined }

/** Counts values after a day, and the series with values or covered days after it. */
export async function countLaterRates(db: ReadDb, after: IsoDate): Promise<LaterRates> {
  const later = { from: addDays(after, 1), to: LATEST_DAY }
  const covered = await selectCoverage(db)
  const sum = { values: 0, series: 0, lastDay: undefined as IsoDate | undefined }
  for (const { id } of await selectSeries(db)) {
    const days = (await selectRates(db, [id], later)).map(({ rate_date }) => rate_date)
    sum.values += days.length
    const lastCovered = covered.get(id)?.at(-1)?.to
    if (lastCovered !== undefined && lastCovered > after) days.push(lastCovered)
    if (days.length === 0) continue
    sum.series += 1
    sum.lastDay = days.reduce(latest, sum.lastDay ?? after)
  }
  return sum
}

/**
 * Removes the values and the covered days after a day, in one transaction. The values become revisions.
 * @throws AppError `conflict` while a sync runs
 */
export function discardRates(deps: LockDeps, after: IsoDate): Promise<LaterRates> {
  return withSyncLock(deps, (lock) =>
    atomically(deps.db, (trx) => discardLaterRates(trx, after, deps.clock()), lock),
  )
}

async function discardLaterRates(trx: WriteDb, after: IsoDate, clock: Date): Promise<LaterRates> {
  const now = await takeInstant(trx, clock)
  await deleteLaterDoubts(trx, after)
  const sum = await countLaterRates(trx, after)
  if (sum.series === 0) return sum
  const later = { from: addDays(after, 1), to: LATEST_DAY }
  const writer = openRateWriter(trx)
  for (const { id } of await selectSeries(trx)) {
    const rates = await selectRates(trx, [id], later)
    await writer.insertRevisions(
      rates.map(({ rate_date, value, rounded_to, stored_at }) => ({
        ...{ series_id: id, rate_date, kind: 'discarded', new_value: null, run_id: null },
        ...{ old_value: value, old_rounded_to: rounded_to, old_stored_at: stored_at },
        replaced_at: now.toISOString(),
      })),
    )
    await writer.deleteLater(rates, after)
  }
  for (const kind of COVERAGE_KINDS) {
    const covered = [...(await selectCoverage(trx, kind))].filter(
      ([, days]) => (days.at(-1)?.to ?? '') > after,
    )
    const rest = new Map(covered.map(([id, days]) => [id, subtractInterval(days, later)]))
    await replaceCoverage(trx, kind, rest, now.getTime())
  }
  await writer.close(await raiseRevision(trx, now))
  return sum
}
