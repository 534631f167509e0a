import type { Db, Row, SyncStatus, SyncTrigger, WithBoolean } from './tables.ts'

// Named one by one, because the rows are answered and printed as they are: what a run was given stays inside.
const COLUMNS = [
  'id',
  'provider_id',
  'trigger',
  'status',
  'date_from',
  'date_to',
  'inserted',
  'updated',
  'unchanged',
  'message',
  'started_at',
  'finished_at',
] as const

export type SyncRunRow = Pick<Row<'sync_runs'>, (typeof COLUMNS)[number]>

/** A run, and what a start asks about its token. */
export type LastRun = SyncRunRow &
  WithBoolean<Pick<Row<'sync_runs'>, 'token_hash' | 'token_only'>, 'token_only'>

export type SyncCounts = Pick<SyncRunRow, 'inserted' | 'updated' | 'unchanged'>

/** The messages of a run that did not come to its end (decisions 2.10). */
export const IN_PROGRESS = 'in progress'
export const INTERRUPTED = 'interrupted'

/** Opens the row of a run that starts now. While it goes on it is `parcial` (decisions 2.10). */
export async function insertRun(
  db: Db,
  run: {
    providerId: number
    trigger: SyncTrigger
    dateFrom: string
    dateTo: string
    startedAt: string
    tokenHash?: string | null
  },
): Promise<number> {
  const row = await db
    .insertInto('sync_runs')
    .values({
      provider_id: run.providerId,
      trigger: run.trigger,
      status: 'parcial',
      date_from: run.dateFrom,
      date_to: run.dateTo,
      message: IN_PROGRESS,
      started_at: run.startedAt,
      finished_at: null,
      token_hash: run.tokenHash ?? null,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Writes down how far a run is that goes on. */
export async function updateRun(db: Db, id: number, run: SyncCounts & { dateFrom: string }): Promise<void> {
  const { dateFrom, ...counts } = run
  await db
    .updateTable('sync_runs')
    .set({ ...counts, date_from: dateFrom })
    .where('id', '=', id)
    .execute()
}

/** How a run ended. */
export type RunEnd = SyncCounts & {
  status: SyncStatus
  message: string | null
  finishedAt: string
  tokenOnly?: boolean
}

export async function closeRun(db: Db, id: number, end: RunEnd): Promise<SyncRunRow> {
  const { finishedAt, tokenOnly, ...values } = end
  return db
    .updateTable('sync_runs')
    .set({ ...values, finished_at: finishedAt, token_only: tokenOnly ? 1 : 0 })
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirstOrThrow()
}

/** Closes what a dead process left open. The caller holds the sync lock, so no living one is among them. */
export async function closeInterruptedRuns(
  db: Db,
  foundAt: string,
  options: { except?: number | undefined } = {},
): Promise<void> {
  const closing = (status: SyncStatus) =>
    db
      .updateTable('sync_runs')
      .set({ status, message: INTERRUPTED, finished_at: foundAt })
      .where('finished_at', 'is', null)
      .where('id', '!=', options.except ?? 0)
  // Refining gives up the lock after each window: it may be alive, and what it stored is whole.
  await closing('parcial').where('trigger', '=', 'refine').execute()
  await closing('error').execute()
}

/** What triggered the newest run that has not come to its end. */
export async function findOpenTrigger(db: Db): Promise<SyncTrigger | undefined> {
  const row = await db
    .selectFrom('sync_runs')
    .select('trigger')
    .where('finished_at', 'is', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.trigger
}

/** The run of refining that has not come to its end. */
export async function findOpenRefining(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom('sync_runs')
    .select('id')
    .where('finished_at', 'is', null)
    .where('trigger', '=', 'refine')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

/** Newest first. */
export function selectRuns(
  db: Db,
  filter: { providerCode?: string | undefined; limit: number },
): Promise<SyncRunRow[]> {
  const { providerCode, limit } = filter
  let query = db.selectFrom('sync_runs').select(COLUMNS).orderBy('id', 'desc').limit(limit)
  if (providerCode !== undefined) {
    query = query.where((is) =>
      is('provider_id', 'in', is.selectFrom('providers').select('id').where('code', '=', providerCode)),
    )
  }
  return query.execute()
}

/** The newest run of a provider that was there to read new rates, which refining and an import are not. */
export async function selectNewestRun(db: Db, providerId: number): Promise<LastRun | undefined> {
  const row = await db
    .selectFrom('sync_runs')
    .select([...COLUMNS, 'token_hash', 'token_only'])
    .where('provider_id', '=', providerId)
    .where('trigger', 'not in', ['refine', 'import'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row && { ...row, token_only: row.token_only === 1 }
}

/** The run of the same provider before this one that was there to read new rates. */
export function findRunBefore(
  db: Db,
  run: Pick<SyncRunRow, 'id' | 'provider_id'>,
): Promise<SyncRunRow | undefined> {
  return db
    .selectFrom('sync_runs')
    .select(COLUMNS)
    .where('provider_id', '=', run.provider_id)
    .where('trigger', 'not in', ['refine', 'import'])
    .where('id', '<', run.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** When the newest runs of a trigger were started, newest first. */
export async function selectStartsOf(
  db: Db,
  run: { providerId: number; trigger: SyncTrigger; limit: number },
): Promise<Date[]> {
  const rows = await db
    .selectFrom('sync_runs')
    .select('started_at')
    .where('provider_id', '=', run.providerId)
    .where('trigger', '=', run.trigger)
    .orderBy('id', 'desc')
    .limit(run.limit)
    .execute()
  return rows.map((row) => new Date(row.started_at))
}

/** The run of a provider that ended last of those in which nothing failed. */
export function selectLastGoodRunOf(db: Db, providerId: number): Promise<SyncRunRow | undefined> {
  return db
    .selectFrom('sync_runs')
    .select(COLUMNS)
    .where('provider_id', '=', providerId)
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
    .select(COLUMNS)
    .where('finished_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The same of one provider. */
export function selectLastFinishedRunOf(db: Db, providerId: number): Promise<SyncRunRow | undefined> {
  return db
    .selectFrom('sync_runs')
    .select(COLUMNS)
    .where('provider_id', '=', providerId)
    .where('finished_at', 'is not', null)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
