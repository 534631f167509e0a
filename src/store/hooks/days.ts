// Days with a new value of a provider's benchmark. Hooks are notified of them when the run ends.

import { insertBatches } from '../rows.ts'
import type { ReadDb, WriteDb } from '../tables.ts'

export function insertHookDays(db: WriteDb, providerId: number, days: readonly string[]): Promise<void> {
  const rows = days.map((day) => ({ provider_id: providerId, day }))
  return insertBatches(db, 'hook_days', rows, { skipExisting: true })
}

/** Selects the days on which all of these series have a value, oldest first. */
export async function selectWholeHookDays(
  db: ReadDb,
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

export async function deleteHookDays(db: WriteDb, providerId: number): Promise<void> {
  await db.deleteFrom('hook_days').where('provider_id', '=', providerId).execute()
}
