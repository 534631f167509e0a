// Nodes of a new version beside older ones on one PostgreSQL: the schema upgrade, and the nodes that serve or wait.
// An upgrade may be cut off at any statement. The versions are invented.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Pool } from 'pg'
import { planUpgrade } from '../../../src/domain/operations/move/upgrade.ts'
import { insertApiKey } from '../../../src/store/access/api-keys.ts'
import { atomically } from '../../../src/store/engine.ts'
import {
  FIRST_SCHEMA,
  oldestProgram,
  RELEASED_SCHEMA,
  SCHEMA_VERSION,
  SHARED_MIGRATIONS,
} from '../../../src/store/migrations.ts'
import { clusterSchema, migrationStatements, postgresSchema } from '../../../src/store/postgres/schema.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { EARLIER_RUNS, insertEarlierRuns, readOlderSchema } from '../../support/older-schema.ts'
import { openNode } from '../../support/postgres/database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { SEED } from '../../support/seed.ts'

const RELEASED = SHARED_MIGRATIONS.slice(0, RELEASED_SCHEMA - FIRST_SCHEMA)
const [TODAY, NEXT, LATER] = [0, 1, 2].map((more) => RELEASED_SCHEMA + more)
const OLDEST = oldestProgram(SHARED_MIGRATIONS)
/** A program of the newest release. */
const OLD = { migrations: RELEASED }
const ADDED = {
  sql: `
CREATE TABLE labels (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  name  TEXT NOT NULL CHECK (length(name) < 10) -- in words
) STRICT;
CREATE INDEX labels_by_name ON labels (name);
ALTER TABLE api_keys ADD COLUMN label TEXT;
CREATE UNIQUE INDEX keys_by_label ON api_keys (label) WHERE label IS NOT NULL;
ALTER TABLE tokens ADD COLUMN label INTEGER NOT NULL DEFAULT 7;
UPDATE api_keys SET label = name WHERE label IS NULL;
INSERT INTO labels (id, name) VALUES (1, 'first') ON CONFLICT DO NOTHING;
`,
}
const REMOVED = { sql: 'DROP INDEX keys_by_label; ALTER TABLE tokens DROP COLUMN label;', oldest: NEXT ?? 0 }
const NEW = { migrations: [...RELEASED, ADDED] }
const NEWEST = { migrations: [...RELEASED, ADDED, REMOVED] }
// Each statement has a commit. Each version ends with a statement and a commit, and some are left over.
const STATEMENTS = 2 * (clusterSchema().length + NEWEST.migrations.flatMap(migrationStatements).length) + 8
const UNFINISHED = `select 1 from pg_index i join pg_class c on c.oid = i.indexrelid
  where not indisvalid and relnamespace = current_schema()::regnamespace`

const key = (name: string) => ({ name, hash: name.padEnd(64, '-'), createdAt: '2026-03-24T12:00:00.000Z' })

test('a new version brings the schema to its own while nodes of the one before write, until it removes', async (t) => {
  const url = await createPostgresSchema()
  const old = await openNode(t, url, OLD)
  await insertApiKey(old.db, key('before'))
  let writing = true
  let writeCount = 0
  const writer = (async () => {
    while (writing) await insertApiKey(old.db, key(`beside ${++writeCount}`))
  })()
  // Nobody waits behind the upgrade for a transaction that takes its time.
  const open = Promise.withResolvers<void>()
  const slow = atomically(old.db, async (trx) => {
    await insertApiKey(trx, key('slow'))
    await open.promise
  })
  const upgraded = Promise.all([openNode(t, url, NEW), openNode(t, url, NEW)])
  const before = writeCount
  while (writeCount < before + 5) await new Promise(setImmediate)
  open.resolve()
  await slow
  const [one, other] = await upgraded
  writing = false
  await writer
  assert.deepEqual(await versions(url), [{ schema_version: NEXT, oldest_program: OLDEST }])
  assert.deepEqual([await one.isReady(), await other.isReady()], [true, true])
  assert.equal(await old.isReady(), true, 'the one before is within what it understands')
  await insertApiKey(old.db, key('after'))
  assert.deepEqual(await queryOnce(url, `select label from api_keys where name = 'before'`), [
    { label: 'before' },
  ])
  assert.deepEqual(await queryOnce(url, 'select id, name from labels'), [{ id: '1', name: 'first' }])
  assert.ok((await openNode(t, url, OLD)).db, 'it may even start anew')

  await queryOnce(url, 'update meta set schema_hash = null') // as a release of that version does
  await openNode(t, url, NEWEST)
  assert.deepEqual(await versions(url), [{ schema_version: LATER, oldest_program: NEXT }])
  assert.equal(await one.isReady(), true, 'the version before still runs')
  assert.equal(await old.isReady(), false, 'the one before that does not')
  await assert.rejects(openNode(t, url, OLD), /which is newer than \d+: use a newer cambista/)
})

