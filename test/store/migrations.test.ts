import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { readAsset } from '../../src/assets.ts'
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations.ts'
import { selectActiveTokens } from '../../src/store/tokens.ts'
import { temporaryDatabase, temporaryDirectory } from '../support/ground.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')

const OLDER = [1, 2] as const

/** A data directory as the program made it when its schema was of this version. */
function olderSchema(t: TestContext, version: number): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(FIXTURES, `schema-${version}.sql`), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma(`user_version = ${version}`)
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
    insert into rates values (1, '2026-03-24', '496.44', null);
  `)
  sqlite.close()
  return dataDir
}

/** Every table and index, without comments and spaces that mean nothing. */
function shapeOf(sqlite: Sqlite.Database): string[] {
  const rows = sqlite.prepare(`select type, name, sql from sqlite_schema where sql is not null`).all() as {
    type: string
    name: string
    sql: string
  }[]
  const plain = (text: string) =>
    text
      .replace(/--.*$/gm, '')
      .replace(/\s+/g, ' ')
      .replace(/ ?([(),]) ?/g, '$1')
  return rows.map(({ type, name, sql }) => `${type} ${name}: ${plain(sql)}`).sort()
}

for (const version of OLDER) {
  test(`a database of schema ${version}, brought up to date, equals a new one`, async (t) => {
    const dataDir = olderSchema(t, version)
    temporaryDatabase(t, dataDir)
    const migrated = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
    t.after(() => migrated.close())
    const fresh = new Sqlite(':memory:')
    fresh.exec(readAsset('schema.sql'))
    assert.deepEqual(shapeOf(migrated), shapeOf(fresh))
    assert.equal(migrated.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  })

  test(`bringing a database of schema ${version} up to date keeps what it holds`, async (t) => {
    const db = temporaryDatabase(t, olderSchema(t, version))
    const rates = await db.selectFrom('rates').selectAll().execute()
    assert.deepEqual(rates, [{ series_id: 1, rate_date: '2026-03-24', value: '496.44', rounded_to: null }])
  })
}

test('a token that is older than tokens of one company stays a token of all', async (t) => {
  const dataDir = olderSchema(t, 2)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec("insert into tokens (name, hash, allow, created_at) values ('erp', 'h', 'agent:POST', 'then')")
  sqlite.close()
  assert.deepEqual(await selectActiveTokens(temporaryDatabase(t, dataDir)), [
    { id: 1, hash: 'h', allow: ['agent:POST'], expires_at: null, company_id: null },
  ])
})

test('there is a migration for each version, and each older schema is kept to try them on', () => {
  assert.equal(SCHEMA_VERSION, MIGRATIONS.length + 1)
  assert.deepEqual(
    readdirSync(FIXTURES).filter((name) => name.startsWith('schema-')),
    OLDER.map((version) => `schema-${version}.sql`),
  )
  assert.equal(OLDER.at(-1), SCHEMA_VERSION - 1)
})
