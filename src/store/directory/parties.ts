// Companies, owners and agents: changes that their tables have in common.

import { splitBatches } from '../batches.ts'
import { engineSql } from '../engine.ts'
import type { ReadDb, Row, WriteDb } from '../tables.ts'

type PartyTable = 'companies' | 'owners' | 'agents'

/** Page of a list by id. `id`: only that row; `after`: only greater ids. */
export type IdPage = { id?: number | undefined; after?: number; limit?: number }

const AT_ONCE = 1000

/** Adds a row, with the next free id if it has none. */
export async function insertParty<Name extends PartyTable>(
  db: WriteDb,
  table: Name,
  { createdAt, ...values }: Partial<Row<Name>> & { createdAt: string },
): Promise<Row<Name>> {
  const row = await db
    .insertInto(table as 'owners')
    .values({ ...values, created_at: createdAt } as never)
    .returningAll()
    .executeTakeFirstOrThrow()
  if ('id' in values && values.id !== undefined) await engineSql(db).raiseIdSequence(db, table, row.id)
  return row as unknown as Row<Name>
}

/** Selects names by id. */
export async function selectPartyNames(
  db: ReadDb,
  table: PartyTable,
  ids: readonly number[],
): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const query = db.selectFrom(table as 'owners').select(['id', 'name'])
  const rows = await query.where('id', 'in', ids).execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** Locks rows until the transaction ends, against changes and shared locks. Locks by rising id prevent deadlocks. */
export async function lockForUpdate(trx: WriteDb, table: PartyTable, ids: readonly number[]): Promise<void> {
  const rising = ids.toSorted((one, other) => one - other)
  for (const some of splitBatches(rising, AT_ONCE)) {
    const query = trx.selectFrom(table).select(`${table}.id`).where('id', 'in', some).orderBy('id')
    await engineSql(trx).lockRows(query, 'update', [table]).execute()
  }
}
