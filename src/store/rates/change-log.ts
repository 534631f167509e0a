// Change log of the rates: the changes of values, coverage and catalogue with their instants. Applied backwards to the
// present data it gives the data of an earlier instant (decisions#as-of). Instants are milliseconds since 1970 in UTC.

import type { IsoDate } from '../../values/dates.ts'
import type { Interval } from '../../values/intervals.ts'
import { splitBatches } from '../batches.ts'
import { engineSql } from '../engine.ts'
import { insertBatches } from '../rows.ts'
import type { CoverageChangeKind, ReadDb, RevisionKind, Row, Tables, WriteDb } from '../tables.ts'

const IDS_AT_ONCE = 500

/** A value that was replaced or discarded, with the instant and the run. */
export type RateRevision = Row<'rate_revisions'>

/** Days that changed at an instant, of the series with these ids. */
export type CoverageChange = { kind: CoverageChangeKind; days: Interval; series: readonly number[] }

export type CatalogueChange = Omit<Row<'catalogue_changes'>, 'id'>

/** Limits and gaps of the change log. */
export type ChangeLogBounds = {
  /** First instant; undefined: nothing was ever stored. */
  from: number | undefined
  /** First instant with changes of coverage and catalogue; undefined: the same as `from`. */
  coverageFrom: number | undefined
  /** Times that were lost with a restore; `to` is excluded. */
  gaps: readonly { from: number; to: number }[]
}

export async function insertCoverageChanges(
  db: WriteDb,
  changedAt: number,
  changes: readonly CoverageChange[],
): Promise<void> {
  const rows = changes.map(({ kind, days, series }) => ({
    ...{ changed_at: changedAt, kind, days_from: days.from, days_to: days.to },
    series: JSON.stringify(series),
  }))
  await insertBatches(db, 'coverage_changes', rows)
}

