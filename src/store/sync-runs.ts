import type { Db, SyncStatus, SyncTrigger } from './tables.ts'

export type SyncRunRow = {
  id: number
  provider_id: number
  trigger: SyncTrigger
  status: SyncStatus
  date_from: string | null
  date_to: string | null
  inserted: number
  updated: number
  unchanged: number
  message: string | null
  started_at: string
  finished_at: string | null
}

export type SyncCounts = { inserted: number; updated: number; unchanged: number }

/** The messages of a run that did not come to its end (decisions 2.10). */
export const IN_PROGRESS = 'in progress'
export const INTERRUPTED = 'interrupted'

/** Opens the row of a run that starts now. */
export async function insertRun(
  db: Db,
  run: { providerId: number; trigger: SyncTrigger; dateFrom: string; dateTo: string; startedAt: string },
): Promise<number> {
  const row = await db
    .insertInto('sync_runs')
    .values({
      provider_id: run.providerId,
      trigger: run.trigger,
      status: 'error',
      date_from: run.dateFrom,
      date_to: run.dateTo,
      message: IN_PROGRESS,
      started_at: run.startedAt,
      finished_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export async function closeRun(
  db: Db,
  id: number,
  end: SyncCounts & { status: SyncStatus; message: string | null; finishedAt: string },
): Promise<SyncRunRow> {
  const { finishedAt, ...values } = end
  return db
    .updateTable('sync_runs')
    .set({ ...values, finished_at: finishedAt })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Closes what a dead process left open. The caller holds the sync lock, so no living one is among them. */
export async function closeInterruptedRuns(db: Db, foundAt: string): Promise<void> {
  await db
    .updateTable('sync_runs')
    .set({ status: 'error', message: INTERRUPTED, finished_at: foundAt })
    .where('finished_at', 'is', null)
    .execute()
}

/** Newest first. */
export function selectRuns(
  db: Db,
  filter: { providerCode?: string | undefined; limit: number },
): Promise<SyncRunRow[]> {
  let query = db.selectFrom('sync_runs').selectAll('sync_runs').orderBy('id', 'desc').limit(filter.limit)
  if (filter.providerCode !== undefined) {
    query = query
      .innerJoin('providers', 'providers.id', 'sync_runs.provider_id')
      .where('providers.code', '=', filter.providerCode)
  }
  return query.execute()
}

/** The run that ended last of those in which nothing failed. */
export function selectLastGoodRun(db: Db): Promise<SyncRunRow | undefined> {
  return db
    .selectFrom('sync_runs')
    .selectAll()
    .where('status', '=', 'ok')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** How many runs ended how. */
export function countFinishedRuns(db: Db): Promise<{ status: SyncStatus; count: number }[]> {
  return db
    .selectFrom('sync_runs')
    .select((of) => ['status', of.fn.countAll<number>().as('count')])
    .where('finished_at', 'is not', null)
    .groupBy('status')
    .execute()
}

/** The run that ended last, whatever its status. One runs at a time, so they end in the order of their ids. */
export function selectLastFinishedRun(db: Db): Promise<SyncRunRow | undefined> {
  return db
    .selectFrom('sync_runs')
    .selectAll()
    .where('finished_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
