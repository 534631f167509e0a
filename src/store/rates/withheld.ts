// Published values that were not stored, because they are too far from others (decisions#jumps).

import type { ExpressionBuilder } from 'kysely'
import type { Window } from '../../providers/provider.ts'
import type { IsoDate } from '../../values/dates.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, Tables, WriteDb } from '../tables.ts'

export type WithheldRate = Row<'withheld_rates'>

/** Selects the withheld values of some series, or of all, by series and day. */
export async function selectWithheld(
  db: ReadDb,
  { ids, days }: { ids?: readonly number[]; days?: Window } = {},
): Promise<WithheldRate[]> {
  if (ids?.length === 0) return []
  let query = db.selectFrom('withheld_rates').selectAll().orderBy('series_id').orderBy('rate_date')
  if (ids) query = query.where('series_id', 'in', [...ids])
  if (days) query = query.where('rate_date', '>=', days.from).where('rate_date', '<=', days.to)
  return query.execute()
}

/** Selects the days of withheld values that have no stored value, ascending, by series. */
export async function selectWithheldDays(
  db: ReadDb,
  ids: readonly number[],
): Promise<Map<number, readonly IsoDate[]>> {
  if (ids.length === 0) return new Map()
  const query = db
    .selectFrom('withheld_rates')
    .select(['series_id', 'rate_date'])
    .where('series_id', 'in', [...ids])
    .where(({ not, exists, selectFrom }) => not(exists(storedValue(selectFrom))))
  const rows = await query.orderBy('rate_date').execute()
  const byId = Map.groupBy(rows, ({ series_id }) => series_id)
  return new Map([...byId].map(([id, some]) => [id, some.map(({ rate_date }) => rate_date)]))
}

/** Replaces the withheld values of some series in a window. */
export async function replaceWithheld(
  db: WriteDb,
  ids: readonly number[],
  window: Window,
  rows: readonly WithheldRate[],
): Promise<void> {
  const inWindow = db.deleteFrom('withheld_rates').where('series_id', 'in', [...ids])
  await inWindow.where('rate_date', '>=', window.from).where('rate_date', '<=', window.to).execute()
  await insertBatches(db, 'withheld_rates', rows)
}

/** Deletes withheld values and empty days after a day. */
export async function deleteLaterDoubts(db: WriteDb, day: IsoDate): Promise<void> {
  await db.deleteFrom('withheld_rates').where('rate_date', '>', day).execute()
  await db.deleteFrom('empty_days').where('rate_date', '>', day).execute()
}

/** Deletes withheld values of a series that are equal to the stored ones. */
export async function deleteStoredWithheld(db: WriteDb, id: number): Promise<void> {
  await db
    .deleteFrom('withheld_rates')
    .where('series_id', '=', id)
    .where(({ exists, selectFrom }) =>
      exists(storedValue(selectFrom).whereRef('rates.value', '=', 'withheld_rates.value')),
    )
    .execute()
}

/** Returns the query of the stored value of a withheld day. */
function storedValue(selectFrom: ExpressionBuilder<Tables, 'withheld_rates'>['selectFrom']) {
  return selectFrom('rates')
    .select('rates.series_id')
    .whereRef('rates.series_id', '=', 'withheld_rates.series_id')
    .whereRef('rates.rate_date', '=', 'withheld_rates.rate_date')
}
