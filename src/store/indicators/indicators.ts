// Indicators that were enabled: other series of a provider, by its codes. Revision and instant are their own, so that no
// cache, tag or record of the rates changes with them.

import type { ReadDb, Row, WithBoolean, WriteDb } from '../tables.ts'

export type StoredIndicator = WithBoolean<
  WithBoolean<WithBoolean<Row<'indicators'>, 'enabled'>, 'history_done'>,
  'is_named'
>

/** Version of the stored indicators; `newestInstant`: of the last change of values, undefined: there was none. */
export type IndicatorVersion = { epoch: string; revision: number; newestInstant: number | undefined }

type IndicatorFields = Partial<Omit<StoredIndicator, 'code' | 'provider_id' | 'added_at'>>

/** Selects all indicators, by code as a number. */
export async function selectIndicators(db: ReadDb): Promise<StoredIndicator[]> {
  const rows = await db.selectFrom('indicators').selectAll().execute()
  return rows.map(fromRow).sort((one, other) => Number(one.code) - Number(other.code))
}

export async function countEnabledIndicators(db: ReadDb): Promise<number> {
  const { count } = await db
    .selectFrom('indicators')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('enabled', '=', 1)
    .executeTakeFirstOrThrow()
  return count
}

export async function findStoredIndicator(db: ReadDb, code: string): Promise<StoredIndicator | undefined> {
  const row = await db.selectFrom('indicators').selectAll().where('code', '=', code).executeTakeFirst()
  return row && fromRow(row)
}

/** `added_at`: milliseconds since 1970. */
export async function insertIndicator(
  db: WriteDb,
  row: Pick<Row<'indicators'>, 'code' | 'provider_id' | 'name' | 'unit' | 'periodicity' | 'added_at'> & {
    history_from: string | null
  },
): Promise<void> {
  await db
    .insertInto('indicators')
    .values({ ...row })
    .execute()
}

export async function updateIndicator(db: WriteDb, code: string, change: IndicatorFields): Promise<void> {
  const { enabled, history_done, is_named, ...rest } = change
  const set = {
    ...rest,
    ...(enabled !== undefined && { enabled: Number(enabled) }),
    ...(history_done !== undefined && { history_done: Number(history_done) }),
    ...(is_named !== undefined && { is_named: Number(is_named) }),
  }
  await db.updateTable('indicators').set(set).where('code', '=', code).execute()
}

/** Sets the state of all enabled indicators that the source does not refuse: they wait for the token. */
export async function markWaiting(db: WriteDb): Promise<void> {
  const query = db.updateTable('indicators').set({ state: 'waiting' }).where('enabled', '=', 1)
  await query.where('state', '!=', 'refused').execute()
}

export async function selectIndicatorVersion(db: ReadDb): Promise<IndicatorVersion> {
  const row = await db
    .selectFrom('meta')
    .select(['epoch', 'indicator_revision', 'indicator_instant'])
    .executeTakeFirstOrThrow()
  const { epoch, indicator_revision: revision, indicator_instant: instant } = row
  return { epoch, revision, newestInstant: instant > 0 ? instant : undefined }
}

/**
 * Raises the revision inside the transaction that changes indicators. Returns its instant: the time `now`, or a
 * millisecond after the newest instant. So instants rise in the order of the commits.
 */
export async function raiseIndicatorRevision(db: WriteDb, now: Date): Promise<Date> {
  const raised = await db
    .updateTable('meta')
    .set((of) => ({ indicator_revision: of('indicator_revision', '+', 1) }))
    .returning('indicator_instant')
    .executeTakeFirstOrThrow()
  const instant = Math.max(now.getTime(), raised.indicator_instant + 1)
  await db.updateTable('meta').set({ indicator_instant: instant }).execute()
  return new Date(instant)
}

function fromRow(row: Row<'indicators'>): StoredIndicator {
  return {
    ...row,
    enabled: row.enabled === 1,
    history_done: row.history_done === 1,
    is_named: row.is_named === 1,
  }
}
