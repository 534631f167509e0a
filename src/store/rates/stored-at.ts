// Commit instants of the values of a series. A sync stores thousands of values at once, so the instants are grouped
// into runs. A run begins on a day and ends before the next one.

import type { IsoDate } from '../../values/dates.ts'
import { engineSql, snapshot } from '../engine.ts'
import type { ReadDb } from '../tables.ts'
import { type RateRevision, selectSeriesRevisions } from './record.ts'
import { findSeriesRevision } from './series.ts'

/** Values from the day `from` on were stored at this instant, in milliseconds since 1970. */
export type StoredAtRun = { from: IsoDate; storedAt: number }

/** Commit instants of a series' values, and its replaced values. */
export type ValueRecord = {
  stored: readonly StoredAtRun[]
  /** Values that were replaced after an instant, in the order of their replacement. */
  revisions: readonly RateRevision[]
}

/**
 * Selects the instants of a series, by day; undefined when its values are of another data revision. A row for each
 * value would take as long as the whole export.
 */
export function selectStoredAtRuns(
  db: ReadDb,
  series: { id: number; revision: number },
): Promise<StoredAtRun[] | undefined> {
  return snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, series.id)) !== series.revision) return undefined
    return engineSql(trx).storedAtRuns(trx, series.id)
  })
}

/** Selects the data from which the values of a series at an instant (milliseconds since 1970) are computed. */
export async function selectValueRecord(db: ReadDb, seriesId: number, instant: number): Promise<ValueRecord> {
  return {
    stored: await engineSql(db).storedAtRuns(db, seriesId),
    revisions: await selectSeriesRevisions(db, seriesId, new Date(instant).toISOString()),
  }
}
