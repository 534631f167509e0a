import { sql } from 'kysely'
import type { Window } from '../providers/provider.ts'
import type { Db } from './tables.ts'

export type StoredRate = { series_id: number; rate_date: string; value: string; rounded_to: number | null }

/** All rates of one series, oldest first. */
export function selectRatesOfSeries(
  db: Db,
  seriesId: number,
): Promise<{ rate_date: string; value: string }[]> {
  return db
    .selectFrom('rates')
    .select(['rate_date', 'value'])
    .where('series_id', '=', seriesId)
    .orderBy('rate_date')
    .execute()
}

/**
 * All rates of one series, oldest first, as text: a date and its value on each line. A row for each of them would be
 * twice as much memory for a moment, which the heap then keeps (SQLite only).
 */
export async function selectColumnOfSeries(
  db: Db,
  seriesId: number,
): Promise<{ count: number; lines: Buffer }> {
  const { rows } = await sql<{ count: number; lines: Buffer | null }>`
    select count(*) as count, cast(group_concat(line, char(10)) as blob) as lines
    from (select rate_date || value as line from rates where series_id = ${seriesId} order by rate_date)
  `.execute(db)
  const [{ count, lines } = { count: 0, lines: null }] = rows
  return { count, lines: lines ?? Buffer.alloc(0) }
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

export async function selectSeriesWithRates(db: Db): Promise<Set<number>> {
  const rows = await db
    .selectFrom('series')
    .select('id')
    .where((is) => is.exists(is.selectFrom('rates').select('value').whereRef('series_id', '=', 'series.id')))
    .execute()
  return new Set(rows.map((row) => row.id))
}

export async function countRates(db: Db): Promise<number> {
  const row = await db
    .selectFrom('rates')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/**
 * Stores rates, replacing those of the same series and day. They travel as one JSON text, because a chunk has
 * thousands of them and a parameter each costs ten times as much (SQLite only). By series in it, each a date and its
 * value in one string, because SQLite parses again what it takes out of a list in a list.
 */
export async function upsertRates(db: Db, rates: readonly StoredRate[]): Promise<void> {
  if (rates.length === 0) return
  const bySeries = new Map<string, string[]>()
  for (const { series_id, rounded_to, rate_date, value } of rates) {
    bySeries.getOrInsertComputed(`${series_id} ${rounded_to ?? ''}`, () => []).push(rate_date + value)
  }
  const sent = JSON.stringify(Object.fromEntries(bySeries))
  await sql`
    insert into rates (series_id, rate_date, value, rounded_to)
    select cast(series.key as integer), substr(rate.value, 1, 10), substr(rate.value, 11),
      nullif(substr(series.key, instr(series.key, ' ') + 1), '')
    from json_each(${sent}) as series, json_each(series.value) as rate where true
    on conflict (series_id, rate_date) do update set value = excluded.value, rounded_to = excluded.rounded_to
  `.execute(db)
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
