// Coverage: the days of each series that were queried and validly answered (decisions#coverage).

import { difference, type Interval, isDaySet } from '../../values/intervals.ts'
import { engineSql } from '../engine.ts'
import { invariantError } from '../invariant.ts'
import type { CoverageKind, ReadDb, WriteDb } from '../tables.ts'
import { type CoverageChange, insertCoverageChanges } from './change-log.ts'

/** Covered days by series. */
export type Coverage = ReadonlyMap<number, readonly Interval[]>

/** Selects the coverage of all series, or of those with these ids. */
export async function selectCoverage(
  db: ReadDb,
  kind: CoverageKind = 'answered',
  ids?: readonly number[],
): Promise<Coverage> {
  let query = db
    .selectFrom('coverage')
    .select(['series_id', 'covered_from', 'covered_to'])
    .where('kind', '=', kind)
    .orderBy('series_id')
    .orderBy('covered_from')
  if (ids) query = query.where('series_id', 'in', [...ids])
  const coverage = new Map<number, Interval[]>()
  for (const row of await query.execute()) {
    const interval = { from: row.covered_from, to: row.covered_to }
    coverage.getOrInsertComputed(row.series_id, () => []).push(interval)
  }
  return coverage
}

/**
 * Replaces the covered days of the series of `coverage` (a statement for each takes ten times as long). Changes of the
 * kind `answered` are added to the change log with the instant `at` (milliseconds since 1970).
 */
export async function replaceCoverage(
  db: WriteDb,
  kind: CoverageKind,
  coverage: Coverage,
  at: number,
): Promise<void> {
  if (coverage.size === 0) return
  if (!coverage.values().every(isDaySet)) throw invariantError('SyncRun', 'covered days are not in order')
  const ids = [...coverage.keys()]
  if (kind === 'answered') {
    await insertCoverageChanges(db, at, diffCoverage(await selectCoverage(db, kind, ids), coverage))
  }
  await db.deleteFrom('coverage').where('series_id', 'in', ids).where('kind', '=', kind).execute()
  const rows = [...coverage].flatMap(([id, intervals]) => intervals.map(({ from, to }) => [id, from, to]))
  const count = await engineSql(db).insertCoverage(db, kind, JSON.stringify(rows))
  if (count !== rows.length) throw invariantError('SyncRun', `stored ${count} of ${rows.length} intervals`)
}

/** Returns the days that became covered or uncovered: each interval once, with its series. */
function diffCoverage(before: Coverage, after: Coverage): CoverageChange[] {
  const changes = new Map<string, CoverageChange & { series: number[] }>()
  for (const [id, now] of after) {
    const was = before.get(id) ?? []
    for (const kind of ['added', 'removed'] as const) {
      for (const days of kind === 'added' ? difference(now, was) : difference(was, now)) {
        const key = `${kind} ${days.from} ${days.to}`
        changes.getOrInsertComputed(key, () => ({ kind, days, series: [] })).series.push(id)
      }
    }
  }
  return [...changes.values()]
}
