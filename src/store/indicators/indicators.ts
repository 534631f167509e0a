// Indicators that were enabled: other series of a provider, by its codes. Revision and instant are their own, so that no
// cache, tag or record of the rates changes with them.

import type { ReadDb, Row, WithBoolean } from '../tables.ts'

export type StoredIndicator = WithBoolean<
  WithBoolean<WithBoolean<Row<'indicators'>, 'enabled'>, 'history_done'>,
  'is_named'
>

/** Version of the stored indicators; `newestInstant`: of the last change of values, undefined: there was none. */
export type IndicatorVersion = { epoch: string; revision: number; newestInstant: number | undefined }

/** Selects all indicators, by code as a number. */
export async function selectIndicators(db: ReadDb): Promise<StoredIndicator[]> {
  const rows = await db.selectFrom('indicators').selectAll().execute()
  return rows.map(toStoredIndicator).sort((one, other) => Number(one.code) - Number(other.code))
}

export async function countEnabledIndicators(db: ReadDb): Promise<number> {
  const { count } = await db
    .selectFrom('indicators')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('enabled', '=', 1)
    .executeTakeFirstOrThrow()
  return count
}

export async function selectIndicatorVersion(db: ReadDb): Promise<IndicatorVersion> {
  const row = await db
    .selectFrom('meta')
    .select(['epoch', 'indicator_revision', 'indicator_instant'])
    .executeTakeFirstOrThrow()
  const { epoch, indicator_revision: revision, indicator_instant: instant } = row
  return { epoch, revision, newestInstant: instant > 0 ? instant : undefined }
}

export function toStoredIndicator(row: Row<'indicators'>): StoredIndicator {
  return {
    ...row,
    enabled: row.enabled === 1,
    history_done: row.history_done === 1,
    is_named: row.is_named === 1,
  }
}
