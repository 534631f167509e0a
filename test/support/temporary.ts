// What every test stands on: a clock that it sets, a directory and a database that are gone when it ends.

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { type IsoDate, todayIn } from '../../src/dates.ts'
import type { Engine } from '../../src/store/engine.ts'
import { openDatabase, openReads } from '../../src/store/sqlite/database.ts'
import { openSqliteEngine } from '../../src/store/sqlite/engine.ts'
import type { Db, Tables } from '../../src/store/tables.ts'

/** What is needed where the engine of this run is PostgreSQL; undefined: it is SQLite. */
export const postgres =
  process.env.CAMBISTA_TEST_ENGINE === 'postgres' ? await import('./postgres/database.ts') : undefined

/** Options of a test that is about the file of SQLite, or its connections: `test('…', ofSqlite, …)`. */
export const ofSqlite = { skip: postgres ? 'of SQLite alone' : false }

export type TestClock = { now: Date; read(): Date; today(): IsoDate }

/** A clock that stands still until the test sets it. */
export function fixedClock(instant = '2026-03-24T12:00:00Z'): TestClock {
  const clock: TestClock = {
    now: new Date(instant),
    read: () => new Date(clock.now),
    today: () => todayIn(clock.read),
  }
  return clock
}

// What a test began first is ended first: a program that is killed only after this may still write into a folder that is
// being removed.
const REMOVAL = { recursive: true, force: true, maxRetries: 20, retryDelay: 20 }

/** A directory that is removed when the test ends. */
export function temporaryDirectory(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'cambista-test-'))
  t.after(() => rm(dir, REMOVAL))
  return dir
}

/** An open database in a directory of its own. */
export function temporaryDatabase(t: TestContext, dataDir = temporaryDirectory(t)): Db {
  const db = openDatabaseOf(dataDir, t)
  t.after(() => db.destroy())
  return db
}

/** An engine over a database in a directory of its own. */
export async function temporaryEngine(t: TestContext, dataDir = temporaryDirectory(t)): Promise<Engine> {
  const engine = postgres
    ? await postgres.openNode(t, await postgres.postgresAddressOf(dataDir, t))
    : await openSqliteEngine(dataDir)
  t.after(() => engine.close())
  return engine
}

/** The database of a data directory, beside the program that uses it. The caller closes it. */
export function openDatabaseOf(dataDir: string, t?: TestContext): Db {
  return postgres ? postgres.postgresDatabase(dataDir, t) : openDatabase(dataDir)
}

/** The same for what only reads, and waits for no transaction. */
export function openReadsOf(dataDir: string): Db {
  return postgres ? postgres.postgresDatabase(dataDir) : openReads(dataDir)
}

/** From now on the database takes no rows of a table: `refused` is in the error. */
export async function refuseRows(db: Db, table: keyof Tables): Promise<void> {
  const refusal = postgres
    ? sql`alter table ${sql.table(table)} add constraint refused check (false) not valid`
    : sql`create trigger refused before insert on ${sql.table(table)} begin select raise(abort, 'refused'); end`
  await refusal.execute(db)
}
