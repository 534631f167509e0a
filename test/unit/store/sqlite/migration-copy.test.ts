// The copy that is made of a database before its schema is changed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { type FileUpgrade, openDatabase } from '../../../../src/store/sqlite/database.ts'
import { copyBeforeMigration } from '../../../../src/store/sqlite/migration-copy.ts'
import { makeDirectory } from '../../../support/company.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { emptyOlderSchema, OLDEST_SCHEMA } from '../../../support/older-schema.ts'
import { startScript } from '../../../support/other-process.ts'
import { startProgram } from '../../../support/program.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const COPY = /^cambista\.db\.v12-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.bak$/

/** Makes a data directory of the oldest schema with `rates` rates. */
function olderDirectory(t: TestContext, rates = 1): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = emptyOlderSchema(dataDir)
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
    with recursive days (n) as (select 1 union all select n + 1 from days where n < ${rates})
      insert into rates select 1, date('1900-01-01', n || ' days'), '496.44', null, n from days;
  `)
  sqlite.close()
  return dataDir
}

function readState(path: string, { readonly } = { readonly: true }) {
  const sqlite = new Sqlite(path, { readonly })
  try {
    return {
      version: sqlite.pragma('user_version', { simple: true }),
      integrity: sqlite.pragma('integrity_check', { simple: true }),
      rates: (sqlite.prepare('select count(*) as n from rates').get() as { n: number }).n,
    }
  } finally {
    sqlite.close()
  }
}

const listCopies = (dataDir: string) => readdirSync(dataDir).filter((name) => COPY.test(name))

test('an older database is copied as it was, for its owner alone, before it is brought up to date', async (t) => {
  const dataDir = olderDirectory(t)
  const upgrades: FileUpgrade[] = []
  await openDatabase(dataDir, { onUpgrade: (upgrade) => upgrades.push(upgrade) }).destroy()
  const [name = ''] = listCopies(dataDir)
  assert.deepEqual(upgrades, [{ from: OLDEST_SCHEMA, to: SCHEMA_VERSION, copy: join(dataDir, name) }])
  assert.deepEqual(readState(join(dataDir, name)), { version: OLDEST_SCHEMA, integrity: 'ok', rates: 1 })
  assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600)
  assert.equal(readState(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)

  await openDatabase(dataDir, { onUpgrade: () => assert.fail('a second time') }).destroy()
  assert.equal(listCopies(dataDir).length, 1)
})

test('the copy from before an upgrade reuses no id and no ETag', async (t) => {
  const dataDir = olderDirectory(t)
  const path = join(dataDir, 'cambista.db')
  const sqlite = new Sqlite(path)
  sqlite.exec("insert into api_keys (id, name, hash, created_at) values (41, 'erp', 'h', 'then')")
  const before = sqlite.prepare('select epoch from meta').pluck().get()
  sqlite.close()
  const setVersion = (version: number) => {
    const newer = new Sqlite(path)
    newer.pragma(`user_version = ${version}`)
    newer.close()
  }
  const refusal = `has schema version 999, this program knows ${SCHEMA_VERSION}: use a newer cambista`
  setVersion(999)
  assert.throws(() => openDatabase(dataDir), { code: 'failed', message: `${path} ${refusal}` })
  setVersion(OLDEST_SCHEMA)
  await openDatabase(dataDir).destroy()
  const copy = join(dataDir, listCopies(dataDir)[0] ?? '')
  for (const name of [
    'cambista.db.v999-2027-01-01T00-00-00Z.bak',
    'cambista.db.v12-2025-01-01T00-00-00Z.bak',
  ]) {
    writeFileSync(join(dataDir, name), 'of another upgrade')
  }
  const back = `, or go back to the copy from before the upgrade, ${copy} (cambista manual upgrades)`
  setVersion(999)
  assert.throws(() => openDatabase(dataDir), { code: 'failed', message: `${path} ${refusal}${back}` })

  const old = new Sqlite(copy)
  t.after(() => old.close())
  assert.notEqual(old.prepare('select epoch from meta').pluck().get(), before)
  assert.match(String(old.prepare('select epoch from meta').pluck().get()), /^[0-9a-f]{16}$/)
  const insert = "insert into api_keys (name, hash, created_at) values ('web', 'i', 'then') returning id"
  assert.equal(old.prepare(insert).pluck().get(), 1_000_042)
  assert.equal(old.pragma('application_id', { simple: true }), 0x63616d62)
})

test('the copy signs every browser out, and the upgrade nobody', async (t) => {
  const dataDir = temporaryDirectory(t)
  await openDatabase(dataDir).destroy()
  const path = join(dataDir, 'cambista.db')
  const sqlite = new Sqlite(path)
  sqlite.exec(`
    insert into page_sessions (id, page, opened_at, used_at) values ('a', 'p', 'then', 'then');
    insert into page_tickets (hash, session_id, ends_at) values ('t', 'a', 'then');
  `)
  const countSignIns = (one: Sqlite.Database) =>
    ['page_sessions', 'page_tickets'].map((table) =>
      one.prepare(`select count(*) from ${table}`).pluck().get(),
    )
  const copy = new Sqlite(copyBeforeMigration(path, SCHEMA_VERSION), { readonly: true })
  assert.deepEqual(
    [countSignIns(copy), countSignIns(sqlite)],
    [
      [0, 0],
      [1, 1],
    ],
  )
  for (const one of [copy, sqlite]) one.close()
})

test('a new database is not copied', async (t) => {
  const dataDir = temporaryDirectory(t)
  await openDatabase(dataDir, { onUpgrade: () => assert.fail('nothing was upgraded') }).destroy()
  assert.deepEqual(listCopies(dataDir), [])
})

test('the copy has what is still in the -wal of a server that was killed', async (t) => {
  const dataDir = olderDirectory(t)
  const { child: killed } = await startScript(
    t,
    `import Sqlite from 'better-sqlite3'
     const sqlite = new Sqlite(${JSON.stringify(join(dataDir, 'cambista.db'))})
     sqlite.pragma('journal_mode = wal')
     sqlite.exec("insert into rates values (1, '2026-03-24', '500', null, 1)")
     console.log('written')
     setInterval(() => {}, 1000)`,
  )
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  assert.ok(readdirSync(dataDir).includes('cambista.db-wal'))
  await openDatabase(dataDir).destroy()
  assert.equal(readState(join(dataDir, listCopies(dataDir)[0] ?? '')).rates, 2)
})

test('an upgrade without a copy changes nothing', (t) => {
  const dataDir = olderDirectory(t)
  mkdirSync(join(dataDir, 'cambista.db.v12-x.bak.partial')) // cannot be removed as a file
  const refused = {
    code: 'failed',
    message: /schema version 12 and cannot be copied .*; nothing was changed$/,
  }
  assert.throws(() => openDatabase(dataDir), refused)
  assert.deepEqual(readState(join(dataDir, 'cambista.db')), {
    version: OLDEST_SCHEMA,
    integrity: 'ok',
    rates: 1,
  })
  assert.deepEqual(listCopies(dataDir), [])
})

test('an older database is copied and upgraded by a single one of simultaneous processes', async (t) => {
  const dataDir = olderDirectory(t, 30_000)
  const children = await Promise.all([1, 2, 3].map(() => startScript(t, opening(dataDir))))
  assert.equal(children.length, 3)
  assert.equal(listCopies(dataDir).length, 1)
  assert.equal(readState(join(dataDir, listCopies(dataDir)[0] ?? '')).version, OLDEST_SCHEMA)
  assert.equal(readState(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)
})

test('an upgrade that is killed at any moment leaves the old or the new database, and the next start continues', async (t) => {
  const rates = 80_000
  for (const after of [0, 8, 16, 25, 40, 60, 100]) {
    const dataDir = olderDirectory(t, rates)
    const { child } = await startScript(t, opening(dataDir, 'ready'))
    const exit = once(child, 'exit')
    await wait(after)
    child.kill('SIGKILL')
    await exit
    // A kill during the switch to WAL leaves a journal, which only a writing connection can roll back.
    const killed = readState(join(dataDir, 'cambista.db'), { readonly: false })
    assert.ok([OLDEST_SCHEMA, SCHEMA_VERSION].includes(Number(killed.version)), String(killed.version))
    assert.deepEqual([killed.integrity, killed.rates], ['ok', rates])
    for (const name of listCopies(dataDir)) {
      assert.deepEqual(
        readState(join(dataDir, name)),
        { version: OLDEST_SCHEMA, integrity: 'ok', rates },
        name,
      )
    }
    await openDatabase(dataDir).destroy()
    assert.equal(readState(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.endsWith('.partial') && killed.version === OLDEST_SCHEMA),
      [],
    )
  }
})

test('commands print the path of the copy, and serve logs it', async (t) => {
  const one = await runCommand(['key', 'list', '--data-dir', olderDirectory(t)])
  assert.match(
    one.err,
    /was of schema 12 and is of \d+ now; as it was it is in .*cambista\.db\.v12-.*\.bak\n/,
  )
  const words = [
    'serve',
    '--port',
    '0',
    '--no-scheduler',
    '--log-format',
    'json',
    '--data-dir',
    olderDirectory(t),
  ]
  const program = startProgram(t, words)
  const [line] = await program.waitForOutput(/\{.*"event":"database upgraded".*\}/)
  const { level, from, to, copy } = JSON.parse(line)
  assert.deepEqual([level, from, to], ['warn', OLDEST_SCHEMA, SCHEMA_VERSION])
  assert.equal(readState(copy).version, OLDEST_SCHEMA)
})

test('an unfinished copy that a killed upgrade left is removed by the next', async (t) => {
  const dataDir = olderDirectory(t)
  writeFileSync(join(dataDir, 'cambista.db.v12-2026-01-01T00-00-00Z.bak.partial'), 'half')
  await openDatabase(dataDir).destroy()
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes('partial')),
    [],
  )
})

test('a copy has its mailboxes paused, and the database has not', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = temporaryDatabase(t, dataDir)
  await insertTestMailbox(db)
  const copy = new Sqlite(copyBeforeMigration(join(dataDir, 'cambista.db'), SCHEMA_VERSION), {
    readonly: true,
  })
  t.after(() => copy.close())
  assert.equal(copy.prepare('select pause_reason from mailboxes').pluck().get(), 'restore')
  assert.deepEqual(await db.selectFrom('mailboxes').select('paused_at').execute(), [{ paused_at: null }])
})

function opening(dataDir: string, first = ''): string {
  return `
    import { openDatabase } from './src/store/sqlite/database.ts'
    ${first && `console.log('${first}')`}
    await openDatabase(${JSON.stringify(dataDir)}).destroy()
    console.log('done')`
}
