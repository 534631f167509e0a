// When the values of a series were committed. A sync stores thousands of values at once, so the instants of a series are
// told as runs: each from a day on, until the next begins.

import { sql } from 'kysely'
import type { IsoDate } from '../dates.ts'
import { snapshot } from './engine.ts'
import { findSeriesRevision } from './series.ts'
import type { Db } from './tables.ts'

/** From this value on they were stored at this instant, in milliseconds since 1970. */
export type StoredAtRun = { from: IsoDate; storedAt: number }

/**
 * The instants of a series, by day; undefined when its values are not of this data revision any more (SQLite only: a row
 * for each value would take as long as the whole export).
 */
export function selectStoredAtRuns(
  db: Db,
  series: { id: number; revision: number },
): Promise<StoredAtRun[] | undefined> {
  return snapshot(db, async (trx) => {
    if ((await findSeriesRevision(trx, series.id)) !== series.revision) return undefined
    return selectRuns(trx, series.id)
  })
}

/** The same of the values that there are. */
export async function selectRuns(db: Db, seriesId: number): Promise<StoredAtRun[]> {
  const { rows } = await sql<StoredAtRun>`
    select rate_date as "from", stored_at as storedAt
    from (
      select rate_date, stored_at, lag(stored_at) over (order by rate_date) as before
      from rates where series_id = ${seriesId}
    )
    where before is not stored_at order by rate_date
  `.execute(db)
  return rows
}