const everyKey = { name: 'every key', text: 'select * from api_keys' }

test('a program without a second try reads a table with a new column', async (t) => {
  const url = await createPostgresSchema()
  const { db } = await openNode(t, url, OLD)
  await insertApiKey(db, key('one'))
  const older = new Pool({ connectionString: url, max: 3 })
  older.on('error', () => {}) // the upgrade ends idle sessions
  t.after(() => older.end())
  const read = () => Promise.all([1, 2, 3].map(() => older.query(everyKey)))
  await read()
  await openNode(t, url, NEW)
  const answers = await read()
  assert.deepEqual(
    answers.map(({ rows }) => rows[0].label),
    Array(3).fill('one'),
  )
})

test('a node reads a table with a new column, alone and in a transaction', async (t) => {
  const url = await createPostgresSchema()
  const { db } = await openNode(t, url, OLD)
  await insertApiKey(db, key('one'))
  const select = () => db.selectFrom('api_keys').selectAll().execute()
  const together = (name: string) =>
    atomically(db, async (trx) => {
      await insertApiKey(trx, key(name))
      return await trx.selectFrom('api_keys').selectAll().orderBy('id').execute()
    })
  await select()
  await together('before')
  await queryOnce(url, 'alter table api_keys add column label text')
  assert.equal('label' in ((await select())[0] ?? {}), true)
  await queryOnce(url, 'alter table api_keys add column other text')
  const rows = await together('after')
  assert.deepEqual([rows.length, 'other' in (rows[0] ?? {})], [3, true])
})

test('an upgrade to schema 26 finds the causes of earlier runs by their codes, else by their words', async (t) => {
  const url = await createPostgresSchema()
  await openNode(t, url, { migrations: SHARED_MIGRATIONS.slice(0, 25 - FIRST_SCHEMA) })
  await queryOnce(url, `insert into providers (id, code, name, country) values (1, 'bccr', 'Banco', 'CR')`)
  await queryOnce(url, insertEarlierRuns())
  await openNode(t, url)
  assert.deepEqual(
    (await queryOnce(url, 'select cause from sync_runs order by id')).map(({ cause }) => cause),
    EARLIER_RUNS.map(([, , cause]) => cause),
  )
})

test('ten nodes of a new version that start at once upgrade an older database once', async (t) => {
  const url = await createPostgresSchema()
  await (await openNode(t, url, OLD)).close()
  const nodes = await Promise.all(Array.from({ length: 10 }, () => openNode(t, url, NEWEST)))
  assert.deepEqual(await Promise.all(nodes.map((node) => node.isReady())), Array(10).fill(true))
  assert.deepEqual(await versions(url), [{ schema_version: LATER, oldest_program: NEXT }])
  const [{ fence } = { fence: 0 }] = await queryOnce(url, `select fence from leases where name = 'migrate'`)
  assert.ok(Number(fence) >= 2 && Number(fence) <= 11, `each holder has a higher fence: ${fence}`)
})

