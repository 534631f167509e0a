// Sums of the stored rates and revisions, by series and part. A part is a year of its rates, or its revisions. Sums that
// differ from their rows show damage. An older program writes no sums: then they are computed anew.

import { atomically, engineSql, type Lock } from '../engine.ts'
import type { ReadDb, WriteDb } from '../tables.ts'
import { lockChangeLog, type RateRevision } from './change-log.ts'
import { markSeriesChanged, selectColumnsOfSeries } from './rates.ts'
import { findSeriesRevision } from './series.ts'
import { addRow, isSameSum, newSum, type Sum, sumsByYear } from './sums.ts'

/** Part with the revisions of a series; the other parts are years such as `2026`. */
export const REVISIONS = 'revisions'

/** Sums by part. */
export type PartSums = ReadonlyMap<string, Sum>

const REVISION_COLUMNS = [
  'id',
  'series_id',
  'rate_date',
  'kind',
  'old_value',
  'old_rounded_to',
  'old_stored_at',
  'new_value',
  'replaced_at',
  'run_id',
] as const

type SummedRevision = Pick<RateRevision, (typeof REVISION_COLUMNS)[number]>

/** Returns the text of a revision: all that `as_of` and the lists read. */
export function revisionText(row: SummedRevision): string {
  return JSON.stringify(REVISION_COLUMNS.map((name) => row[name]))
}

/** Computes the sums of a series from its rows. */
async function computeSums(db: ReadDb, seriesId: number): Promise<Map<string, Sum>> {
  const [column] = await selectColumnsOfSeries(db, [seriesId])
  const revisions = db.selectFrom('rate_revisions').select(REVISION_COLUMNS).where('series_id', '=', seriesId)
  return sumsByYear(column?.lines ?? '').set(REVISIONS, sumRevisions(await revisions.execute()))
}

function sumRevisions(rows: readonly SummedRevision[]): Sum {
  const sum = newSum()
  for (const row of rows) addRow(sum, revisionText(row))
  return sum
}

/** Selects the sums of these series, without series that an older program has written since. */
export async function selectCurrentSums(db: ReadDb, ids: readonly number[]): Promise<Map<number, PartSums>> {
  const outdated = new Set(await selectOutdatedSeries(db, ids))
  const bySeries = new Map<number, Map<string, Sum>>()
  const query = db.selectFrom('rate_sums').selectAll()
  for (const row of await query.where('series_id', 'in', [...ids]).execute()) {
    if (outdated.has(row.series_id)) continue
    const sum = { count: row.row_count, first: row.first_sum, second: row.second_sum }
    bySeries.getOrInsertComputed(row.series_id, () => new Map()).set(row.part, sum)
  }
  return bySeries
}

/** Lists the parts whose sums differ, in their order. */
export function differentParts(some: PartSums, others: PartSums): string[] {
  const parts = new Set([...some.keys(), ...others.keys()])
  return [...parts].filter((part) => !isSameSum(some.get(part), others.get(part))).sort()
}

/** Selects all revisions of a series, oldest first; undefined: they differ from their sum. */
export async function selectSoundRevisions(
  db: ReadDb,
  seriesId: number,
): Promise<RateRevision[] | undefined> {
  const sums = (await selectCurrentSums(db, [seriesId])).get(seriesId)
  const query = db.selectFrom('rate_revisions').selectAll().where('series_id', '=', seriesId)
  const rows = await query.orderBy('id').execute()
  return !sums || isSameSum(sums.get(REVISIONS), sumRevisions(rows)) ? rows : undefined
}

/** Selects the series that an older program has written since their sums; `ids` undefined: of all. */
export async function selectOutdatedSeries(db: ReadDb, ids?: readonly number[]): Promise<number[]> {
  const query = db
    .selectFrom('series')
    .leftJoin('rate_sums', (on) =>
      on.onRef('rate_sums.series_id', '=', 'series.id').on('part', '=', REVISIONS),
    )
    .select('id')
    .where((of) => of('series.revision', '>', of.fn.coalesce('rate_sums.revision', of.lit(0))))
    .orderBy('id')
  const rows = await (ids ? query.where('id', 'in', [...ids]) : query).execute()
  return rows.map(({ id }) => id)
}

/** Lists the parts of a series whose sums differ from their rows, inside one snapshot or transaction. */
export async function listDamagedParts(db: ReadDb, seriesId: number): Promise<string[]> {
  const sums = (await selectCurrentSums(db, [seriesId])).get(seriesId)
  if (!sums && (await selectOutdatedSeries(db, [seriesId])).length > 0) return []
  return differentParts(sums ?? new Map(), await computeSums(db, seriesId))
}

/** Adds sums to the stored ones, as of a data revision. */
export async function addSums(
  db: WriteDb,
  bySeries: ReadonlyMap<number, PartSums>,
  revision: number,
): Promise<void> {
  const rows: (number | string)[][] = []
  for (const [id, sums] of bySeries)
    for (const [part, { count, first, second }] of sums) rows.push([id, part, count, first, second])
  if (rows.length > 0) await engineSql(db).addSums(db, JSON.stringify(rows), revision)
}

/** Computes all sums of these series anew from their rows, inside a transaction that no other writer overtakes. */
export async function recomputeSums(db: WriteDb, ids: readonly number[], revision: number): Promise<void> {
  for (const id of ids) {
    await db.deleteFrom('rate_sums').where('series_id', '=', id).execute()
    await addSums(db, new Map([[id, await computeSums(db, id)]]), revision)
  }
}

/** Computes the sums of some parts of a series anew, in a transaction that changes what the series answers. */
export async function acceptSums(
  db: WriteDb,
  seriesId: number,
  parts: readonly string[],
  revision: number,
): Promise<void> {
  const computed = await computeSums(db, seriesId)
  await db
    .deleteFrom('rate_sums')
    .where('series_id', '=', seriesId)
    .where('part', 'in', [...parts])
    .execute()
  // The part of the revisions always has the revision of the series.
  const sums = new Map([[REVISIONS, newSum()]])
  for (const part of parts) sums.set(part, computed.get(part) ?? newSum())
  await addSums(db, new Map([[seriesId, sums]]), revision)
  await markSeriesChanged(db, [seriesId], revision)
}

/** Computes the sums of series anew that an older program has written, each in a transaction. Returns their number. */
export async function settleSums(db: WriteDb, lock: Lock | undefined): Promise<number> {
  let count = 0
  for (const id of await selectOutdatedSeries(db)) {
    const isOutdated = await atomically(
      db,
      async (trx) => {
        await lockChangeLog(trx)
        const ids = await selectOutdatedSeries(trx, [id])
        await recomputeSums(trx, ids, (await findSeriesRevision(trx, id)) ?? 0)
        return ids.length > 0
      },
      lock,
    )
    count += Number(isOutdated)
  }
  return count
}
