import type { CatalogueSeries } from '../providers/provider.ts'
import type { Db, Row, WithBoolean } from './tables.ts'

export type SeriesRow = WithBoolean<Row<'series'>, 'enabled'> & { first_data_date: string | null }

/** Every series, by id, with the day of its earliest stored rate. */
export async function selectSeries(db: Db): Promise<SeriesRow[]> {
  const rows = await db
    .selectFrom('series')
    .selectAll()
    .select((of) =>
      of
        .selectFrom('rates')
        .select((from) => from.fn.min('rate_date').as('first'))
        .whereRef('rates.series_id', '=', 'series.id')
        .as('first_data_date'),
    )
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, enabled: row.enabled === 1 }))
}

/** Every series of one provider, by id. */
export async function selectSeriesOf(db: Db, providerId: number): Promise<SeriesRow[]> {
  return (await selectSeries(db)).filter((one) => one.provider_id === providerId)
}

/** The data revision at which the values of a series changed last. */
export async function findSeriesRevision(db: Db, id: number): Promise<number | undefined> {
  const row = await db.selectFrom('series').select('revision').where('id', '=', id).executeTakeFirst()
  return row?.revision
}

/** Adds a series under the next free id. */
export async function insertSeries(
  db: Db,
  providerId: number,
  series: CatalogueSeries & { externalCode: string },
): Promise<number> {
  const row = await db
    .insertInto('series')
    .values({
      provider_id: providerId,
      external_code: series.externalCode,
      name: series.name,
      base_currency: series.base,
      quote_currency: series.quote,
      rate_type: series.rateType,
      unit: series.unit,
      periodicity: series.periodicity,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** Returns whether there is such a series. */
export async function updateSeriesEnabled(db: Db, id: number, enabled: boolean): Promise<boolean> {
  const query = db
    .updateTable('series')
    .set({ enabled: enabled ? 1 : 0 })
    .where('id', '=', id)
  return (await query.executeTakeFirst()).numUpdatedRows > 0n
}
