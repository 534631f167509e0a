import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { readAsset } from '../../../src/assets.ts'
import { selectCompanies } from '../../../src/store/directory/companies.ts'
import { selectDocuments } from '../../../src/store/documents.ts'
import { insertEvents, selectEvents } from '../../../src/store/events.ts'
import { selectCoverage } from '../../../src/store/rates/coverage.ts'
import { insertRevisions } from '../../../src/store/rates/record.ts'
import { MIGRATIONS, SCHEMA_VERSION } from '../../../src/store/sqlite/migrations.ts'
import type { RevisionKind } from '../../../src/store/tables.ts'
import { selectActiveTokens } from '../../../src/store/tokens.ts'
import { olderSchema } from '../../support/older-schema.ts'
import { temporaryDatabase } from '../../support/temporary.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures')

const OLDER = [1, 2, 3, 4, 5, 6, 7] as const

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
    const [{ stored_at = 0, ...rate } = {}] = rates
    assert.deepEqual(rate, { series_id: 1, rate_date: '2026-03-24', value: '496.44', rounded_to: null })
    assert.ok(Math.abs(stored_at - Date.now()) < 60_000, 'known since the migration')
    assert.deepEqual(await selectCoverage(db), new Map([[1, [{ from: '2026-03-24', to: '2026-03-24' }]]]))
  })
}

test('a token that is older than tokens of one company stays a token of all', async (t) => {
  const dataDir = olderSchema(t, 2)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec("insert into tokens (name, hash, allow, created_at) values ('erp', 'h', 'agent:POST', 'then')")
  sqlite.close()
  assert.deepEqual(await selectActiveTokens(temporaryDatabase(t, dataDir)), [
    {
      id: 1,
      name: 'erp',
      hash: 'h',
      allow: ['agent:POST'],
      expires_at: null,
      company_id: null,
      agent_id: null,
    },
  ])
})

test('who made older documents is unknown, and what their companies use is summed up', async (t) => {
  const dataDir = olderSchema(t, 3)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(`
    insert into companies (id, name, code, created_at) values (7, 'A', 'A', 'then'), (8, 'B', 'B', 'then');
    insert into owners (id, name, created_at) values (1, 'O', 'then');
    insert into agents (id, company_id, name, created_at) values (1, 7, 'A', 'then');
    insert into attachments (id, name, mimetype, size, sha256, created_at)
      values (1, 'a', 'text/plain', 400, hex(zeroblob(32)), 'then'),
             (2, 'b', 'text/plain', 30, hex(zeroblob(32)), 'then');
    insert into documents (attachment_id, company_id, agent_id, owner_id, name, created_at)
      values (1, 7, 1, 1, 'a', 'then'), (2, 7, 1, 1, 'b', 'then');
  `)
  sqlite.close()
  const db = temporaryDatabase(t, dataDir)
  const documents = await selectDocuments(db, { limit: 10 })
  assert.deepEqual(
    documents.map(({ created_by }) => created_by),
    [null, null],
  )
  const companies = await selectCompanies(db)
  assert.deepEqual(
    companies.map(({ id, quota, used }) => [id, quota, used]),
    [
      [7, null, 430],
      [8, null, 0],
    ],
  )
})

test('events stay as they were, and no id of one is given again', async (t) => {
  const dataDir = olderSchema(t, 4)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(`
    insert into events (id, at, kind, via, actor, document_id, company_id, sha256)
      values (3, 'then', 'deleted', 'token', 'erp', 41, 7, hex(zeroblob(32))), (9, 'then', 'deleted', 'cli', 'ana', 1, 7, null);
    delete from events where id = 9;
  `)
  const before = sqlite.prepare('select * from events').all()
  sqlite.close()
  const db = temporaryDatabase(t, dataDir)
  const unknown = { created_at: null, created_by: null }
  assert.deepEqual(
    await db.selectFrom('events').selectAll().execute(),
    before.map((event) => ({ ...(event as object), ...unknown })),
  )
  const login = {
    kind: 'login',
    via: 'key',
    actor: 'erp',
    document_id: null,
    company_id: null,
    sha256: null,
  } as const
  await insertEvents(db, [{ at: 'now', ...login }])
  assert.deepEqual(await selectEvents(db, { limit: 1 }), [{ id: 10, at: 'now', ...login, ...unknown }])
})

test('revisions stay as they were, and no id of one is given again', async (t) => {
  const dataDir = olderSchema(t, 7)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(`
    insert into sync_runs (id, provider_id, trigger, status, started_at) values (5, 1, 'cli', 'ok', 'then');
    insert into rate_revisions values (3, 1, '2026-03-24', 'refined', '496.4', 1, null, '496.44', 'then', 5),
      (9, 1, '2026-03-24', 'correction', '496.44', null, 12, '497', 'then', 5);
    delete from rate_revisions where id = 9;
  `)
  const before = sqlite.prepare('select * from rate_revisions').all()
  sqlite.close()
  const db = temporaryDatabase(t, dataDir)
  const revisions = () => db.selectFrom('rate_revisions').selectAll().execute()
  assert.deepEqual(await revisions(), before)
  const discarded = {
    series_id: 1,
    rate_date: '2030-01-01',
    kind: 'discarded' as RevisionKind,
    old_value: '1',
    old_rounded_to: null,
    old_stored_at: 7,
    new_value: null as string | null,
    replaced_at: 'now',
    run_id: null as number | null,
  }
  await insertRevisions(db, [discarded])
  assert.deepEqual(await revisions(), [...before, { id: 10, ...discarded }])
  const wrong: (typeof discarded)[] = [
    { ...discarded, new_value: '2' },
    { ...discarded, run_id: 5 },
    { ...discarded, kind: 'correction', run_id: 5 },
    { ...discarded, kind: 'refined', new_value: '2' },
  ]
  for (const one of wrong) await assert.rejects(insertRevisions(db, [one]), /CHECK constraint failed/)
})

test('there is a migration for each version, and each older schema is kept to try them on', () => {
  assert.equal(SCHEMA_VERSION, MIGRATIONS.length + 1)
  assert.deepEqual(
    readdirSync(FIXTURES).filter((name) => name.startsWith('schema-')),
    OLDER.map((version) => `schema-${version}.sql`),
  )
  assert.equal(OLDER.at(-1), SCHEMA_VERSION - 1)
})
