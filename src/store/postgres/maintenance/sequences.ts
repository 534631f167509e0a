// Where the ids of a table go on. A sequence knows nothing of ids that were written with their rows.

import type { Db } from '../../tables.ts'
import { ask } from '../ask.ts'

export type Sequence = {
  table: string
  /** The last id that it gave, 0 before the first. */
  given: number
  /** The greatest id of a row, 0 where there is none. */
  highest: number
}

/** Those of all tables whose ids the database gives, by table. */
export async function selectSequences(db: Db): Promise<Sequence[]> {
  const { rows: tables } = await ask<{ table: string; sequence: string }>(
    db,
    `select table_name as "table", pg_get_serial_sequence(quote_ident(table_name), 'id') as sequence
     from information_schema.columns
     where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES' order by table_name`,
  )
  const sequences: Sequence[] = []
  for (const { table, sequence } of tables) {
    const { rows } = await ask<{ given: number; highest: number }>(
      db,
      `select case when is_called then last_value else 0 end as given,
         (select coalesce(max(id), 0) from ${table}) as highest
       from ${sequence}`,
    )
    for (const row of rows) sequences.push({ table, ...row })
  }
  return sequences
}

/** The next id of the table is the one after `given`; 0: the first. */
export async function setSequence(db: Db, table: string, given: number): Promise<void> {
  await ask(db, `select setval(pg_get_serial_sequence($1, 'id')::regclass, $2, $3)`, [
    table,
    Math.max(given, 1),
    given > 0,
  ])
}
