// Opens and closes the rows of runs over indicators. A start does not load this file: only runs use it.

import { invariantError } from '../invariant.ts'
import { IN_PROGRESS, INTERRUPTED, RUN_COLUMNS, type RunEnd, type SyncCounts } from '../rates/sync-runs.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'
import type { IndicatorRun } from './runs.ts'

/** Refusal of a token: its SHA-256, and the end of the run in which it was refused. */
export type TokenRefusal = { tokenHash: string; at: string }

type IndicatorRunProgress = SyncCounts & { date_from: string; date_to: string; history: number }

/** Inserts the row of a run that starts now. Its status is `parcial` until its end (decisions#sync-runs). */
export async function insertIndicatorRun(
  db: WriteDb,
  run: Pick<Row<'indicator_runs'>, 'provider_id' | 'trigger' | 'date_from' | 'date_to' | 'started_at'>,
): Promise<number> {
  const values = { ...run, status: 'parcial', message: IN_PROGRESS } as const
  return (await db.insertInto('indicator_runs').values(values).returning('id').executeTakeFirstOrThrow()).id
}

/** Stores the progress of an open run. */
export async function updateIndicatorRun(
  db: WriteDb,
  id: number,
  progress: IndicatorRunProgress,
): Promise<void> {
  const query = db.updateTable('indicator_runs').set(progress).where('id', '=', id)
  if (!(await hasRow(query.where('finished_at', 'is', null).returning('id'))))
    throw invariantError('IndicatorRun', `run ${id} is not open`)
}

/** Closes an open run. `token_hash`: of a token that was refused. */
export async function closeIndicatorRun(
  db: WriteDb,
  id: number,
  end: Omit<RunEnd, 'token_only' | 'cause'> & { token_hash: string | null; history: number },
): Promise<IndicatorRun> {
  const query = db.updateTable('indicator_runs').set(end).where('id', '=', id)
  const row = await query.where('finished_at', 'is', null).returning(RUN_COLUMNS).executeTakeFirst()
  if (!row) throw invariantError('IndicatorRun', `run ${id} is not open`)
  return row
}

/** Closes the rows that a dead process left open. Its windows are complete. */
export async function closeInterruptedIndicatorRuns(db: WriteDb, foundAt: string): Promise<void> {
  await db
    .updateTable('indicator_runs')
    .set({ status: 'parcial', message: INTERRUPTED, finished_at: foundAt })
    .where('finished_at', 'is', null)
    .execute()
}

/** Returns whether this run is open: a command may have closed the run of a server as interrupted. */
export function isOpenIndicatorRun(db: ReadDb, id: number): Promise<boolean> {
  return hasRow(
    db.selectFrom('indicator_runs').select('id').where('finished_at', 'is', null).where('id', '=', id),
  )
}

/** Selects the refusal of a token in the newest run that ended; undefined: it was not refused. */
export async function findTokenRefusal(db: ReadDb): Promise<TokenRefusal | undefined> {
  const row = await db
    .selectFrom('indicator_runs')
    .select(['token_hash', 'finished_at'])
    .where('finished_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.token_hash && row.finished_at ? { tokenHash: row.token_hash, at: row.finished_at } : undefined
}

/** Counts the requests for history of the runs that started at an instant or later. */
export async function countHistoryRequests(db: ReadDb, since: string): Promise<number> {
  const row = await db
    .selectFrom('indicator_runs')
    .select(({ fn }) => fn.sum<number | string | null>('history').as('sum'))
    .where('started_at', '>=', since)
    .executeTakeFirst()
  return Number(row?.sum ?? 0)
}
