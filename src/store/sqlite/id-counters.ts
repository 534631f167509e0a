// Counters of ids (AUTOINCREMENT, in SQLite's table `sqlite_sequence`). No id is reused: neither after a restore, whose
// counters lack the ids since the backup, nor after a migration.

import type Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { raiseCounter } from '../ids.ts'
import type { ReadDb } from '../tables.ts'

/** Highest id that each table has ever assigned. */
export type Counters = Record<string, number>

/** Returns the counter of each table that has one; 0 for a table that never had a row. */
export function readCounters(sqlite: Sqlite.Database): Counters {
  const tables = sqlite
    .prepare(`select name from sqlite_schema where type = 'table' and sql like '%AUTOINCREMENT%'`)
    .pluck()
    .all() as string[]
  const counter = sqlite.prepare('select coalesce(max(seq), 0) from sqlite_sequence where name = ?').pluck()
  return Object.fromEntries(tables.map((table) => [table, Number(counter.get(table))]))
}

/** Selects the counters of an open database, without the tables that never had a row. */
export async function selectCounters(db: ReadDb): Promise<Counters> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(db)
  return Object.fromEntries(rows.map(({ name, seq }) => [name, seq]))
}

/** Raises each counter above its value and the value in `above`, and returns the new ones. */
export function raiseCounters(sqlite: Sqlite.Database, above: Counters = {}): Counters {
  const raised: Counters = {}
  for (const [table, counter] of Object.entries(readCounters(sqlite))) {
    raised[table] = raiseCounter(Math.max(counter, above[table] ?? 0))
  }
  writeCounters(sqlite, raised)
  return raised
}

/** Restores counters that fell: a migration that rebuilds a table sets its counter to the highest remaining id. */
export function restoreCounters(sqlite: Sqlite.Database, before: Counters): void {
  const after = readCounters(sqlite)
  const fallen = Object.entries(after).filter(([table, counter]) => counter < (before[table] ?? 0))
  writeCounters(sqlite, Object.fromEntries(fallen.map(([table]) => [table, before[table] ?? 0])))
}

function writeCounters(sqlite: Sqlite.Database, counters: Counters): void {
  const remove = sqlite.prepare('delete from sqlite_sequence where name = ?') // the table has no key for an upsert
  const insert = sqlite.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
  for (const [table, counter] of Object.entries(counters)) {
    remove.run(table)
    insert.run(table, counter)
  }
}
