// Statistics of the query planner. PostgreSQL gathers them itself, but up to minutes after a large insert. Without them
// a read of all rates takes twice as long.

import type { ReadDb } from '../../tables.ts'
import { rawQuery } from '../raw-query.ts'

/** Gathers the statistics of each table. PostgreSQL samples some 30,000 rows of any number. */
export async function gatherStatistics(db: ReadDb, tables: readonly string[]): Promise<void> {
  for (const table of tables) await rawQuery(db, `analyze ${table}`)
}
