import type { CatalogueSeries } from '../../providers/provider.ts'
import type { IsoDate } from '../../values/dates.ts'
import type { ReadDb, Row, WithBoolean, WriteDb } from '../tables.ts'
import { insertCatalogueChange, updateEnabled } from './change-log.ts'

export type SeriesRow = WithBoolean<Row<'series'>, 'enabled'> & {
  first_data_date: IsoDate | null
  last_data_date: IsoDate | null
}

/** Every series, by id, with the days of its earliest and its latest stored rate. */
export async function selectSeries(db: ReadDb): Promise<SeriesRow[]> {
  const rows = await db
    .selectFrom('series')
    .selectAll()
    .select((of) => {
      const day = (end: 'min' | 'max') =>
        of
          .selectFrom('rates')
          .select((from) => from.fn<IsoDate | null>(end, ['rate_date']).as('day'))
          .whereRef('rates.series_id', '=', 'series.id')
      return [day('min').as('first_data_date'), day('max').as('last_data_date')]
    })
    .orderBy('id')
    .execute()
  return rows.map((row) => ({ ...row, enabled: row.enabled === 1 }))
}

/** Every series of one provider, by id. */
export async function selectProviderSeries(db: ReadDb, providerId: number): Promise<SeriesRow[]> {
  return (await selectSeries(db)).filter((one) => one.provider_id === providerId)
}

/** The data revision at which the values of a series changed last. */
export async function findSeriesRevision(db: ReadDb, id: number): Promise<number | undefined> {
  const row = await db.selectFrom('series').select('revision').where('id', '=', id).executeTakeFirst()
  return row?.revision
}

/** Adds a series under the next free id; the instants are milliseconds since 1970. */
export async function insertSeries(
  db: WriteDb,
  providerId: number,
  series: CatalogueSeries & { externalCode: string },
  at: number,
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
      unit: `${series.quote} por ${series.base}`,
      periodicity: 'diaria',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertCatalogueChange(db, { changed_at: at, kind: 'added', provider_id: null, series_id: row.id })
  return row.id
}

/** Enables or disables a series. Returns whether it exists. */
export function updateSeriesEnabled(db: WriteDb, id: number, enabled: boolean, at: number): Promise<boolean> {
  return updateEnabled(db, 'series', { id }, { enabled, at })
}
