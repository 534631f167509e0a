// Values of indicators, their covered days, and the record of both. Instants are milliseconds since 1970 in UTC.

import type { IsoDate } from '../../values/dates.ts'
import { difference, type Interval } from '../../values/intervals.ts'
import { splitBatches } from '../batches.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

const ROWS_AT_ONCE = 500

export type IndicatorValueRow = Row<'indicator_values'>

/** Days of the oldest and of the newest value. */
export type ValueDays = { first: IsoDate; newest: IsoDate }

/** Covered days that were added or removed. */
export type IndicatorCoverageChange = { kind: 'added' | 'removed'; days: Interval }

/** Selects all values of an indicator, oldest first. */
export function selectAllIndicatorValues(db: ReadDb, code: string): Promise<IndicatorValueRow[]> {
  return orderedValues(db, code).execute()
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

/** Selects the days of the oldest and the newest value of each indicator that has any. */
export async function selectValueDays(db: ReadDb): Promise<Map<string, ValueDays>> {
  const rows = await db
    .selectFrom('indicators')
    .select('code')
    .select((of) => {
      const day = (end: 'min' | 'max') =>
        of
          .selectFrom('indicator_values')
          .select((from) => from.fn<IsoDate | null>(end, ['value_date']).as('day'))
          .whereRef('indicator_values.code', '=', 'indicators.code')
      return [day('min').as('first'), day('max').as('newest')]
    })
    .execute()
  const days = new Map<string, ValueDays>()
  for (const { code, first, newest } of rows) {
    if (first !== null && newest !== null) days.set(code, { first, newest })
  }
  return days
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

/** Selects the covered days of all indicators, or of one. */
export async function selectIndicatorCoverage(db: ReadDb, code?: string): Promise<Map<string, Interval[]>> {
  let query = db.selectFrom('indicator_coverage').selectAll().orderBy('code').orderBy('covered_from')
  if (code !== undefined) query = query.where('code', '=', code)
  const coverage = new Map<string, Interval[]>()
  for (const { code, covered_from: from, covered_to: to } of await query.execute()) {
    coverage.getOrInsertComputed(code, () => []).push({ from, to })
  }
  return coverage
}

/** Replaces the covered days of an indicator, and records the change with the instant `at`. */
export async function replaceIndicatorCoverage(
  db: WriteDb,
  code: string,
  { before, after, at }: { before: readonly Interval[]; after: readonly Interval[]; at: number },
): Promise<void> {
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

/** Selects the changes of the coverage after an instant, the last one first. */
export async function selectLaterIndicatorChanges(
  db: ReadDb,
  code: string,
  instant: number,
): Promise<IndicatorCoverageChange[]> {
  const rows = await db
    .selectFrom('indicator_changes')
    .select(['kind', 'days_from', 'days_to'])
    .where('code', '=', code)
    .where('changed_at', '>', instant)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ kind, days_from, days_to }) => ({ kind, days: { from: days_from, to: days_to } }))
}

export function insertIndicatorRevisions(
  db: WriteDb,
  revisions: readonly Omit<Row<'indicator_revisions'>, 'id'>[],
): Promise<void> {
  return insertBatches(db, 'indicator_revisions', revisions)
}

/** Selects the values of an indicator that were replaced after an instant, in the order of their replacement. */
export function selectLaterIndicatorRevisions(
  db: ReadDb,
  code: string,
  instant: number,
): Promise<Row<'indicator_revisions'>[]> {
  return db
    .selectFrom('indicator_revisions')
    .selectAll()
    .where('code', '=', code)
    .where('replaced_at', '>', new Date(instant).toISOString())
    .orderBy('id')
    .execute()
}

function orderedValues(db: ReadDb, code: string) {
  return db.selectFrom('indicator_values').selectAll().where('code', '=', code).orderBy('value_date')
}
