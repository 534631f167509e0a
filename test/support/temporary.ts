// Fixtures of every test: a fixed clock, and a directory and a database that are removed when the test ends.

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import type { Engine } from '../../src/store/engine.ts'
import { openDatabase, openReads, type ReadConnection } from '../../src/store/sqlite/database.ts'
import { openSqliteEngine } from '../../src/store/sqlite/sqlite-engine.ts'
import type { Tables, WriteDb } from '../../src/store/tables.ts'
import { currentDay, type IsoDate } from '../../src/values/dates.ts'

/** Helpers for PostgreSQL, if it is the engine of this run; undefined for SQLite. */
export const postgres =
  process.env.CAMBISTA_TEST_ENGINE === 'postgres' ? await import('./postgres/database.ts') : undefined

/** Options of a test that is about SQLite files or connections: `test('…', ofSqlite, …)`. */
export const ofSqlite = { skip: postgres ? 'of SQLite alone' : false }

export type TestClock = { now: Date; read(): Date; today(): IsoDate }

/** A clock that only the test moves. */
export function fixedClock(instant = '2026-03-24T12:00:00Z'): TestClock {
  const clock: TestClock = {
    now: new Date(instant),
    read: () => new Date(clock.now),
    today: () => currentDay(clock.read),
  }
  return clock
}

// Hooks of a test run in the order of their creation. A program that is killed later may still write into a folder
// that is being removed.
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }

/** A directory that is removed when the test ends. */
export function temporaryDirectory(t: Pick<TestContext, 'after'>): string {
  const dir = mkdtempSync(join(tmpdir(), 'cambista-test-'))
  t.after(() => rm(dir, REMOVAL))
  return dir
}

/** An open database in a directory of its own. */
export function temporaryDatabase(t: TestContext, dataDir = temporaryDirectory(t)): WriteDb {
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  return db
}

/** An engine over a database in a directory of its own. */
export async function temporaryEngine(t: TestContext, dataDir = temporaryDirectory(t)): Promise<Engine> {
  const engine = postgres
    ? await postgres.openNode(t, await postgres.postgresAddress(dataDir))
    : await openSqliteEngine(dataDir)
  t.after(() => engine.close())
  return engine
}

/** Opens the database of a data directory, beside the program that uses it. The caller closes it. */
export function openTestDatabase(dataDir: string): WriteDb {
  return postgres ? postgres.postgresDatabase(dataDir) : openDatabase(dataDir)
}

/** Opens a connection for reads, which waits for no transaction. */
export function openTestReads(dataDir: string): ReadConnection {
  return postgres ? postgres.postgresDatabase(dataDir) : openReads(dataDir)
}

/** Makes the database reject new rows of a table, with `refused` in the error. */
export async function refuseRows(db: WriteDb, table: keyof Tables): Promise<void> {
  const refusal = postgres
    ? sql`alter table ${sql.table(table)} add constraint refused check (false) not valid`
    : sql`create trigger refused before insert on ${sql.table(table)} begin select raise(abort, 'refused'); end`
  await refusal.execute(db)
}

/** Ends `refuseRows`. */
export async function acceptRows(db: WriteDb, table: keyof Tables): Promise<void> {
  const end = postgres
    ? sql`alter table ${sql.table(table)} drop constraint refused`
    : sql`drop trigger refused`
  await end.execute(db)
}
