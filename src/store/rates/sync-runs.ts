import { invariantError } from '../invariant.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, RunCause, SyncStatus, SyncTrigger, WithBoolean, WriteDb } from '../tables.ts'

// Listed one by one, because rows are returned and printed unchanged. The hash of a run's token must not be among them.
export const RUN_COLUMNS = [
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

export type SyncRunRow = Pick<Row<'sync_runs'>, (typeof RUN_COLUMNS)[number]>

/** A run that has ended. */
export type FinishedRun = SyncRunRow & { cause: RunCause | null }

/** A run with the facts about its token that a start needs. */
export type LastRun = FinishedRun &
  WithBoolean<Pick<Row<'sync_runs'>, 'token_hash' | 'token_only'>, 'token_only'>

export type SyncCounts = Pick<SyncRunRow, 'inserted' | 'updated' | 'unchanged'>

/** Messages of a run that has not finished (decisions#sync-runs). */
export const IN_PROGRESS = 'in progress'
export const INTERRUPTED = 'interrupted'

/** Inserts the row of a run that starts now. Its status is `parcial` until its end (decisions#sync-runs). */
export async function insertRun(
  db: WriteDb,
  run: Pick<Row<'sync_runs'>, 'provider_id' | 'trigger' | 'date_from' | 'date_to' | 'started_at'> & {
    token_hash?: string | null
  },
): Promise<number> {
  const values = { ...run, status: 'parcial', message: IN_PROGRESS } as const
  return (await db.insertInto('sync_runs').values(values).returning('id').executeTakeFirstOrThrow()).id
}

/** Stores the progress of an open run. */
export async function updateRun(
  db: WriteDb,
  id: number,
  run: SyncCounts & { date_from: string },
): Promise<void> {
  const query = db.updateTable('sync_runs').set(run).where('id', '=', id).where('finished_at', 'is', null)
  if (!(await hasRow(query.returning('id')))) throw invariantError('SyncRun', `run ${id} is not open`)
}

/** A failure of a run: its code, and the indicator, table or provider that it concerns. */
export type SyncFailure = {
  code:
    | 'unreachable'
    | 'timeout'
    | 'tls'
    | 'http_status'
    | 'not_understood'
    | 'token_refused'
    | 'row_rejected'
    | 'value_withheld'
    | 'interrupted'
    | 'disk_full'
    | 'other'
  of: string
  host?: string
  status?: number
  count?: number
}

/** Result of a run. `failures`: JSON of a list of `SyncFailure`. */
export type RunEnd = SyncCounts & { status: SyncStatus; message: string | null; finished_at: string } & {
  token_only?: number
  failures?: string
  cause?: RunCause | null
}

/** A run with its failures; undefined: no codes were recorded. */
export type DescribedRun = SyncRunRow & { failures: SyncFailure[] | undefined }

/** Closes an open run: the result of a closed one would be overwritten. */
export async function closeRun(db: WriteDb, id: number, end: RunEnd): Promise<SyncRunRow> {
  const query = db.updateTable('sync_runs').set(end).where('id', '=', id).where('finished_at', 'is', null)
  const row = await query.returning(RUN_COLUMNS).executeTakeFirst()
  if (!row) throw invariantError('SyncRun', `run ${id} is not open`)
  return row
}

/** Closes the rows that a dead process left open. The caller has the sync lock, so no other run is active. */
export async function closeInterruptedRuns(
  db: WriteDb,
  foundAt: string,
  options: { except?: number | undefined } = {},
): Promise<void> {
  const closeOpenRuns = (status: SyncStatus) =>
    db
      .updateTable('sync_runs')
      .set({ status, message: INTERRUPTED, cause: 'interrupted', finished_at: foundAt })
      .where('finished_at', 'is', null)
      .where('id', '!=', options.except ?? 0)
  // Refining releases the lock after each window: such a run may be active, and its windows are complete.
  await closeOpenRuns('parcial').where('trigger', '=', 'refine').execute()
  await closeOpenRuns('error').execute()
}

/** Returns the trigger of the newest unfinished run. */
export async function findOpenTrigger(db: ReadDb): Promise<SyncTrigger | undefined> {
  return (await newestRuns(db).where('finished_at', 'is', null).executeTakeFirst())?.trigger
}

/** Returns the id of the unfinished run of refining. */
export async function findOpenRefineRun(db: ReadDb): Promise<number | undefined> {
  const open = newestRuns(db).where('finished_at', 'is', null).where('trigger', '=', 'refine')
  return (await open.executeTakeFirst())?.id
}

/** Selects runs, newest first. */
export function selectRuns(
  db: ReadDb,
  { providerCode, limit }: { providerCode?: string | undefined; limit: number },
): Promise<SyncRunRow[]> {
  const query = newestRuns(db, limit)
  if (providerCode === undefined) return query.execute()
  const providers = db.selectFrom('providers').select('id').where('code', '=', providerCode)
  return query.where('provider_id', 'in', providers).execute()
}

/** Selects runs with their failures, at most `limit` of each provider, newest first. */
export async function selectDescribedRuns(db: ReadDb, limit: number): Promise<DescribedRun[]> {
  const providers = await db.selectFrom('providers').select(['id', 'code']).execute()
  const codes = new Map(providers.map(({ id, code }) => [id, code]))
  // A source that fails each hour must not hide the runs of the bank.
  const rows = await Array.fromAsync(providers, ({ id }) =>
    newestRuns(db, limit).select(['failures', 'cause']).where('provider_id', '=', id).execute(),
  )
  const newestFirst = rows.flat().toSorted((a, b) => b.id - a.id)
  return newestFirst.map(({ failures, cause, ...run }) => ({
    ...run,
    failures: readFailures({ failures, cause }, codes.get(run.provider_id) ?? ''),
  }))
}

/** Parses the failures of a run. A run that a dead process left open has its cause alone. */
function readFailures(
  { failures, cause }: Pick<Row<'sync_runs'>, 'failures' | 'cause'>,
  provider: string,
): SyncFailure[] | undefined {
  if (failures !== null) return JSON.parse(failures)
  return cause === 'interrupted' ? [{ code: 'interrupted', of: provider }] : undefined
}

/** Selects the newest run of a provider that reads new rates: neither refining nor an import. */
export async function selectNewestRun(db: ReadDb, providerId: number): Promise<LastRun | undefined> {
  const row = await readingRuns(db, providerId)
    .select(['cause', 'token_hash', 'token_only'])
    .executeTakeFirst()
  return row && { ...row, token_only: row.token_only === 1 }
}

/** Finds the previous run of the same provider that reads new rates and was not interrupted before it read any. */
export function findPreviousRun(
  db: ReadDb,
  { id, provider_id }: Pick<SyncRunRow, 'id' | 'provider_id'>,
): Promise<SyncRunRow | undefined> {
  const runs = readingRuns(db, provider_id).where('id', '<', id)
  const isWhole = runs.where(({ eb, or }) =>
    or([eb('status', '!=', 'error'), eb('cause', 'is', null), eb('cause', '!=', 'interrupted')]),
  )
  return isWhole.executeTakeFirst()
}

/** Selects the start times of the newest runs of a trigger, newest first. */
export async function selectStartTimes(
  db: ReadDb,
  { providerId, trigger, limit }: { providerId: number; trigger: SyncTrigger; limit: number },
): Promise<Date[]> {
  const runs = newestRuns(db, limit).where('provider_id', '=', providerId).where('trigger', '=', trigger)
  return (await runs.execute()).map(({ started_at }) => new Date(started_at))
}

/** Selects the last run of a provider without failures. */
export function selectLastSuccessfulRun(db: ReadDb, providerId: number): Promise<SyncRunRow | undefined> {
  return newestRuns(db).where('provider_id', '=', providerId).where('status', '=', 'ok').executeTakeFirst()
}

/** Finds the start of the newest run of refining that was complete. */
export async function findRefineStart(db: ReadDb, providerId: number): Promise<Date | undefined> {
  const runs = newestRuns(db).where('provider_id', '=', providerId).where('trigger', '=', 'refine')
  const run = await runs.where('status', '=', 'ok').executeTakeFirst()
  return run && new Date(run.started_at)
}

/** Counts the finished runs by status. */
export function countFinishedRuns(db: ReadDb): Promise<{ status: SyncStatus; count: number }[]> {
  return db
    .selectFrom('sync_runs')
    .select((of) => ['status', of.fn.countAll<number>().as('count')])
    .where('finished_at', 'is not', null)
    .groupBy('status')
    .execute()
}

/**
 * Selects the last finished run of any status, of one provider or of all. Runs never overlap, so they end in the order
 * of their ids.
 */
export function selectLastFinishedRun(db: ReadDb, providerId?: number): Promise<FinishedRun | undefined> {
  const query = newestRuns(db).select('cause').where('finished_at', 'is not', null)
  return (providerId === undefined ? query : query.where('provider_id', '=', providerId)).executeTakeFirst()
}

function newestRuns(db: ReadDb, limit = 1) {
  return db.selectFrom('sync_runs').select(RUN_COLUMNS).orderBy('id', 'desc').limit(limit)
}

function readingRuns(db: ReadDb, providerId: number) {
  const query = newestRuns(db).where('provider_id', '=', providerId)
  return query.where('trigger', 'not in', ['refine', 'import'])
}
