// What the database knows of its rows when it plans a query. It looks at them by itself, but up to minutes after very many came
// at once; without, reading all rates takes twice as long.

import type { Db } from '../../tables.ts'
import { ask } from '../ask.ts'

/** Of each of these tables, one by one: some 30,000 rows are read, however many there are. */
export async function gatherStatistics(db: Db, tables: readonly string[]): Promise<void> {
  for (const table of tables) await ask(db, `analyze ${table}`)
}
