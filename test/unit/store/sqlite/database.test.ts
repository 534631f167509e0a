import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { AppError } from '../../../../src/runtime/errors.ts'
import { raiseRevision, selectMeta } from '../../../../src/store/meta.ts'
import { RELEASED_SCHEMA, SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { isReady, openDatabase } from '../../../../src/store/sqlite/database.ts'
import { listOpenFiles } from '../../../support/resources.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const SCHEMA = readFileSync(new URL('../../../../schema.sql', import.meta.url), 'utf8')

function readSchema(file: Sqlite.Database): unknown[] {
  return file.prepare('select type, name, tbl_name, sql from sqlite_schema order by type, name').all()
}

function fileMode(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

/** Makes a database file by hand where cambista would have its own. */
function strayFile(t: TestContext, make: (file: Sqlite.Database) => void): string {
  const dataDir = temporaryDirectory(t)
  const file = new Sqlite(join(dataDir, 'cambista.db'))
  make(file)
  file.close()
  return dataDir
}

function refuses(dataDir: string, message: RegExp): void {
  assert.throws(
    () => openDatabase(dataDir),
    (error) => {
      assert.ok(error instanceof AppError, String(error))
      assert.equal(error.code, 'failed')
      assert.match(error.message, message)
      return true
    },
  )
}

test('a new database has the schema of schema.sql, whole', async (t) => {
  const dataDir = temporaryDirectory(t)
  temporaryDatabase(t, dataDir)
  const expected = new Sqlite(':memory:')
  expected.exec(SCHEMA)
  if (SCHEMA_VERSION > RELEASED_SCHEMA) expected.exec('alter table meta add column schema_hash TEXT')
  const created = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
  t.after(() => created.close())
  assert.deepEqual(readSchema(created), readSchema(expected))
  assert.ok(readSchema(created).length > 8)
})

test('the directory is for its owner alone, and so is every file in it', async (t) => {
  const dataDir = join(temporaryDirectory(t), 'a', 'b')
  const db = temporaryDatabase(t, dataDir)
  await raiseRevision(db)
  assert.equal(fileMode(dataDir), '700')
  const files = readdirSync(dataDir).toSorted()
  assert.deepEqual(files, ['cambista.db', 'cambista.db-shm', 'cambista.db-wal'])
  for (const file of files) assert.equal(fileMode(join(dataDir, file)), '600', file)
})

test('an empty directory is made private, and the mode of one with other files does not change', (t) => {
  const empty = temporaryDirectory(t)
  chmodSync(empty, 0o755)
  temporaryDatabase(t, empty)
  assert.equal(fileMode(empty), '700')
  const shared = temporaryDirectory(t)
  chmodSync(shared, 0o755)
  writeFileSync(join(shared, 'notes.txt'), '')
  temporaryDatabase(t, shared)
  assert.equal(fileMode(shared), '755')
})

test('data are stored after the database is opened again', async (t) => {
  const dataDir = temporaryDirectory(t)
  const first = openDatabase(dataDir)
  const { epoch } = await selectMeta(first)
  await raiseRevision(first)
  await first.destroy()
  assert.deepEqual(await selectMeta(temporaryDatabase(t, dataDir)), { revision: 2, epoch })
  assert.match(epoch, /^[0-9a-f]{16}$/)
  assert.notEqual((await selectMeta(temporaryDatabase(t))).epoch, epoch)
})

test('a database of a newer program is refused', (t) => {
  const dataDir = strayFile(t, (file) => {
    file.exec(SCHEMA)
    file.pragma(`application_id = ${0x63616d62}`)
    file.pragma(`user_version = ${SCHEMA_VERSION + 1}`)
  })
  refuses(dataDir, /has schema version \d+, this program knows \d+: use a newer cambista/)
})

for (const version of [0, SCHEMA_VERSION, SCHEMA_VERSION + 1]) {
  test(`a database of another program with version ${version} is refused and not changed`, (t) => {
    const dataDir = strayFile(t, (file) => {
      file.exec('create table notes (text)')
      file.pragma(`user_version = ${version}`)
    })
    const before = readFileSync(join(dataDir, 'cambista.db'))
    refuses(dataDir, /is a database of another program/)
    assert.ok(readFileSync(join(dataDir, 'cambista.db')).equals(before))
  })
}

test('a file that is no database is refused', (t) => {
  const dataDir = temporaryDirectory(t)
  writeFileSync(join(dataDir, 'cambista.db'), 'x'.repeat(5000))
  refuses(dataDir, /cannot open the database .*: file is not a database/)
})

test('a data directory that is a file is refused', (t) => {
  const path = join(temporaryDirectory(t), 'file')
  writeFileSync(path, '')
  refuses(path, /cannot open the database/)
})

test('a database that must exist is not made', (t) => {
  const dataDir = join(temporaryDirectory(t), 'typo')
  assert.throws(() => openDatabase(dataDir, { mustExist: true }), /there is no cambista database in .*typo/)
  assert.throws(() => statSync(dataDir), /ENOENT/)
})

test('an empty file of a process that died becomes a whole database', async (t) => {
  const dataDir = temporaryDirectory(t)
  mkdirSync(dataDir, { recursive: true })
  writeFileSync(join(dataDir, 'cambista.db'), '')
  assert.equal(await isReady(temporaryDatabase(t, dataDir)), true)
})

test('a database has WAL, full synchronization and foreign keys', async (t) => {
  const db = temporaryDatabase(t)
  const pragma = async (name: string) =>
    Object.values((await sql.raw<object>(`pragma ${name}`).execute(db)).rows[0] ?? {})[0]
  assert.equal(await pragma('journal_mode'), 'wal')
  assert.equal(await pragma('synchronous'), 2)
  assert.equal(await pragma('foreign_keys'), 1)
  await assert.rejects(
    db
      .insertInto('coverage')
      .values({ series_id: 9, kind: 'answered', covered_from: '2026-01-01', covered_to: '2026-01-02' })
      .execute(),
    /FOREIGN KEY/,
  )
})

test('the schema has unique keys and checks', async (t) => {
  const db = temporaryDatabase(t)
  const provider = { code: 'x', name: 'X', country: 'CR' }
  await db.insertInto('providers').values(provider).execute()
  await assert.rejects(db.insertInto('providers').values(provider).execute(), /UNIQUE/)
  const series = {
    provider_id: 1,
    external_code: '1',
    name: 'S',
    base_currency: 'USD',
    quote_currency: 'CRC',
    rate_type: 'venta' as const,
  }
  await db.insertInto('series').values(series).execute()
  await assert.rejects(db.insertInto('series').values(series).execute(), /UNIQUE/)
  await assert.rejects(
    db
      .insertInto('coverage')
      .values({ series_id: 1, kind: 'answered', covered_from: '2026-01-02', covered_to: '2026-01-01' })
      .execute(),
    /CHECK/,
  )
})

test('a query is prepared once, however often it runs', async (t) => {
  const prepare = t.mock.method(Sqlite.prototype, 'prepare')
  const db = temporaryDatabase(t)
  const count = () => prepare.mock.calls.filter(({ arguments: [text] }) => text === 'select +? as x').length
  for (let run = 0; run < 5; run++)
    assert.deepEqual((await sql`select ${run} as x`.execute(db)).rows, [{ x: run }])
  assert.equal(count(), 1)
  for (let other = 0; other < 600; other++) await sql.raw(`select ${other}`).execute(db)
  await sql`select ${1} as x`.execute(db)
  assert.equal(count(), 2, 'the cache of statements is limited')
})

test('a transaction that fails leaves nothing', async (t) => {
  const db = temporaryDatabase(t)
  const work = db.transaction().execute(async (trx) => {
    await raiseRevision(trx)
    throw new Error('halfway')
  })
  await assert.rejects(work, /halfway/)
  assert.equal((await selectMeta(db)).revision, 1)
})

test('`destroy` closes a database without queries', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = openDatabase(dataDir)
  assert.notDeepEqual(listOpenFiles(dataDir), [])
  await db.destroy()
  assert.deepEqual(listOpenFiles(dataDir), [])
})
