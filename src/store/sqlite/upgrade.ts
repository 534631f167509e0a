// Upgrades a database file to the present schema, inside the caller's transaction. The file schema.sql is for new
// databases, with the reasons; a test builds a database both ways and compares them.

import type Sqlite from 'better-sqlite3'
import { FIRST_SCHEMA, SHARED_MIGRATIONS } from '../migrations.ts'
import { readCounters, restoreCounters } from './id-counters.ts'
import { writeMark } from './schema-mark.ts'

/** Runs the migrations that a database of this version lacks. */
export function upgradeSchema(sqlite: Sqlite.Database, version: number): void {
  const counters = readCounters(sqlite)
  for (const { sql } of SHARED_MIGRATIONS.slice(version - FIRST_SCHEMA)) {
    sqlite.exec(typeof sql === 'string' ? sql : sql.sqlite)
  }
  restoreCounters(sqlite, counters)
  writeMark(sqlite)
}