test('an upgrade that dies at any statement, before it or after, is ended by the next node', async (t) => {
  figure(t, 'seed', SEED)
  const every = scaled({ short: 16, long: 1 })
  const cases = ['cut', 'lose'].flatMap((fate, first) =>
    Array.from({ length: STATEMENTS }, (_, at) => ({ fate, at })).filter(
      ({ at }) => (at + 2 * first + SEED) % every === 0 || at === STATEMENTS - 1,
    ),
  )
  const died = await interleave(6, cases, async ({ fate, at }) => {
    const url = await createPostgresSchema()
    const old = await openNode(t, url, OLD)
    await insertApiKey(old.db, key('kept'))
    const proxy = await startProxy(t, url)
    let statements = 0
    let dead = false
    proxy.decide((text) => {
      if (dead) return 'cut'
      if (!/^(create|alter|drop|commit|insert into labels|update (api_keys|meta))/i.test(text)) return 'pass'
      dead = statements++ === at
      return dead ? (fate as 'cut' | 'lose') : 'pass'
    })
    const opening = retryWhenSlow(() => openNode(t, proxy.url, NEWEST))
    const end = await opening.then(() => 'opened', String)
    assert.equal(end === 'opened', !dead, `${fate} ${at}: ${end}`)
    // The lease expires as that of a killed process does. A short one would expire while a slow machine upgrades.
    await queryOnce(url, `update leases set expires_at = clock_timestamp() - interval '1 s'`)
    const [{ schema_version } = {}] = await versions(url)
    assert.equal(await retryWhenSlow(old.isReady), schema_version !== LATER, `${fate} ${at}`)
    await (await retryWhenSlow(() => openNode(t, url, NEWEST))).close()
    assert.deepEqual(await versions(url), [{ schema_version: LATER, oldest_program: NEXT }])
    assert.deepEqual(await queryOnce(url, 'select label from api_keys'), [{ label: 'kept' }])
    assert.deepEqual(await queryOnce(url, UNFINISHED), [])
    await old.close()
    return dead
  })
  const count = died.filter(Boolean).length
  assert.ok(
    count > 40 / every && count < cases.length,
    `${count} of ${cases.length}: at every statement, and the last cases got to the end`,
  )
})

test('a start without migration names the command for it', async (t) => {
  const url = await createPostgresSchema()
  const may = { migrate: false }
  await assert.rejects(
    openNode(t, url, { ...OLD, ...may }),
    /has no tables yet, .+ run cambista database upgrade/,
  )
  await (await openNode(t, url, OLD)).close()
  assert.equal(await (await openNode(t, url, { ...OLD, ...may })).isReady(), true, 'nothing is to do')
  await assert.rejects(openNode(t, url, { ...NEW, ...may }), /has schema \d+, this cambista needs schema \d+/)
  assert.deepEqual(await versions(url), [{ schema_version: TODAY, oldest_program: OLDEST }])
})

test('upgrading schema 12 makes the tables of a new database, and preserves rows and sessions', async (t) => {
  const [url, fresh] = [await createOlderSchema(12), await createPostgresSchema()]
  await (await openNode(t, fresh)).close()
  await queryOnce(
    url,
    `insert into providers (id, code, name, country) values (1, 'p', 'P', 'CR');
     insert into series (id, provider_id, external_code, name, base_currency, quote_currency, rate_type)
       values (1, 1, '1', 'S', 'USD', 'CRC', 'venta');
     insert into rates values (1, '2026-03-24', '496.44', null, 7);
     insert into page_sessions (id, page, opened_at, used_at) values ('a', 'p', 'then', 'then')`,
  )
  assert.notDeepEqual(await readSchema(url), await readSchema(fresh))
  const rates = await queryOnce(url, 'select * from rates')
  await openNode(t, url)
  assert.deepEqual(await versions(url), [{ schema_version: SCHEMA_VERSION, oldest_program: OLDEST }])
  assert.deepEqual(await readSchema(url), await readSchema(fresh))
  assert.deepEqual(await queryOnce(url, 'select * from rates'), rates)
  assert.deepEqual(await queryOnce(url, 'select id, page from page_sessions'), [{ id: 'a', page: 'p' }])
  for (const one of SHARED_MIGRATIONS) for (const text of migrationStatements(one)) await queryOnce(url, text)
  assert.deepEqual(await readSchema(url), await readSchema(fresh), 'a statement may be said again')
})

