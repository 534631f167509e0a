// Published values that were replaced by others: which, when, by which run.

import type { Db } from './tables.ts'

export type RateRevision = {
  id: number
  series_id: number
  rate_date: string
  old_value: string
  new_value: string
  replaced_at: string
  run_id: number
}

export async function insertRevisions(db: Db, revisions: readonly Omit<RateRevision, 'id'>[]): Promise<void> {
  for (const revision of revisions) await db.insertInto('rate_revisions').values(revision).execute()
}

/** Revisions, oldest first; `since` is an instant or the beginning of one (a day). */
export function selectRevisions(
  db: Db,
  filter: { seriesId?: number | undefined; since?: string | undefined },
): Promise<RateRevision[]> {
  let query = db.selectFrom('rate_revisions').selectAll().orderBy('id')
  if (filter.seriesId !== undefined) query = query.where('series_id', '=', filter.seriesId)
  if (filter.since !== undefined) query = query.where('replaced_at', '>=', filter.since)
  return query.execute()
}