/** The changes of coverage after an instant, the last one first. */
export async function selectLaterCoverageChanges(db: ReadDb, instant: number): Promise<CoverageChange[]> {
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

export async function insertCatalogueChange(db: WriteDb, change: CatalogueChange): Promise<void> {
  await db.insertInto('catalogue_changes').values(change).execute()
}

/** Enables or disables a provider or a series, and records the change. Returns whether there is such a row. */
export async function updateEnabled(
  db: WriteDb,
  table: 'providers' | 'series',
  match: { id: number } | { code: string },
  { enabled, at }: { enabled: boolean; at: number },
): Promise<boolean> {
  const query = db.selectFrom(table as 'providers').select(['id', 'enabled'])
  const row = await query.where((of) => of.and(match)).executeTakeFirst()
  if (!row || (row.enabled === 1) === enabled) return row !== undefined
  const { id } = row
  const values = { enabled: enabled ? 1 : 0 }
  await db.updateTable(table).set(values).where('id', '=', id).execute()
  const [provider_id, series_id] = table === 'providers' ? [id, null] : [null, id]
  const kind = enabled ? 'enabled' : 'disabled'
  await insertCatalogueChange(db, { changed_at: at, kind, provider_id, series_id })
  return true
}

/** The changes of providers and series after an instant, the last one first. */
export function selectLaterCatalogueChanges(db: ReadDb, instant: number): Promise<CatalogueChange[]> {
  return db
    .selectFrom('catalogue_changes')
    .select(['changed_at', 'kind', 'provider_id', 'series_id'])
    .where('changed_at', '>', instant)
    .orderBy('id', 'desc')
    .execute()
}

export async function selectChangeLogBounds(db: ReadDb): Promise<ChangeLogBounds> {
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

/**
 * Returns the instant of a transaction that changes rates or the catalogue. This is the time `now`, or a millisecond
 * after the newest instant. Other such transactions then wait, so that instants rise in the order of the commits. The
 * transaction passes it to raiseRevision (decisions#statements).
 */
export async function takeInstant(db: WriteDb, now: Date): Promise<Date> {
  await lockChangeLog(db)
  const newest = await selectNewestInstant(db)
  return newest === undefined || now.getTime() > newest ? now : new Date(newest + 1)
}

/**
 * Stores the newest instant where an earlier version or a restore left none, inside a transaction. Without it each
 * start would read all rates to find it.
 */
export async function settleChangeLogEnd(db: WriteDb): Promise<void> {
  await lockChangeLog(db)
  const end = await selectEnd(db)
  if (end.revision === end.data_revision) return
  const recorded_at = (await readNewestInstant(db, end)) ?? 0
  await db.updateTable('record_end').set({ recorded_at, revision: end.data_revision }).execute()
}

/** Makes other transactions that change rates or the catalogue wait for the end of this one. */
export async function lockChangeLog(db: WriteDb): Promise<void> {
  const query = db.selectFrom('record_end').select('id')
  await engineSql(db).lockRows(query, 'update', ['record_end']).executeTakeFirstOrThrow()
}

/** Returns the instant of the newest commit that changed rates or the catalogue; undefined: there was none. */
export async function selectNewestInstant(db: ReadDb): Promise<number | undefined> {
  return readNewestInstant(db, await selectEnd(db))
}

function selectEnd(db: ReadDb) {
  return db
    .selectFrom('record_end')
    .innerJoin('meta', 'meta.id', 'record_end.id')
    .select(['recorded_at', 'revision', 'data_revision', 'record_from', 'coverage_from'])
    .executeTakeFirstOrThrow()
}

async function readNewestInstant(
  db: ReadDb,
  end: Awaited<ReturnType<typeof selectEnd>>,
): Promise<number | undefined> {
  if (end.revision === end.data_revision) return end.recorded_at
  return findNewestInstant(db, [end.recorded_at, end.record_from ?? 0, end.coverage_from ?? 0])
}

/** Finds the newest instant by the rows: after an upgrade, a restore, or a commit of a program without record_end. */
async function findNewestInstant(db: ReadDb, others: readonly number[]): Promise<number | undefined> {
  const instants = await Promise.all([
    selectMaximum(db, 'rates', 'stored_at'),
    selectMaximum(db, 'coverage_changes', 'changed_at'),
    selectMaximum(db, 'catalogue_changes', 'changed_at'),
    selectMaximum(db, 'record_gaps', 'gap_to'),
  ])
  const { at } = await db
    .selectFrom('rate_revisions')
    .select(({ fn }) => fn.max('replaced_at').as('at'))
    .executeTakeFirstOrThrow()
  const replacement = Date.parse(at ?? '') || 0
  const newest = Math.max(...others, replacement, ...instants)
  return newest > 0 ? newest : undefined
}

async function selectMaximum<T extends keyof Tables>(
  db: ReadDb,
  table: T,
  column: keyof Tables[T],
): Promise<number> {
  const query = db.selectFrom(table as 'rates').select(({ fn }) => fn.max(column as 'stored_at').as('at'))
  return (await query.executeTakeFirst())?.at ?? 0
}

/** A corrected value, by the id of its revision. */
export type BankCorrection = Pick<RateRevision, 'id' | 'series_id' | 'rate_date'>

/**
 * Takes the corrections of a provider that were not reported yet, inside the transaction that reports them. A refined
 * value and an import are no corrections. Returns the newest `most` of them, oldest first, and the count of all.
 */
export async function takeCorrections(
  db: WriteDb,
  providerId: number,
  most: number,
): Promise<{ corrections: BankCorrection[]; count: number }> {
  const provider = db.selectFrom('providers').select('reported_revision').where('id', '=', providerId)
  const after = (await provider.executeTakeFirstOrThrow()).reported_revision
  const query = bankCorrections(db)
    .where('provider_id', '=', providerId)
    .where('rate_revisions.id', '>', after)
  const newest = await query
    .select(['rate_revisions.id', 'series_id', 'rate_date'])
    .orderBy('rate_revisions.id', 'desc')
    .limit(most)
    .execute()
  const [last] = newest
  if (!last) return { corrections: [], count: 0 }
  const { count } = await query
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  await db.updateTable('providers').set({ reported_revision: last.id }).where('id', '=', providerId).execute()
  return { corrections: newest.toReversed(), count: Number(count) }
}

/** Counts the values that the sources corrected. */
export async function countCorrections(db: ReadDb): Promise<number> {
  const row = await bankCorrections(db)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return Number(row?.count ?? 0)
}

function bankCorrections(db: ReadDb) {
  return db
    .selectFrom('rate_revisions')
    .innerJoin('sync_runs', 'sync_runs.id', 'rate_revisions.run_id')
    .where('kind', '=', 'correction')
    .where('trigger', '!=', 'import')
}

/** Revisions, oldest first; `since` is an instant or the beginning of one (a day). */
export function selectRevisions(
  db: ReadDb,
  filter: { seriesId?: number | undefined; since?: string | undefined; kind?: RevisionKind | undefined },
): Promise<RateRevision[]> {
  const { seriesId: series_id, kind, since } = filter
  const query = revisionsById(db).where((of) => of.and({ series_id, kind }))
  return (since === undefined ? query : query.where('replaced_at', '>=', since)).execute()
}

/** Selects revisions from the table, by their ids. */
export async function selectRevisionsById(db: ReadDb, ids: readonly number[]): Promise<RateRevision[]> {
  const read = (some: number[]) => revisionsById(db).where('id', 'in', some).execute()
  return (await Array.fromAsync(splitBatches(ids, IDS_AT_ONCE), read)).flat()
}

/** Selects the days of a series with a discarded value. */
export async function selectDiscardedDays(db: ReadDb, seriesId: number): Promise<IsoDate[]> {
  const rows = await db
    .selectFrom('rate_revisions')
    .select('rate_date')
    .distinct()
    .where('series_id', '=', seriesId)
    .where('kind', '=', 'discarded')
    .execute()
  return rows.map(({ rate_date }) => rate_date)
}

/** Selects a page of revisions by id: those after the id `after` whose days are in the filter. */
export function selectRevisionPage(
  db: ReadDb,
  filter: {
    seriesId?: number | undefined
    from?: IsoDate | undefined
    to?: IsoDate | undefined
    kind: RevisionKind
  },
  { after, limit }: { after: number; limit: number },
): Promise<RateRevision[]> {
  const { seriesId: series_id, kind, from, to } = filter
  let query = revisionsById(db)
    .where((of) => of.and({ series_id, kind }))
    .where('id', '>', after)
    .limit(limit)
  if (from !== undefined) query = query.where('rate_date', '>=', from)
  if (to !== undefined) query = query.where('rate_date', '<=', to)
  return query.execute()
}

function revisionsById(db: ReadDb) {
  return db.selectFrom('rate_revisions').selectAll().orderBy('id')
}
