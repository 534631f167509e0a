// The counters that ids are given out from (AUTOINCREMENT, in SQLite's own table `sqlite_sequence`). An id never means
// two things: not after a restore, which leaves out what was given since the backup, and not after a migration.

import type Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { raisedAbove } from '../ids.ts'
import type { Db } from '../tables.ts'

/** The highest id that each table has given out so far. */
export type Counters = Record<string, number>

/** The counter of each table that has one, 0 for a table that never had a row. */
export function readCounters(sqlite: Sqlite.Database): Counters {
  const tables = sqlite
    .prepare(`select name from sqlite_schema where type = 'table' and sql like '%AUTOINCREMENT%'`)
    .pluck()
    .all() as string[]
  const counter = sqlite.prepare('select coalesce(max(seq), 0) from sqlite_sequence where name = ?').pluck()
  return Object.fromEntries(tables.map((table) => [table, Number(counter.get(table))]))
}

/** The same of an open database, without the tables that never had a row. */
export async function selectCounters(db: Db): Promise<Counters> {
  const { rows } = await sql<{ name: string; seq: number }>`select name, seq from sqlite_sequence`.execute(db)
  return Object.fromEntries(rows.map(({ name, seq }) => [name, seq]))
}

/** Moves each counter above what it is and what `above` says. */
export function raiseCounters(sqlite: Sqlite.Database, above: Counters = {}): Counters {
  const raised: Counters = {}
  for (const [table, counter] of Object.entries(readCounters(sqlite))) {
    raised[table] = raisedAbove(Math.max(counter, above[table] ?? 0))
  }
  writeCounters(sqlite, raised)
  return raised
}

/** Lets no counter be below what it was: a migration that builds a table anew would begin at the ids that are left. */
export function keepCounters(sqlite: Sqlite.Database, before: Counters): void {
  const after = readCounters(sqlite)
  const fallen = Object.entries(after).filter(([table, counter]) => counter < (before[table] ?? 0))
  writeCounters(sqlite, Object.fromEntries(fallen.map(([table]) => [table, before[table] ?? 0])))
}

function writeCounters(sqlite: Sqlite.Database, counters: Counters): void {
  const remove = sqlite.prepare('delete from sqlite_sequence where name = ?') // it has no key to replace by
  const insert = sqlite.prepare('insert into sqlite_sequence (name, seq) values (?, ?)')
  for (const [table, counter] of Object.entries(counters)) {
    remove.run(table)
    insert.run(table, counter)
  }
}