for (let version = 7; version < 12; version++) {
  test(`schema ${version} is refused and stays as it is: 0.2.0 upgrades it first`, async (t) => {
    const url = await createOlderSchema(12)
    await queryOnce(url, `update meta set schema_version = ${version}`)
    // The first databases lacked these columns.
    if (version === 7)
      await queryOnce(url, 'alter table meta drop column contents_mark, drop column moving_from')
    const before = await readSchema(url)
    const message = `the database has schema ${version}, this program knows 12 to ${SCHEMA_VERSION}: upgrade it with cambista 0.2.0 (its release, or commit 8eb66e7) first (cambista manual upgrades)`
    for (const options of [{}, { migrate: false }]) {
      await assert.rejects(openNode(t, url, options), { code: 'failed', message })
    }
    await assert.rejects(planUpgrade(url), { code: 'failed', message })
    assert.deepEqual(await readSchema(url), before)
    assert.deepEqual(await versions(url), [{ schema_version: version, oldest_program: OLDEST }])
  })
}

test('statements that would break older nodes are rejected as migrations', () => {
  for (const sql of [
    'ALTER TABLE tokens RENAME TO others',
    'DROP TABLE tokens',
    'DELETE FROM tokens',
    'ALTER TABLE tokens DROP COLUMN name',
    'INSERT INTO tokens (id) VALUES (1)',
    'ALTER TABLE tokens ADD CONSTRAINT a CHECK (id > 0)',
    'ALTER TABLE tokens DROP CONSTRAINT IF EXISTS a',
    'ALTER TABLE tokens DROP CONSTRAINT IF EXISTS a, ADD CONSTRAINT b CHECK (id > 0)',
    'ALTER TABLE tokens ALTER COLUMN name DROP NOT NULL, DROP COLUMN hash',
    'ALTER TABLE tokens ALTER COLUMN name SET NOT NULL',
  ]) {
    assert.throws(() => migrationStatements({ sql }), TypeError, sql)
  }
})

/** Creates the tables that a release made, with their row of `meta`. */
function createOlderSchema(version: number): Promise<string> {
  const row = `insert into meta (id, data_revision, epoch, schema_version, oldest_program)
    values (1, 1, 'e', ${version}, ${OLDEST})`
  return createPostgresSchema([...postgresSchema(readOlderSchema(version)), row])
}

/** Lists columns, constraints and indices. */
function readSchema(url: string): Promise<Record<string, unknown>[]> {
  return queryOnce(
    url,
    `select table_name as "table", column_name as name, concat_ws(' ', data_type, is_nullable, column_default) as text
       from information_schema.columns where table_schema = current_schema()
     union all select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
       where connamespace = current_schema()::regnamespace
     union all select tablename, indexname, replace(indexdef, schemaname || '.', '') from pg_indexes
       where schemaname = current_schema()
     order by "table", name, text`,
  )
}

function versions(url: string): Promise<Record<string, unknown>[]> {
  return queryOnce(url, 'select schema_version::int, oldest_program::int from meta')
}

/** Retries after the time-outs of a machine whose processes get no turn for seconds. */
async function retryWhenSlow<T>(run: () => Promise<T>): Promise<T> {
  while (true) {
    try {
      return await run()
    } catch (error) {
      if (!/did not answer within|timeout|could not be renewed/.test(String(error))) throw error
    }
  }
}

async function interleave<Case, Result>(
  atOnce: number,
  cases: readonly Case[],
  run: (one: Case) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const remaining = [...cases]
  const one = async () => {
    for (let next = remaining.shift(); next; next = remaining.shift()) results.push(await run(next))
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return results
}
