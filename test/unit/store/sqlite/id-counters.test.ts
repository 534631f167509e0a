import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { selectChangeLogBounds } from '../../../../src/store/rates/change-log.ts'
import { raiseCounters, readCounters, restoreCounters } from '../../../../src/store/sqlite/id-counters.ts'
import { renewFile } from '../../../../src/store/sqlite/restored-database.ts'
import { OLDER_SCHEMAS, olderSchema } from '../../../support/older-schema.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const TABLES = 'agents api_keys attachments companies documents owners rate_revisions sync_runs tokens'.split(
  ' ',
)

function ownDatabase(t: TestContext, tables: Record<string, number>): Sqlite.Database {
  const sqlite = new Sqlite(':memory:')
  t.after(() => sqlite.close())
  for (const [table, counter] of Object.entries(tables)) {
    sqlite.exec(`create table "${table}" (id integer primary key AUTOINCREMENT) strict`)
    if (counter > 0) sqlite.prepare(`insert into "${table}" values (?)`).run(BigInt(counter))
  }
  sqlite.exec('create table without (id integer primary key)')
  return sqlite
}

const insertNext = (sqlite: Sqlite.Database, table: string) =>
  sqlite.prepare(`insert into "${table}" default values returning id`).pluck().get()

test('every counter moves a million up, also that of an empty table, and again the next time', (t) => {
  const sqlite = ownDatabase(t, { full: 41, emptied: 7, empty: 0 })
  sqlite.exec('delete from emptied')
  assert.deepEqual(raiseCounters(sqlite), { full: 1_000_041, emptied: 1_000_007, empty: 1_000_000 })
  assert.deepEqual(
    ['full', 'emptied', 'empty'].map((table) => insertNext(sqlite, table)),
    [1_000_042, 1_000_008, 1_000_001],
  )
  assert.deepEqual(raiseCounters(sqlite), { full: 2_000_042, emptied: 2_000_008, empty: 2_000_001 })
  const above = { full: 9_000_000, empty: 5, unknown: 3 }
  assert.deepEqual(raiseCounters(sqlite, above), { full: 10_000_000, emptied: 3_000_008, empty: 3_000_001 })
  assert.equal(insertNext(sqlite, 'without'), 1)
})

test('no counter leaves the integers that JSON carries exactly, and each leaves room for more', (t) => {
  const highest = Number.MAX_SAFE_INTEGER
  const sqlite = ownDatabase(t, { near: highest - 1000, at: highest })
  assert.deepEqual(raiseCounters(sqlite), { near: highest - 500, at: highest })
  assert.equal(insertNext(sqlite, 'near'), highest - 499)
})

test('`restoreCounters` restores the counter of a rebuilt table', (t) => {
  const sqlite = ownDatabase(t, { runs: 41, other: 7 })
  raiseCounters(sqlite)
  const before = readCounters(sqlite)
  sqlite.exec(`
    create table newer (id integer primary key AUTOINCREMENT, more text) strict;
    insert into newer (id) select id from runs;
    drop table runs;
    alter table newer rename to runs;
    drop table other;
  `)
  assert.deepEqual(readCounters(sqlite), { runs: 41 })
  restoreCounters(sqlite, before)
  assert.equal(insertNext(sqlite, 'runs'), 1_000_042)
})

test('a database of today has the counters that a restore moves', (t) => {
  const dataDir = temporaryDirectory(t)
  temporaryDatabase(t, dataDir)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  t.after(() => sqlite.close())
  const counters = Object.keys(readCounters(sqlite))
  for (const table of TABLES) assert.ok(counters.includes(table), table)
})

for (const version of OLDER_SCHEMAS) {
  test(`renewing a copy of schema ${version} brings it up to date and raises its counters`, async (t) => {
    const dataDir = olderSchema(t, version)
    const path = join(dataDir, 'cambista.db')
    const lostBlobs = [{ sha256: 'a'.repeat(64), fault: 'is missing', since: '2026-03-24T12:00:00.000Z' }]
    const gap = { from: 1, to: 2 }
    const renewed = await renewFile(path, { above: { documents: 4 }, lost: lostBlobs, gap })
    assert.equal(renewed.schema.from, version)
    assert.deepEqual(readdirSync(dataDir), ['cambista.db'])
    const db = temporaryDatabase(t, dataDir)
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.endsWith('.bak')),
      [],
      'it is no upgrade any more',
    )
    assert.deepEqual(await db.selectFrom('lost_contents').selectAll().execute(), lostBlobs)
    assert.deepEqual((await selectChangeLogBounds(db)).gaps, [gap])
    const sqlite = new Sqlite(path)
    t.after(() => sqlite.close())
    const counters = readCounters(sqlite)
    assert.equal(counters.documents, 1_000_004)
    for (const table of TABLES) assert.ok((counters[table] ?? 0) >= 1_000_000, table)
  })
}
