// The copy that is made of a database before its schema is changed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { openDatabase, type Upgrade } from '../../../src/store/sqlite/database.ts'
import { SCHEMA_VERSION } from '../../../src/store/sqlite/migrations.ts'
import { startOther } from '../../support/other-process.ts'
import { startProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const ROOT = join(import.meta.dirname, '../../..')
const COPY = /^cambista\.db\.v1-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ\.bak$/

/** A data directory as the first version of the program made it, with so many rates. */
function firstSchema(t: TestContext, rates = 1): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(ROOT, 'test/fixtures/schema-1.sql'), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma('user_version = 1')
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
    with recursive days (n) as (select 1 union all select n + 1 from days where n < ${rates})
      insert into rates select 1, date('1900-01-01', n || ' days'), '496.44', null from days;
  `)
  sqlite.close()
  return dataDir
}

function stateOf(path: string, { readonly } = { readonly: true }) {
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

const copiesIn = (dataDir: string) => readdirSync(dataDir).filter((name) => COPY.test(name))

test('an older database is copied as it was, for its owner alone, before it is brought up to date', async (t) => {
  const dataDir = firstSchema(t)
  const upgrades: Upgrade[] = []
  await openDatabase(dataDir, { upgraded: (upgrade) => upgrades.push(upgrade) }).destroy()
  const [name = ''] = copiesIn(dataDir)
  assert.deepEqual(upgrades, [{ from: 1, to: SCHEMA_VERSION, copy: join(dataDir, name) }])
  assert.deepEqual(stateOf(join(dataDir, name)), { version: 1, integrity: 'ok', rates: 1 })
  assert.equal(statSync(join(dataDir, name)).mode & 0o777, 0o600)
  assert.equal(stateOf(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)

  await openDatabase(dataDir, { upgraded: () => assert.fail('a second time') }).destroy()
  assert.equal(copiesIn(dataDir).length, 1)
})

test('who goes back to the copy gives no id and no ETag that was given after the upgrade', async (t) => {
  const dataDir = firstSchema(t)
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
  const known = `has schema version 999, this program knows ${SCHEMA_VERSION}: use a newer cambista`
  setVersion(999)
  assert.throws(() => openDatabase(dataDir), { code: 'failed', message: `${path} ${known}` })
  setVersion(1)
  await openDatabase(dataDir).destroy()
  const copy = join(dataDir, copiesIn(dataDir)[0] ?? '')
  for (const name of [
    'cambista.db.v999-2027-01-01T00-00-00Z.bak',
    'cambista.db.v1-2025-01-01T00-00-00Z.bak',
  ]) {
    writeFileSync(join(dataDir, name), 'of another upgrade')
  }
  const back = `, or go back to the copy from before the upgrade, ${copy} (cambista manual upgrades)`
  setVersion(999)
  assert.throws(() => openDatabase(dataDir), { code: 'failed', message: `${path} ${known}${back}` })

  const old = new Sqlite(copy)
  t.after(() => old.close())
  assert.notEqual(old.prepare('select epoch from meta').pluck().get(), before)
  assert.match(String(old.prepare('select epoch from meta').pluck().get()), /^[0-9a-f]{16}$/)
  const insert = "insert into api_keys (name, hash, created_at) values ('web', 'i', 'then') returning id"
  assert.equal(old.prepare(insert).pluck().get(), 1_000_042)
  assert.equal(old.pragma('application_id', { simple: true }), 0x63616d62)
})

test('a new database is not copied', async (t) => {
  const dataDir = temporaryDirectory(t)
  await openDatabase(dataDir, { upgraded: () => assert.fail('nothing was upgraded') }).destroy()
  assert.deepEqual(copiesIn(dataDir), [])
})

test('the copy has what is still in the -wal of a server that was killed', async (t) => {
  const dataDir = firstSchema(t)
  const { child: killed } = await startOther(
    t,
    `import Sqlite from 'better-sqlite3'
     const sqlite = new Sqlite(${JSON.stringify(join(dataDir, 'cambista.db'))})
     sqlite.pragma('journal_mode = wal')
     sqlite.exec("insert into rates values (1, '2026-03-24', '500', null)")
     console.log('written')
     setInterval(() => {}, 1000)`,
  )
  killed.kill('SIGKILL')
  await once(killed, 'exit')
  assert.ok(readdirSync(dataDir).includes('cambista.db-wal'))
  await openDatabase(dataDir).destroy()
  assert.equal(stateOf(join(dataDir, copiesIn(dataDir)[0] ?? '')).rates, 2)
})

test('without a copy nothing is changed', (t) => {
  const dataDir = firstSchema(t)
  mkdirSync(join(dataDir, 'cambista.db.v1-x.bak.partial')) // cannot be removed as a file
  const refused = {
    code: 'failed',
    message: /schema version 1 and cannot be copied .*; nothing was changed$/,
  }
  assert.throws(() => openDatabase(dataDir), refused)
  assert.deepEqual(stateOf(join(dataDir, 'cambista.db')), { version: 1, integrity: 'ok', rates: 1 })
  assert.deepEqual(copiesIn(dataDir), [])
})

test('of processes that meet an older database at once, one copies and upgrades it', async (t) => {
  const dataDir = firstSchema(t, 30_000)
  const children = await Promise.all([1, 2, 3].map(() => startOther(t, opening(dataDir))))
  assert.equal(children.length, 3)
  assert.equal(copiesIn(dataDir).length, 1)
  assert.equal(stateOf(join(dataDir, copiesIn(dataDir)[0] ?? '')).version, 1)
  assert.equal(stateOf(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)
})

test('killed at any moment of it, the database is the old one or the new one, and the next start goes on', async (t) => {
  const rates = 80_000
  for (const after of [0, 8, 16, 25, 40, 60, 100]) {
    const dataDir = firstSchema(t, rates)
    const { child } = await startOther(t, opening(dataDir, 'ready'))
    const exit = once(child, 'exit')
    await wait(after)
    child.kill('SIGKILL')
    await exit
    // Killed while it switched to WAL it has left a journal, which only who may write can roll back.
    const killed = stateOf(join(dataDir, 'cambista.db'), { readonly: false })
    assert.ok([1, SCHEMA_VERSION].includes(Number(killed.version)), String(killed.version))
    assert.deepEqual([killed.integrity, killed.rates], ['ok', rates])
    for (const name of copiesIn(dataDir)) {
      assert.deepEqual(stateOf(join(dataDir, name)), { version: 1, integrity: 'ok', rates }, name)
    }
    await openDatabase(dataDir).destroy()
    assert.equal(stateOf(join(dataDir, 'cambista.db')).version, SCHEMA_VERSION)
    assert.deepEqual(
      readdirSync(dataDir).filter((name) => name.endsWith('.partial') && killed.version === 1),
      [],
    )
  }
})

test('a command says where the copy is, and serve logs it', async (t) => {
  const one = await runCommand(['key', 'list', '--data-dir', firstSchema(t)])
  assert.match(one.err, /was of schema 1 and is of \d+ now; as it was it is in .*cambista\.db\.v1-.*\.bak\n/)
  const words = [
    'serve',
    '--port',
    '0',
    '--no-scheduler',
    '--log-format',
    'json',
    '--data-dir',
    firstSchema(t),
  ]
  const program = startProgram(t, words)
  const [line] = await program.says(/\{.*"event":"database upgraded".*\}/)
  const { level, from, to, copy } = JSON.parse(line)
  assert.deepEqual([level, from, to], ['warn', 1, SCHEMA_VERSION])
  assert.equal(stateOf(copy).version, 1)
})

test('an unfinished copy that a killed upgrade left is removed by the next', async (t) => {
  const dataDir = firstSchema(t)
  writeFileSync(join(dataDir, 'cambista.db.v1-2026-01-01T00-00-00Z.bak.partial'), 'half')
  await openDatabase(dataDir).destroy()
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.includes('partial')),
    [],
  )
})

function opening(dataDir: string, first = ''): string {
  return `
    import { openDatabase } from './src/store/sqlite/database.ts'
    ${first && `console.log('${first}')`}
    await openDatabase(${JSON.stringify(dataDir)}).destroy()
    console.log('done')`
}
