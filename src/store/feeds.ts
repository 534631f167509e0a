// What interval of days of each series was asked for and validly answered (sync/window.ts moves the edges).

import type { Window } from '../providers/provider.ts'
import type { Db } from './tables.ts'

export async function selectCoverage(db: Db): Promise<Map<number, Window>> {
  const rows = await db.selectFrom('feeds').selectAll().execute()
  return new Map(rows.map((row) => [row.series_id, { from: row.covered_from, to: row.covered_to }]))
}

export async function upsertCoverage(db: Db, coverage: ReadonlyMap<number, Window>): Promise<void> {
  for (const [series_id, { from, to }] of coverage) {
    const edges = { covered_from: from, covered_to: to }
    await db
      .insertInto('feeds')
      .values({ series_id, ...edges })
      .onConflict((on) => on.column('series_id').doUpdateSet(edges))
      .execute()
  }
}
