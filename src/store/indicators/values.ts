// Values of indicators, their covered days, and the change log of both. Instants are milliseconds since 1970 in UTC.

import type { IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row } from '../tables.ts'

export type IndicatorValueRow = Row<'indicator_values'>

/** Days of the oldest and of the newest value. */
export type ValueDays = { first: IsoDate; newest: IsoDate }

/** Covered days that were added or removed. */
export type IndicatorCoverageChange = { kind: 'added' | 'removed'; days: Interval }

/** Returns whether any value of a provider's indicators is stored. */
export function hasIndicatorValues(db: ReadDb, providerId: number): Promise<boolean> {
  const values = db
    .selectFrom('indicator_values')
    .innerJoin('indicators', 'indicators.code', 'indicator_values.code')
  return hasRow(values.select('indicators.code').where('provider_id', '=', providerId).limit(1))
}

/** Selects all values of an indicator, oldest first. */
export function selectAllIndicatorValues(db: ReadDb, code: string): Promise<IndicatorValueRow[]> {
  return orderedValues(db, code).execute()
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

/** Selects the newest value of each indicator that has any, by code. */
export async function selectNewestValues(db: ReadDb): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('indicators')
    .select('code')
    .select((of) =>
      of
        .selectFrom('indicator_values')
        .select('value')
        .whereRef('indicator_values.code', '=', 'indicators.code')
        .orderBy('value_date', 'desc')
        .limit(1)
        .as('value'),
    )
    .execute()
  return new Map(rows.flatMap(({ code, value }) => (value === null ? [] : [[code, value]])))
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

export function orderedValues(db: ReadDb, code: string) {
  return db.selectFrom('indicator_values').selectAll().where('code', '=', code).orderBy('value_date')
}
