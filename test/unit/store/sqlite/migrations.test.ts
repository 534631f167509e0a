import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { readAsset } from '../../../../src/runtime/assets.ts'
import { FIRST_SCHEMA, RELEASED_SCHEMA, SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { selectCoverage } from '../../../../src/store/rates/coverage.ts'
import { openRateWriter } from '../../../../src/store/rates/rate-writer.ts'
import type { RevisionKind } from '../../../../src/store/tables.ts'
import {
  EARLIER_RUNS,
  emptyOlderSchema,
  insertEarlierRuns,
  olderSchema,
  RELEASED_SCHEMAS,
} from '../../../support/older-schema.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const ROOT = join(import.meta.dirname, '../../../..')

/** Returns the SQL of every table and index, without comments and insignificant spaces. */
function describeSchema(sqlite: Sqlite.Database): string[] {
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

for (const version of RELEASED_SCHEMAS) {
  test(`a database of schema ${version}, brought up to date, equals a new one`, async (t) => {
    const [migrated, fresh] = [olderSchema(t, version), temporaryDirectory(t)].map((dataDir) => {
      temporaryDatabase(t, dataDir)
      const sqlite = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
      t.after(() => sqlite.close())
      return sqlite
    }) as [Sqlite.Database, Sqlite.Database]
    assert.deepEqual(describeSchema(migrated), describeSchema(fresh))
    assert.equal(migrated.pragma('user_version', { simple: true }), SCHEMA_VERSION)
  })

  test(`an upgrade of schema ${version} preserves rates and coverage`, async (t) => {
    const startMs = Date.now()
    const db = temporaryDatabase(t, olderSchema(t, version))
    const rates = await db.selectFrom('rates').selectAll().execute()
    const [{ stored_at = 0, ...rate } = {}] = rates
    assert.deepEqual(rate, { series_id: 1, rate_date: '2026-03-24', value: '496.44', rounded_to: null })
    assert.ok(stored_at >= startMs - 1000 && stored_at <= Date.now(), 'known since the migration')
    assert.deepEqual(await selectCoverage(db), new Map([[1, [{ from: '2026-03-24', to: '2026-03-24' }]]]))
  })
}

test('the tests build their next schema on a released one', () => {
  const wrong = globSync('test/**/*.ts', { cwd: ROOT }).filter((path) =>
    /\[\.\.\.(?:SHARED_)?MIGRATIONS\b/.test(readFileSync(join(ROOT, path), 'utf8')),
  )
  assert.deepEqual(wrong, [], 'a schema between two releases opens with its own tables alone')
})

test('an upgrade preserves revisions and reuses none of their ids', async (t) => {
  const dataDir = olderSchema(t)
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
  const { insertRevisions } = openRateWriter(db)
  await insertRevisions([discarded])
  assert.deepEqual(await revisions(), [...before, { id: 10, ...discarded }])
  const wrong: (typeof discarded)[] = [
    { ...discarded, new_value: '2' },
    { ...discarded, run_id: 5 },
    { ...discarded, kind: 'correction', run_id: 5 },
    { ...discarded, kind: 'refined', new_value: '2' },
  ]
  for (const one of wrong) await assert.rejects(insertRevisions([one]), /CHECK constraint failed/)
})

test('an upgrade to schema 26 finds the causes of earlier runs by their codes, else by their words', async (t) => {
  const dataDir = olderSchema(t, 25)
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'))
  sqlite.exec(insertEarlierRuns())
  sqlite.close()
  const rows = temporaryDatabase(t, dataDir).selectFrom('sync_runs').select('cause').orderBy('id')
  assert.deepEqual(
    (await rows.execute()).map(({ cause }) => cause),
    EARLIER_RUNS.map(([, , cause]) => cause),
  )
})

test('the fixtures are the schemas of releases, from the oldest that is migrated to the newest', () => {
  assert.deepEqual([RELEASED_SCHEMAS[0], RELEASED_SCHEMAS.at(-1)], [FIRST_SCHEMA, RELEASED_SCHEMA])
  assert.ok(RELEASED_SCHEMA <= SCHEMA_VERSION)
})

test('schema.sql is the released schema of its version', (t) => {
  if (SCHEMA_VERSION > RELEASED_SCHEMA) return t.skip('the version has no release')
  const released = emptyOlderSchema(temporaryDirectory(t), RELEASED_SCHEMA)
  t.after(() => released.close())
  const fresh = new Sqlite(':memory:')
  fresh.exec(readAsset('schema.sql'))
  assert.deepEqual(describeSchema(fresh), describeSchema(released), 'a change needs a migration')
})
