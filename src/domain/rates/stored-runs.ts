// Commit instants of the values of a series, read once for each column.

import type { SeriesRow } from '../../store/rates/series.ts'
import { type StoredAtRun, selectStoredAtRuns } from '../../store/rates/stored-at.ts'
import type { ReadDb } from '../../store/tables.ts'
import type { IsoDate } from '../../values/dates.ts'
import type { Column } from './column.ts'
import { outdatedError } from './loaded-columns.ts'

const RUNS = new WeakMap<Column, readonly StoredAtRun[]>()

/** Returns the instants of a series, by day; undefined when its values have changed since the column. */
export async function readStoredRuns(
  db: ReadDb,
  series: SeriesRow,
  column: Column,
): Promise<readonly StoredAtRun[] | undefined> {
  const runs = RUNS.get(column) ?? (await selectStoredAtRuns(db, series))
  if (runs) RUNS.set(column, runs)
  return runs
}

/**
 * Returns the instant at which the value of a day was stored, in milliseconds since 1970.
 * @throws AppError `busy` when the values have changed since the column: RateCache.read() then repeats the query
 */
export async function readStoredInstant(
  db: ReadDb,
  series: SeriesRow,
  column: Column,
  day: IsoDate,
): Promise<number> {
  const runs = await readStoredRuns(db, series, column)
  const run = runs?.findLast(({ from }) => from <= day)
  if (!run) throw outdatedError()
  return run.storedAt
}
