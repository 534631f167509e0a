import { dialectOf } from '../engine.ts'
import { portionsOf } from '../portions.ts'
import type { Db } from '../tables.ts'

const AT_ONCE = 1000

/** No other transaction changes these rows, or relies on them, until this one ends. By id: nobody waits crosswise. */
export async function lockForUpdate(
  trx: Db,
  table: 'companies' | 'agents' | 'owners',
  ids: readonly number[],
): Promise<void> {
  const rising = [...ids].sort((one, other) => one - other)
  for (const some of portionsOf(rising, AT_ONCE)) {
    const query = trx.selectFrom(table).select(`${table}.id`).where('id', 'in', some).orderBy('id')
    await dialectOf(trx).locking(query, 'update', [table]).execute()
  }
}
