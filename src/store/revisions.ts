// Published values that were replaced by others: which, when, by which run.

import type { IsoDate } from '../dates.ts'
import type { Db, RevisionKind, Row } from './tables.ts'

export type RateRevision = Row<'rate_revisions'>

const ROWS_AT_ONCE = 500 // SQLite takes at most 32,766 parameters

export async function insertRevisions(db: Db, revisions: readonly Omit<RateRevision, 'id'>[]): Promise<void> {
  for (let at = 0; at < revisions.length; at += ROWS_AT_ONCE) {
    await db
      .insertInto('rate_revisions')
      .values(revisions.slice(at, at + ROWS_AT_ONCE))
      .execute()
  }
}

/** Revisions, oldest first; `since` is an instant or the beginning of one (a day). */
export function selectRevisions(
  db: Db,
  filter: { seriesId?: number | undefined; since?: string | undefined; kind?: RevisionKind | undefined },
): Promise<RateRevision[]> {
  let query = db.selectFrom('rate_revisions').selectAll().orderBy('id')
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind)
  if (filter.seriesId !== undefined) query = query.where('series_id', '=', filter.seriesId)
  if (filter.since !== undefined) query = query.where('replaced_at', '>=', filter.since)
  return query.execute()
}

/** The values of a series that were replaced after an instant, in the order in which they were. */
export function selectRevisionsOf(db: Db, seriesId: number, replacedAfter: string): Promise<RateRevision[]> {
  return db
    .selectFrom('rate_revisions')
    .selectAll()
    .where('series_id', '=', seriesId)
    .where('replaced_at', '>', replacedAfter)
    .orderBy('id')
    .execute()
}

/** Revisions of the values of some days, by id, the first after one. */
export function selectRevisionPage(
  db: Db,
  filter: {
    seriesId?: number | undefined
    from?: IsoDate | undefined
    to?: IsoDate | undefined
    kind: RevisionKind
  },
  { after, limit }: { after: number; limit: number },
): Promise<RateRevision[]> {
  let query = db
    .selectFrom('rate_revisions')
    .selectAll()
    .where('kind', '=', filter.kind)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
  if (filter.seriesId !== undefined) query = query.where('series_id', '=', filter.seriesId)
  if (filter.from !== undefined) query = query.where('rate_date', '>=', filter.from)
  if (filter.to !== undefined) query = query.where('rate_date', '<=', filter.to)
  return query.execute()
}
