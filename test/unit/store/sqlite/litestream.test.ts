// Litestream replicates the database beside a running server. Litestream requires WAL mode and a busy timeout of five
// seconds (litestream.io/tips), because it takes the write lock at times. The driver waits between two attempts, so the
// pragma itself is 0. Between its checkpoints it has a read lock, under which nothing may restart the WAL. The tests
// imitate its access to the database.

import assert from 'node:assert/strict'
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { createBackup } from '../../../../src/domain/operations/backup/backup.ts'
import { openBackupSet } from '../../../../src/domain/operations/backup/set.ts'
import { raiseRevision } from '../../../../src/store/meta.ts'
import { upsertRates } from '../../../../src/store/rates/rates.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { TEST_PROVIDERS } from '../../../support/providers.ts'
import { fixedClock, temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'
import { passTurns } from '../../turns.ts'

async function pragma(db: WriteDb, name: string): Promise<unknown> {
  const { rows } = await sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db)
  return Object.values(rows[0] ?? {})[0]
}

/** Reads the two salts of a WAL's header, which change when the WAL restarts. */
function readSalts(dataDir: string): string {
  const file = openSync(join(dataDir, 'cambista.db-wal'), 'r')
  const header = Buffer.alloc(32)
  readSync(file, header, 0, 32, 0)
  closeSync(file)
  return header.subarray(16, 24).toString('hex')
}

/** Creates the two tables of Litestream, and takes a read lock that stays. */
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
async function writeMuch(db: WriteDb, value: string): Promise<void> {
  for (let year = 1950; year < 2010; year++) {
    const first = dayNumber(`${year}-01-01`)
    const days = Array.from({ length: 360 }, (_, n) => isoDate(first + n))
    const series_id = 1 + (year % 40)
    await upsertRates(
      db,
      days.map((rate_date) => ({ series_id, rate_date, value, rounded_to: null })),
      0,
    )
  }
}

test('the pragmas are those that Litestream requires', async (t) => {
  const db = temporaryDatabase(t)
  assert.equal(await pragma(db, 'journal_mode'), 'wal')
  // Litestream advises NORMAL for speed; only FULL makes an acknowledged upload safe.
  assert.equal(await pragma(db, 'synchronous'), 2)
  // The value 0 is for tens of thousands of writes a second. SQLite's checkpoints never restart the WAL under a reader.
  assert.equal(await pragma(db, 'wal_autocheckpoint'), 1000)
  assert.equal(await pragma(db, 'locking_mode'), 'normal')
  assert.equal(await pragma(db, 'auto_vacuum'), 0)
})

test('the WAL is not restarted, shrunk or removed while Litestream reads it', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = openDatabase(dataDir)
  await ensureCatalogue(db, TEST_PROVIDERS, fixedClock().read)
  const replica = startReplication(dataDir)
  t.after(() => replica.close())
  const salts = readSalts(dataDir)
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
  assert.equal(readSalts(dataDir), salts)
  await db.destroy() // the last but Litestream
  assert.equal(readSalts(dataDir), salts)
  assert.equal(statSync(join(dataDir, 'cambista.db-wal')).size, size)
})

test('a write waits for a checkpoint of Litestream', async (t) => {
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
  let isWritten = false
  const writing = raiseRevision(db).finally(() => {
    isWritten = true
  })
  await passTurns()
  assert.equal(isWritten, false, 'it waits')
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
  assert.equal(result?.busy, 0, 'no other reader is open')
  replica.close()
  await db.destroy()
  assert.equal(existsSync(join(dataDir, 'cambista.db-wal')), false)
  await temporaryDatabase(t, dataDir).selectFrom('meta').selectAll().executeTakeFirstOrThrow()
})

test('no statement of ours checkpoints or vacuums the database in use', () => {
  const root = join(import.meta.dirname, '../../../../src/store/sqlite')
  for (const name of ['database', 'driver', 'database-copy', 'engine-sql', 'sqlite-engine', 'lock']) {
    assert.doesNotMatch(readFileSync(join(root, `${name}.ts`), 'utf8'), /wal_checkpoint|['"`]vacuum/i, name)
  }
})
