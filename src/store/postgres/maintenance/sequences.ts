// Sequences of ids. A sequence does not notice ids that were inserted with their rows.

import type { ReadDb, WriteDb } from '../../tables.ts'
import { rawQuery } from '../raw-query.ts'

export type Sequence = {
  table: string
  /** Last id of the sequence; 0 before the first. */
  lastId: number
  /** Greatest id of a row; 0: no rows. */
  highest: number
}

/** Selects the sequences of all tables whose ids the database assigns, by table. The program has those of providers. */
export async function selectSequences(db: ReadDb): Promise<Sequence[]> {
  const { rows: tables } = await rawQuery<{ table: string; sequence: string }>(
    db,
    `select table_name as "table", pg_get_serial_sequence(quote_ident(table_name), 'id') as sequence
     from information_schema.columns
     where table_schema = current_schema() and column_name = 'id' and is_identity = 'YES'
       and table_name <> 'providers'
     order by table_name`,
  )
  const sequences: Sequence[] = []
  for (const { table, sequence } of tables) {
    const { rows } = await rawQuery<{ lastId: number; highest: number }>(
      db,
      `select case when is_called then last_value else 0 end as "lastId",
         (select coalesce(max(id), 0) from ${table}) as highest
       from ${sequence}`,
    )
    for (const row of rows) sequences.push({ table, ...row })
  }
  return sequences
}

/** Sets a sequence: the next id of the table is `lastId` + 1. */
export async function setSequence(db: WriteDb, table: string, lastId: number): Promise<void> {
  await rawQuery(db, `select setval(pg_get_serial_sequence($1, 'id')::regclass, $2, $3)`, [
    table,
    Math.max(lastId, 1),
    lastId > 0,
  ])
}
