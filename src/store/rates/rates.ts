import type { Window } from '../../providers/provider.ts'
import type { IsoDate } from '../../values/dates.ts'
import { splitBatches } from '../batches.ts'
import { engineSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import { hasRow } from '../rows.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

const ROWS_AT_ONCE = 500 // some milliseconds; other queries run between two statements

/** `roundedSeries`: the number of rounded values of each series that has any. */
export type RateCounts = { all: number; rounded: number; roundedSeries: ReadonlyMap<number, number> }

export type StoredRate = Row<'rates'>

/** Returns the key of a rate: one series has one rate a day. */
export function rateKey({ series_id, rate_date }: Pick<StoredRate, 'series_id' | 'rate_date'>): string {
  return `${series_id} ${rate_date}`
}

/** Selects all rates of one series, oldest first. */
export function selectRatesOfSeries(
  db: ReadDb,
  seriesId: number,
): Promise<Pick<StoredRate, 'rate_date' | 'value' | 'rounded_to'>[]> {
  return db
    .selectFrom('rates')
    .select(['rate_date', 'value', 'rounded_to'])
    .where('series_id', '=', seriesId)
    .orderBy('rate_date')
    .execute()
}

/**
 * Selects all rates of each series, oldest first, as text. Each line has a date, its value, and for a rounded value `r`
 * with its decimals. Rows would need twice the memory for a moment, and the heap would not shrink again.
 */
export async function selectColumnsOfSeries(
  db: ReadDb,
  seriesIds: readonly number[],
): Promise<{ id: number; count: number; lines: string }[]> {
  const columns = new Map((await engineSql(db).columnsOfSeries(db, seriesIds)).map((one) => [one.id, one]))
  return seriesIds.map((id) => columns.get(id) ?? { id, count: 0, lines: '' })
}

/** Selects the rates of some series in a window of days. */
export async function selectRates(
  db: ReadDb,
  seriesIds: readonly number[],
  window: Window,
): Promise<StoredRate[]> {
  const inWindow = db
    .selectFrom('rates')
    .selectAll()
    .where('rate_date', '>=', window.from)
    .where('rate_date', '<=', window.to)
  return (await Array.fromAsync(seriesIds, (id) => inWindow.where('series_id', '=', id).execute())).flat()
}

/** Counts all values and the rounded ones, series by series, so that other queries can run in between. */
export async function countRates(db: ReadDb): Promise<RateCounts> {
  const sum = { all: 0, rounded: 0, roundedSeries: new Map<number, number>() }
  for (const { id } of await db.selectFrom('series').select('id').execute()) {
    const { all, rounded } = await db
      .selectFrom('rates')
      .where('series_id', '=', id)
      .select(({ fn }) => [fn.countAll<number>().as('all'), fn.count<number>('rounded_to').as('rounded')])
      .executeTakeFirstOrThrow()
    sum.all += all
    sum.rounded += rounded
    if (rounded > 0) sum.roundedSeries.set(id, rounded)
  }
  return sum
}

/** Returns whether any value of a provider is stored. */
export function hasProviderRates(db: ReadDb, providerId: number): Promise<boolean> {
  const rates = db.selectFrom('rates').innerJoin('series', 'series.id', 'rates.series_id').select('series.id')
  return hasRow(rates.where('provider_id', '=', providerId).limit(1))
}

/** Days of values to refine. `earliestCommit`: instant of the oldest such value, in milliseconds since 1970. */
export type RefinableDays = Window & { earliestCommit: number }

/**
 * Finds the newest or oldest day that can be refined. Its value is rounded, and no exact source was queried for it. Runs
 * a query for each series: one for all reads the whole table and delays other queries.
 */
export async function findRefinableDay(
  db: ReadDb,
  seriesIds: readonly number[],
  { from, to, earliestCommit }: RefinableDays,
  which: 'newest' | 'oldest' = 'newest',
): Promise<IsoDate | undefined> {
  let refinableDay: IsoDate | undefined
  for (const id of seriesIds) {
    const day = await findSeriesRefinableDay(db, id, { from, to, earliestCommit }, which)
    if (day === undefined) continue
    refinableDay = day
    if (which === 'newest') from = day
    else to = day
  }
  return refinableDay
}

async function findSeriesRefinableDay(
  db: ReadDb,
  seriesId: number,
  { from, to, earliestCommit }: RefinableDays,
  which: 'newest' | 'oldest',
): Promise<IsoDate | undefined> {
  const row = await db
    .selectFrom('rates')
    .select('rate_date')
    .where('rounded_to', 'is not', null)
    .where('series_id', '=', seriesId)
    .where('rate_date', '>=', from)
    .where('rate_date', '<=', to)
    .where('stored_at', '>=', earliestCommit)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('coverage')
            .select('coverage.series_id')
            .where('coverage.kind', '=', 'exact')
            .whereRef('coverage.series_id', '=', 'rates.series_id')
            .whereRef('covered_from', '<=', 'rate_date')
            .whereRef('covered_to', '>=', 'rate_date'),
        ),
      ),
    )
    .orderBy('rate_date', which === 'newest' ? 'desc' : 'asc')
    .limit(1)
    .executeTakeFirst()
  return row?.rate_date
}

/**
 * Stores rates as committed at `storedAt` (milliseconds since 1970), and replaces those of the same series and day. A
 * chunk has thousands of rates: one parameter for each costs ten times as much as one JSON text. The text has a list
 * for each series, whose strings are date and value: SQLite would parse nested lists twice.
 */
export async function upsertRates(
  db: WriteDb,
  rates: readonly Omit<StoredRate, 'stored_at'>[],
  storedAt: number,
): Promise<void> {
  for (const some of splitBatches(rates, ROWS_AT_ONCE)) {
    const bySeries = new Map<string, string[]>()
    for (const { series_id, rounded_to, rate_date, value } of some) {
      bySeries.getOrInsertComputed(`${series_id} ${rounded_to ?? ''}`, () => []).push(rate_date + value)
    }
    const ratesJson = JSON.stringify(Object.fromEntries(bySeries))
    const count = await engineSql(db).upsertRates(db, ratesJson, storedAt)
    // Covered days without their values would never be requested again.
    if (count !== some.length) throw invariantError('SyncRun', `stored ${count} of ${some.length} values`)
  }
}

/** Deletes the values of some series on the days after `day`. */
export async function deleteLaterRates(
  db: WriteDb,
  seriesIds: readonly number[],
  day: IsoDate,
): Promise<void> {
  for (const id of seriesIds)
    await db.deleteFrom('rates').where('series_id', '=', id).where('rate_date', '>', day).execute()
}

/** Sets the data revision at which the rates of these series changed last. */
export async function markSeriesChanged(
  db: WriteDb,
  seriesIds: readonly number[],
  revision: number,
): Promise<void> {
  if (seriesIds.length === 0) return
  await db
    .updateTable('series')
    .set({ revision })
    .where('id', 'in', [...seriesIds])
    .execute()
}
