// Days that gained a value of a provider's benchmark and of which hooks are to be told when its run ends.

import type { Db } from '../tables.ts'

const ROWS_AT_ONCE = 500

export async function insertHookDays(db: Db, providerId: number, days: readonly string[]): Promise<void> {
  for (let at = 0; at < days.length; at += ROWS_AT_ONCE) {
    const rows = days.slice(at, at + ROWS_AT_ONCE).map((day) => ({ provider_id: providerId, day }))
    await db
      .insertInto('hook_days')
      .values(rows)
      .onConflict((on) => on.doNothing())
      .execute()
  }
}

/** Those days, oldest first, of which every one of these series has a value. */
export async function selectWholeHookDays(
  db: Db,
  providerId: number,
  seriesIds: readonly number[],
): Promise<string[]> {
  const rows = await db
    .selectFrom('hook_days')
    .innerJoin('rates', 'rates.rate_date', 'hook_days.day')
    .select('day')
    .where('provider_id', '=', providerId)
    .where('series_id', 'in', seriesIds)
    .groupBy('day')
    .having((of) => of.fn.countAll(), '=', seriesIds.length)
    .orderBy('day')
    .execute()
  return rows.map(({ day }) => day)
}

export async function deleteHookDays(db: Db, providerId: number): Promise<void> {
  await db.deleteFrom('hook_days').where('provider_id', '=', providerId).execute()
}
