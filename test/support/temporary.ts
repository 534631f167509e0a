// What every test stands on: a clock that it sets, a directory and a database that are gone when it ends.

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type IsoDate, todayIn } from '../../src/dates.ts'
import type { Engine } from '../../src/store/engine.ts'
import { openDatabase } from '../../src/store/sqlite/database.ts'
import { openSqliteEngine } from '../../src/store/sqlite/engine.ts'
import type { Db } from '../../src/store/tables.ts'

/** What is needed where the engine of this run is PostgreSQL; undefined: it is SQLite. */
export const postgres =
  process.env.CAMBISTA_TEST_ENGINE === 'postgres' ? await import('./postgres/database.ts') : undefined

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
