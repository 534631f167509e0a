// Runs over indicators. Their rows are in a table of their own, so that no rule of the rates depends on them.

import { RUN_COLUMNS } from '../rates/sync-runs.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row } from '../tables.ts'

export type IndicatorRun = Pick<Row<'indicator_runs'>, (typeof RUN_COLUMNS)[number]>

/** Returns whether a run is open: it releases the lock of a sync after each window. */
export function hasOpenIndicatorRun(db: ReadDb): Promise<boolean> {
  return hasRow(db.selectFrom('indicator_runs').select('id').where('finished_at', 'is', null).limit(1))
}

/** Selects runs, newest first. */
export function selectIndicatorRuns(db: ReadDb, limit: number): Promise<IndicatorRun[]> {
  return db.selectFrom('indicator_runs').select(RUN_COLUMNS).orderBy('id', 'desc').limit(limit).execute()
}
