// Changes of indicators, their values and their covered days. A start does not load this file: runs and commands use it.

import { difference, type Interval, isDaySet } from '../../values/intervals.ts'
import { splitBatches } from '../batches.ts'
import { invariantError } from '../invariant.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'
import { type StoredIndicator, toStoredIndicator } from './indicators.ts'
import { type IndicatorValueRow, orderedValues } from './values.ts'

const ROWS_AT_ONCE = 500

type IndicatorFields = Partial<Omit<StoredIndicator, 'code' | 'provider_id' | 'added_at'>>

export async function findStoredIndicator(db: ReadDb, code: string): Promise<StoredIndicator | undefined> {
  const row = await db.selectFrom('indicators').selectAll().where('code', '=', code).executeTakeFirst()
  return row && toStoredIndicator(row)
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

/** Selects the values of an indicator in a window of days, oldest first. */
export function selectIndicatorValues(
  db: ReadDb,
  code: string,
  { from, to }: Interval,
): Promise<IndicatorValueRow[]> {
  return orderedValues(db, code).where('value_date', '>=', from).where('value_date', '<=', to).execute()
}

/** Selects the newest value of an indicator. */
export function findNewestIndicatorValue(db: ReadDb, code: string): Promise<IndicatorValueRow | undefined> {
  const query = db.selectFrom('indicator_values').selectAll().where('code', '=', code)
  return query.orderBy('value_date', 'desc').limit(1).executeTakeFirst()
}

/** Stores values, and replaces those of the same code and day. */
export async function upsertIndicatorValues(
  db: WriteDb,
  values: readonly IndicatorValueRow[],
): Promise<void> {
  for (const some of splitBatches(values, ROWS_AT_ONCE)) {
    await db
      .insertInto('indicator_values')
      .values(some)
      .onConflict((on) =>
        on.columns(['code', 'value_date']).doUpdateSet((of) => ({
          value: of.ref('excluded.value'),
          stored_at: of.ref('excluded.stored_at'),
        })),
      )
      .execute()
  }
}

/** Replaces the covered days of an indicator, and records the change with the instant `at`. */
export async function replaceIndicatorCoverage(
  db: WriteDb,
  code: string,
  { before, after, at }: { before: readonly Interval[]; after: readonly Interval[]; at: number },
): Promise<void> {
  if (!isDaySet(after)) throw invariantError('IndicatorRun', `the covered days of ${code} are not in order`)
  const changes = [
    ...difference(after, before).map((days) => ({ kind: 'added' as const, days })),
    ...difference(before, after).map((days) => ({ kind: 'removed' as const, days })),
  ]
  const changed_at = at
  await insertBatches(
    db,
    'indicator_changes',
    changes.map(({ kind, days }) => ({ code, changed_at, kind, days_from: days.from, days_to: days.to })),
  )
  await db.deleteFrom('indicator_coverage').where('code', '=', code).execute()
  await insertBatches(
    db,
    'indicator_coverage',
    after.map(({ from, to }) => ({ code, covered_from: from, covered_to: to })),
  )
}

export function insertIndicatorRevisions(
  db: WriteDb,
  revisions: readonly Omit<Row<'indicator_revisions'>, 'id'>[],
): Promise<void> {
  return insertBatches(db, 'indicator_revisions', revisions)
}
