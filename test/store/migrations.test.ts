import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { readAsset } from '../../src/assets.ts'
import { MIGRATIONS, SCHEMA_VERSION } from '../../src/store/migrations.ts'
import { temporaryDatabase, temporaryDirectory } from '../support/app.ts'

const FIXTURES = join(import.meta.dirname, '../fixtures')

/** A data directory as the first version of the program made it. */
function firstSchema(t: TestContext): string {
  const dataDir = temporaryDirectory(t)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(readFileSync(join(FIXTURES, 'schema-1.sql'), 'utf8'))
  sqlite.pragma(`application_id = ${0x63616d62}`)
  sqlite.pragma('user_version = 1')
  sqlite.exec(`
    insert into providers (code, name, country) values ('bccr', 'Banco Central de Costa Rica', 'CR');
    insert into series (provider_id, external_code, name, base_currency, quote_currency, rate_type)
      values (1, '317', 'Tipo cambio compra', 'USD', 'CRC', 'compra');
    insert into rates values (1, '2026-03-24', '496.44', null);
  `)
  sqlite.close()
  return dataDir
}

/** Every table and index, without comments and with one space for many. */
function shapeOf(sqlite: Sqlite.Database): string[] {
  const rows = sqlite.prepare(`select type, name, sql from sqlite_schema where sql is not null`).all() as {
    type: string
    name: string
    sql: string
  }[]
  const plain = (text: string) => text.replace(/--.*$/gm, '').replace(/\s+/g, ' ')
  return rows.map(({ type, name, sql }) => `${type} ${name}: ${plain(sql)}`).sort()
}

test('a database of the first schema, brought up to date, equals a new one', async (t) => {
  const dataDir = firstSchema(t)
  temporaryDatabase(t, dataDir)
  const migrated = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
  t.after(() => migrated.close())
  const fresh = new Sqlite(':memory:')
  fresh.exec(readAsset('schema.sql'))
  assert.deepEqual(shapeOf(migrated), shapeOf(fresh))
  assert.equal(migrated.pragma('user_version', { simple: true }), SCHEMA_VERSION)
})

test('bringing a database up to date keeps what it holds', async (t) => {
  const db = temporaryDatabase(t, firstSchema(t))
  const rates = await db.selectFrom('rates').selectAll().execute()
  assert.deepEqual(rates, [{ series_id: 1, rate_date: '2026-03-24', value: '496.44', rounded_to: null }])
})

test('there is a migration for each version, and the first schema is kept to try them on', () => {
  assert.equal(SCHEMA_VERSION, MIGRATIONS.length + 1)
  assert.ok(readdirSync(FIXTURES).includes('schema-1.sql'))
})
