// Queries of any table.

import type { Insertable } from 'kysely'
import { splitBatches } from './batches.ts'
import { invariantError } from './invariant.ts'
import type { ReadDb, Tables, WriteDb } from './tables.ts'

const AT_ONCE = 500 // SQLite takes at most 32,766 parameters

/** Inserts rows in batches. `skipExisting`: a row whose key exists already is left as it is. */
export async function insertBatches<Name extends keyof Tables>(
  db: WriteDb,
  table: Name,
  rows: Iterable<Insertable<Tables[Name]>>,
  { skipExisting = false } = {},
): Promise<void> {
  for (const some of splitBatches(rows, AT_ONCE)) {
    const query = db.insertInto(table).values(some as never)
    if (skipExisting) await query.onConflict((on) => on.doNothing()).execute()
    else {
      const { numInsertedOrUpdatedRows } = await query.executeTakeFirstOrThrow()
      if (numInsertedOrUpdatedRows !== BigInt(some.length))
        throw invariantError(
          'Insert',
          `stored ${numInsertedOrUpdatedRows} of ${some.length} rows of ${table}`,
        )
    }
  }
}

/** Returns whether a query has a row. */
export async function hasRow(query: { executeTakeFirst(): Promise<unknown> }): Promise<boolean> {
  return (await query.executeTakeFirst()) !== undefined
}

export async function countRows(db: ReadDb, table: keyof Tables): Promise<number> {
  const { count } = await db
    .selectFrom(table as 'rates')
    .select((of) => of.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}
