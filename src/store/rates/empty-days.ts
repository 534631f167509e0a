// Days without a value of a source that publishes every day (decisions#empty-days).

import type { Window } from '../../providers/provider.ts'
import { insertBatches } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

export type EmptyDay = Row<'empty_days'>

/** Selects the empty days of a series in a window. */
export function selectEmptyDays(db: ReadDb, id: number, { from, to }: Window): Promise<EmptyDay[]> {
  const query = db.selectFrom('empty_days').selectAll().where('series_id', '=', id)
  return query.where('rate_date', '>=', from).where('rate_date', '<=', to).execute()
}

/** Replaces the empty days of a series in a window. */
export async function replaceEmptyDays(
  db: WriteDb,
  id: number,
  { from, to }: Window,
  rows: readonly EmptyDay[],
): Promise<void> {
  const ofSeries = db.deleteFrom('empty_days').where('series_id', '=', id)
  await ofSeries.where('rate_date', '>=', from).where('rate_date', '<=', to).execute()
  await insertBatches(db, 'empty_days', rows)
}
