// Bringing a database of an older schema to today's, inside the caller's transaction.

import type Sqlite from 'better-sqlite3'
import { keepCounters, readCounters } from './id-counters.ts'
import { MIGRATIONS, SCHEMA_VERSION } from './migrations.ts'

/** Runs the migrations that a database of this version lacks. */
export function upgradeSchema(sqlite: Sqlite.Database, version: number): void {
  const counters = readCounters(sqlite)
  for (const migration of MIGRATIONS.slice(version - 1)) sqlite.exec(migration)
  keepCounters(sqlite, counters)
  sqlite.pragma(`user_version = ${SCHEMA_VERSION}`)
}
