// When the values of a series were committed. A sync stores thousands of values at once, so the instants of a series are
// told as runs: each from a day on, until the next begins.

import type { IsoDate } from '../../dates.ts'
import { dialectOf, snapshot } from '../engine.ts'
import type { Db } from '../tables.ts'
import { type RateRevision, selectRevisionsOf } from './record.ts'
import { findSeriesRevision } from './series.ts'

/** From this value on they were stored at this instant, in milliseconds since 1970. */
export type StoredAtRun = { from: IsoDate; storedAt: number }

/** Since when the values of a series are what they are, and what they were. */
export type ValueRecord = {
  stored: readonly StoredAtRun[]
  /** The values that were replaced after an instant, in the order in which they were. */
  revisions: readonly RateRevision[]
}

/**
 * The instants of a series, by day; undefined when its values are not of this data revision any more (a row for each
 * value would take as long as the whole export).
 */
export function selectStoredAtRuns(
  db: Db,
  series: { id: number; revision: number },
): Promise<StoredAtRun[] | undefined> {
  return snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, series.id)) !== series.revision) return undefined
    return dialectOf(trx).storedAtRuns(trx, series.id)
  })
}

/** What says which values a series had at an instant, in milliseconds since 1970. */
export async function selectValueRecord(db: Db, seriesId: number, instant: number): Promise<ValueRecord> {
  return {
    stored: await dialectOf(db).storedAtRuns(db, seriesId),
    revisions: await selectRevisionsOf(db, seriesId, new Date(instant).toISOString()),
  }
}
