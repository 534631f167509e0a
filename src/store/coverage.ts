// Which days of each series were asked for and validly answered (decisions 2.6).

import type { Interval } from '../intervals.ts'
import { dialectOf } from './engine.ts'
import type { CoverageKind, Db } from './tables.ts'

/** Covered days by series. */
export type Coverage = ReadonlyMap<number, readonly Interval[]>

export async function selectCoverage(db: Db, kind: CoverageKind = 'answered'): Promise<Coverage> {
  const rows = await db
    .selectFrom('coverage')
    .select(['series_id', 'covered_from', 'covered_to'])
    .where('kind', '=', kind)
    .orderBy('series_id')
    .orderBy('covered_from')
    .execute()
  const coverage = new Map<number, Interval[]>()
  for (const row of rows) {
    const interval = { from: row.covered_from, to: row.covered_to }
    coverage.getOrInsertComputed(row.series_id, () => []).push(interval)
  }
  return coverage
}

/** Replaces the covered days of the series given (a statement for each of them takes ten times as long). */
export async function replaceCoverage(db: Db, kind: CoverageKind, coverage: Coverage): Promise<void> {
  if (coverage.size === 0) return
  const ids = [...coverage.keys()]
  await db.deleteFrom('coverage').where('series_id', 'in', ids).where('kind', '=', kind).execute()
  const rows = [...coverage].flatMap(([id, intervals]) => intervals.map(({ from, to }) => [id, from, to]))
  await dialectOf(db).insertCoverage(db, kind, JSON.stringify(rows))
}
