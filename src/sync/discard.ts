// Removes what is stored of days that are yet to come: values that no source can have published, and days that count as
// answered though nobody asked for them. Both become part of the record, so that an older `as_of` answers as before
// (decisions 2.22).

import { addDays, type Clock, type IsoDate, LATEST_DAY, latest, todayIn } from '../dates.ts'
import { without } from '../intervals.ts'
import type { Provider } from '../providers/provider.ts'
import { atomically } from '../store/engine.ts'
import { raiseRevision } from '../store/meta.ts'
import { replaceCoverage, selectCoverage } from '../store/rates/coverage.ts'
import { deleteRatesAfter, markSeriesChanged, selectRatesIn } from '../store/rates/rates.ts'
import { insertRevisions } from '../store/rates/record.ts'
import { selectSeries } from '../store/rates/series.ts'
import type { Db } from '../store/tables.ts'
import { COVERAGE_KINDS } from './coverage.ts'
import { type LockDeps, underSyncLock } from './lock.ts'

/** How much is stored of days after one; `lastDay`: the last of these days, undefined where there is none. */
export type LaterRates = { values: number; series: number; lastDay: IsoDate | undefined }

/** The first day after which nothing can be known yet: tomorrow, where that comes last. */
export function earliestDiscard(clock: Clock, providers: readonly Provider[]): IsoDate {
  return addDays(providers.map(({ timeZone }) => todayIn(clock, timeZone)).reduce(latest, todayIn(clock)), 1)
}

/** Counts the values and the series that have values or covered days after a day. */
export async function countLaterRates(db: Db, after: IsoDate): Promise<LaterRates> {
  const later = { from: addDays(after, 1), to: LATEST_DAY }
  const covered = await selectCoverage(db)
  const sum = { values: 0, series: 0, lastDay: undefined as IsoDate | undefined }
  for (const { id } of await selectSeries(db)) {
    const days = (await selectRatesIn(db, [id], later)).map(({ rate_date }) => rate_date)
    sum.values += days.length
    const coveredTo = covered.get(id)?.at(-1)?.to
    if (coveredTo !== undefined && coveredTo > after) days.push(coveredTo)
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
  return underSyncLock(deps, (lock) =>
    atomically(deps.db, (trx) => discardIn(trx, after, deps.clock()), lock),
  )
}

async function discardIn(trx: Db, after: IsoDate, now: Date): Promise<LaterRates> {
  const sum = await countLaterRates(trx, after)
  if (sum.series === 0) return sum
  const later = { from: addDays(after, 1), to: LATEST_DAY }
  const changed: number[] = []
  for (const { id } of await selectSeries(trx)) {
    const rates = await selectRatesIn(trx, [id], later)
    if (rates.length === 0) continue
    changed.push(id)
    await insertRevisions(
      trx,
      rates.map(({ rate_date, value, rounded_to, stored_at }) => ({
        ...{ series_id: id, rate_date, kind: 'discarded', new_value: null, run_id: null },
        ...{ old_value: value, old_rounded_to: rounded_to, old_stored_at: stored_at },
        replaced_at: now.toISOString(),
      })),
    )
  }
  await deleteRatesAfter(trx, changed, after)
  for (const kind of COVERAGE_KINDS) {
    const covered = [...(await selectCoverage(trx, kind))].filter(
      ([, days]) => (days.at(-1)?.to ?? '') > after,
    )
    const left = new Map(covered.map(([id, days]) => [id, without(days, later)]))
    await replaceCoverage(trx, kind, left, now.getTime())
  }
  await markSeriesChanged(trx, changed, await raiseRevision(trx))
  return sum
}
