import type { IsoDate } from '../../dates.ts'
import type { Window } from '../../providers/provider.ts'
import { dialectOf } from '../engine.ts'
import type { Db, Row } from '../tables.ts'

const ROWS_AT_ONCE = 500 // some milliseconds; between two statements others have their turn

/** `roundedSeries`: the ids of the series that have a rounded value. */
export type RateCounts = { all: number; rounded: number; roundedSeries: ReadonlySet<number> }

export type StoredRate = Row<'rates'>

/** All rates of one series, oldest first. */
export function selectRatesOfSeries(
  db: Db,
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
 * All rates of each of some series, oldest first, as text: on each line a date, its value, and `r` with its decimals where
 * it is rounded. A row for each of them would be twice as much memory for a moment, which the heap then keeps.
 */
export async function selectColumnsOfSeries(
  db: Db,
  seriesIds: readonly number[],
): Promise<{ id: number; count: number; lines: string }[]> {
  const found = new Map((await dialectOf(db).columnsOfSeries(db, seriesIds)).map((one) => [one.id, one]))
  return seriesIds.map((id) => found.get(id) ?? { id, count: 0, lines: '' })
}

/** The stored rates of a window of days, of the series given. */
export async function selectRatesIn(
  db: Db,
  seriesIds: readonly number[],
  window: Window,
): Promise<StoredRate[]> {
  const found: StoredRate[] = []
  for (const id of seriesIds) {
    const rows = await db
      .selectFrom('rates')
      .selectAll()
      .where('series_id', '=', id)
      .where('rate_date', '>=', window.from)
      .where('rate_date', '<=', window.to)
      .execute()
    found.push(...rows)
  }
  return found
}

/** How many values are stored, and how many of them are rounded; series by series, so that no query waits for the whole. */
export async function countRates(db: Db): Promise<RateCounts> {
  const sum = { all: 0, rounded: 0, roundedSeries: new Set<number>() }
  for (const { id } of await db.selectFrom('series').select('id').execute()) {
    const { all, rounded } = await db
      .selectFrom('rates')
      .where('series_id', '=', id)
      .select(({ fn }) => [fn.countAll<number>().as('all'), fn.count<number>('rounded_to').as('rounded')])
      .executeTakeFirstOrThrow()
    sum.all += all
    sum.rounded += rounded
    if (rounded > 0) sum.roundedSeries.add(id)
  }
  return sum
}

/** How many rounded values are stored of each series that has any. */
export async function countRoundedRates(db: Db): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('rates')
    .select((of) => ['series_id', of.fn.countAll<number>().as('count')])
    .where('rounded_to', 'is not', null)
    .groupBy('series_id')
    .execute()
  return new Map(rows.map(({ series_id, count }) => [series_id, count]))
}

/** The day of the newest stored value of each series that has one. */
export async function selectNewestDays(db: Db): Promise<Map<number, IsoDate>> {
  const rows = await db
    .selectFrom('series')
    .select('id')
    .select((of) =>
      of
        .selectFrom('rates')
        .select((from) => from.fn.max('rate_date').as('newest'))
        .whereRef('rates.series_id', '=', 'series.id')
        .as('day'),
    )
    .execute()
  return new Map(rows.flatMap(({ id, day }) => (day === null ? [] : [[id, day] as const])))
}

/** Whether any value of a provider is stored. */
export async function hasRatesOf(db: Db, providerId: number): Promise<boolean> {
  const row = await db
    .selectFrom('series')
    .select('id')
    .where('provider_id', '=', providerId)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('rates').select('series_id').whereRef('series_id', '=', 'series.id')),
    )
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * The newest day, or the oldest, of a window with a rounded value of one of the series that no source that does not round
 * has been asked for since. A query for each series: one for all reads the whole table, for which others would wait.
 */
export async function findRefinableDay(
  db: Db,
  seriesIds: readonly number[],
  window: Window,
  which: 'newest' | 'oldest' = 'newest',
): Promise<IsoDate | undefined> {
  let { from, to } = window
  let found: IsoDate | undefined
  for (const id of seriesIds) {
    const day = await findRefinableDayOf(db, id, { from, to }, which)
    if (day === undefined) continue
    found = day
    if (which === 'newest') from = day
    else to = day
  }
  return found
}

async function findRefinableDayOf(
  db: Db,
  seriesId: number,
  { from, to }: Window,
  which: 'newest' | 'oldest',
): Promise<IsoDate | undefined> {
  const row = await db
    .selectFrom('rates')
    .select('rate_date')
    .where('rounded_to', 'is not', null)
    .where('series_id', '=', seriesId)
    .where('rate_date', '>=', from)
    .where('rate_date', '<=', to)
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
 * Stores rates as committed at `storedAt` (milliseconds since 1970), replacing those of the same series and day. They
 * travel as one JSON text, because a chunk has thousands of them and a parameter each costs ten times as much. By
 * series in it, each a date and its value in one string, because SQLite parses again what it takes out of a
 * list in a list.
 */
export async function upsertRates(
  db: Db,
  rates: readonly Omit<StoredRate, 'stored_at'>[],
  storedAt: number,
): Promise<void> {
  for (let at = 0; at < rates.length; at += ROWS_AT_ONCE) {
    await upsertSome(db, rates.slice(at, at + ROWS_AT_ONCE), storedAt)
  }
}

async function upsertSome(
  db: Db,
  rates: readonly Omit<StoredRate, 'stored_at'>[],
  storedAt: number,
): Promise<void> {
  const bySeries = new Map<string, string[]>()
  for (const { series_id, rounded_to, rate_date, value } of rates) {
    bySeries.getOrInsertComputed(`${series_id} ${rounded_to ?? ''}`, () => []).push(rate_date + value)
  }
  const sent = JSON.stringify(Object.fromEntries(bySeries))
  await dialectOf(db).upsertRates(db, sent, storedAt)
}

/** Removes the values of some series of the days after one. */
export async function deleteRatesAfter(db: Db, seriesIds: readonly number[], day: IsoDate): Promise<void> {
  for (const id of seriesIds)
    await db.deleteFrom('rates').where('series_id', '=', id).where('rate_date', '>', day).execute()
}

/** Notes for each series that its rates changed at this data revision. */
export async function markSeriesChanged(
  db: Db,
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
