import assert from 'node:assert/strict'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { Kysely, SqliteDialect } from 'kysely'
import { engineSql } from '../../../src/store/engine.ts'
import type { WriteDb } from '../../../src/store/tables.ts'

test('a WriteDb that no engine opened fails at its first question to the engine', async (t) => {
  const db: WriteDb = new Kysely({ dialect: new SqliteDialect({ database: new Sqlite(':memory:') }) })
  t.after(() => db.destroy())
  assert.throws(() => engineSql(db), { name: 'TypeError', message: 'no engine opened this database' })
})
