// The record of the rates: what changed when, of values, coverage and catalogue, beside the instants of the values. Read
// backwards from what is stored now it says what was stored at an instant (decisions 2.22). Instants are milliseconds
// since 1970 in UTC.

import type { IsoDate } from '../../dates.ts'
import type { Interval } from '../../intervals.ts'
import type { CoverageChangeKind, Db, RevisionKind, Row } from '../tables.ts'

const ROWS_AT_ONCE = 500 // SQLite takes at most 32,766 parameters

/** A stored value that was replaced by another or discarded: which, when, by which run. */
export type RateRevision = Row<'rate_revisions'>

/** Days that changed at an instant, of the series with these ids. */
export type CoverageChange = { kind: CoverageChangeKind; days: Interval; series: readonly number[] }

export type CatalogueChange = Omit<Row<'catalogue_changes'>, 'id'>

/** How far back the record goes. */
export type RecordBounds = {
  /** Its first instant; undefined: nothing was ever stored. */
  from: number | undefined
  /** Since when it has the changes of coverage and catalogue; undefined: from its first instant on. */
  coverageFrom: number | undefined
  /** What was lost with a restore: from an instant to before another. */
  gaps: readonly { from: number; to: number }[]
}

export async function insertCoverageChanges(
  db: Db,
  changedAt: number,
  changes: readonly CoverageChange[],
): Promise<void> {
  const rows = changes.map(({ kind, days, series }) => ({
    ...{
      changed_at: changedAt,
      kind,
      days_from: days.from,
      days_to: days.to,
      series: JSON.stringify(series),
    },
  }))
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
    await db
      .insertInto('coverage_changes')
      .values(rows.slice(at, at + ROWS_AT_ONCE))
      .execute()
  }
}

/** The changes of coverage after an instant, the last one first. */
export async function selectCoverageChangesAfter(db: Db, instant: number): Promise<CoverageChange[]> {
  const rows = await db
    .selectFrom('coverage_changes')
    .select(['kind', 'days_from', 'days_to', 'series'])
    .where('changed_at', '>', instant)
    .orderBy('id', 'desc')
    .execute()
  return rows.map(({ kind, days_from, days_to, series }) => ({
    ...{ kind, days: { from: days_from, to: days_to }, series: JSON.parse(series) },
  }))
}

export async function insertCatalogueChange(db: Db, change: CatalogueChange): Promise<void> {
  await db.insertInto('catalogue_changes').values(change).execute()
}

/** The changes of providers and series after an instant, the last one first. */
export function selectCatalogueChangesAfter(db: Db, instant: number): Promise<CatalogueChange[]> {
  return db
    .selectFrom('catalogue_changes')
    .select(['changed_at', 'kind', 'provider_id', 'series_id'])
    .where('changed_at', '>', instant)
    .orderBy('id', 'desc')
    .execute()
}

export async function selectRecordBounds(db: Db): Promise<RecordBounds> {
  const { record_from, coverage_from } = await db
    .selectFrom('meta')
    .select(['record_from', 'coverage_from'])
    .executeTakeFirstOrThrow()
  const first = await db
    .selectFrom('catalogue_changes')
    .select(({ fn }) => fn.min('changed_at').as('at'))
    .executeTakeFirst()
  const gaps = await db.selectFrom('record_gaps').selectAll().execute()
  return {
    from: record_from ?? first?.at ?? undefined,
    coverageFrom: coverage_from ?? undefined,
    gaps: gaps.map(({ gap_from, gap_to }) => ({ from: gap_from, to: gap_to })),
  }
}

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

/** The days of a series of which a value was discarded. */
export async function selectDiscardedDays(db: Db, seriesId: number): Promise<IsoDate[]> {
  const rows = await db
    .selectFrom('rate_revisions')
    .select('rate_date')
    .distinct()
    .where('series_id', '=', seriesId)
    .where('kind', '=', 'discarded')
    .execute()
  return rows.map(({ rate_date }) => rate_date)
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
