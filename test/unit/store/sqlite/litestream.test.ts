// Litestream replicates the database beside a running server. What it asks of a program (litestream.io/tips): WAL mode, a
// busy timeout of five seconds for the moments in which it takes the write lock (the driver waits them between two tries,
// so the pragma itself is 0), and that nobody takes the WAL away from under the read lock that it holds between its own
// checkpoints. A stand-in does what it does to the database.

import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { dayOf, isoOf } from '../../../src/dates.ts'
import { createBackup } from '../../../src/domain/backup/backup.ts'
import { openBackupSet } from '../../../src/store/backup/set.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { upsertRates } from '../../../src/store/rates/rates.ts'
import { openDatabase } from '../../../src/store/sqlite/database.ts'
import type { Db } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { TEST_PROVIDERS } from '../../support/providers.ts'
import { fixedClock, temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'

async function pragma(db: Db, name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)
  return Object.values(rows[0] ?? {})[0]
}

/** The two salts of a WAL's header: they change when it begins anew. */
function saltsOf(dataDir: string): string {
  const file = openSync(join(dataDir, 'cambista.db-wal'), 'r')
  const header = Buffer.alloc(32)
  readSync(file, header, 0, 32, 0)
  closeSync(file)
  return header.subarray(16, 24).toString('hex')
}

/** What Litestream does when it begins with a database: its two tables, and a read lock that stays. */
function startReplication(dataDir: string): Sqlite.Database {
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'), { timeout: 1000 })
  sqlite.pragma('wal_autocheckpoint = 0')
  sqlite.exec('create table if not exists _litestream_seq (id integer primary key, seq integer)')
  sqlite.exec('create table if not exists _litestream_lock (id integer)')
  sqlite.exec('begin')
  sqlite.prepare('select count(*) from _litestream_seq').get()
  return sqlite
}

/** Writes about 2 MB; SQLite checkpoints by itself at 4. */
async function writeMuch(db: Db, value: string): Promise<void> {
  for (let year = 1950; year < 2010; year++) {
    const first = dayOf(`${year}-01-01`)
    const days = Array.from({ length: 360 }, (_, n) => isoOf(first + n))
    const series_id = 1 + (year % 40)
    await upsertRates(
      db,
      days.map((rate_date) => ({ series_id, rate_date, value, rounded_to: null })),
      0,
    )
  }
}

test('the pragmas are those that Litestream asks for', async (t) => {
  const db = temporaryDatabase(t)
  assert.equal(await pragma(db, 'journal_mode'), 'wal')
  // It advises NORMAL for speed; FULL is stricter, and what makes an acknowledged upload safe.
  assert.equal(await pragma(db, 'synchronous'), 2)
  // 0 is for tens of thousands of writes a second. SQLite's own checkpoints never begin the WAL anew under a reader.
  assert.equal(await pragma(db, 'wal_autocheckpoint'), 1000)
  assert.equal(await pragma(db, 'locking_mode'), 'normal')
  assert.equal(await pragma(db, 'auto_vacuum'), 0)
})

test('the WAL is not begun anew, shrunk or removed while Litestream reads it', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = openDatabase(dataDir)
  await ensureCatalogue(db, TEST_PROVIDERS, fixedClock().read)
  const replica = startReplication(dataDir)
  t.after(() => replica.close())
  const salts = saltsOf(dataDir)
  let size = 0
  for (let round = 0; round < 4; round++) {
    await writeMuch(db, `${round}.5`)
    const now = statSync(join(dataDir, 'cambista.db-wal')).size
    assert.ok(now > size, 'the WAL grows')
    size = now
  }
  const set = await openBackupSet(join(temporaryDirectory(t), 'set'), dataDir)
  await createBackup(set, { dataDir, now: new Date() })
  set.close()
  assert.equal(saltsOf(dataDir), salts)
  await db.destroy() // the last but Litestream
  assert.equal(saltsOf(dataDir), salts)
  assert.equal(statSync(join(dataDir, 'cambista.db-wal')).size, size)
})

test('a write waits while Litestream holds the write lock for a checkpoint', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = openDatabase(dataDir, { patienceMs: 60_000 })
  t.after(() => db.destroy())
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const Sqlite = require('better-sqlite3')
    const sqlite = new Sqlite(workerData)
    sqlite.exec('begin immediate')
    parentPort.postMessage('locked')
    parentPort.once('message', () => { sqlite.exec('commit'); sqlite.close() })`
  const worker = new Worker(code, { eval: true, workerData: join(dataDir, 'cambista.db') })
  t.after(() => worker.terminate())
  await new Promise((resolve) => worker.once('message', resolve))
  const writing = raiseRevision(db)
  assert.equal(await Promise.race([writing, wait(200)]), undefined, 'it waits')
  worker.postMessage('commit')
  assert.equal(await writing, 2)
})

test('Litestream may checkpoint, and its tables disturb neither an upgrade nor a backup', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = openDatabase(dataDir)
  const replica = startReplication(dataDir)
  await raiseRevision(db)
  replica.exec('commit')
  const [result] = replica.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  assert.equal(result?.busy, 0, 'nobody of us keeps a reader open')
  replica.close()
  await db.destroy()
  assert.equal(existsSync(join(dataDir, 'cambista.db-wal')), false)
  await temporaryDatabase(t, dataDir).selectFrom('meta').selectAll().executeTakeFirstOrThrow()
})

test('no statement of ours checkpoints or vacuums the database in use', () => {
  const root = join(import.meta.dirname, '../../../src/store/sqlite')
  for (const name of ['database', 'driver', 'database-copy', 'dialect', 'engine', 'lock']) {
    assert.doesNotMatch(readFileSync(join(root, `${name}.ts`), 'utf8'), /wal_checkpoint|['"`]vacuum/i, name)
  }
})
