// Nodes on a database of a schema without a release: two builds of one version may make other tables.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { FIRST_SCHEMA, RELEASED_SCHEMA, SHARED_MIGRATIONS } from '../../../src/store/migrations.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { loadBuild, NEXT } from '../../support/release/other-builds.ts'

const REFUSAL = {
  code: 'failed',
  message: new RegExp(
    `^the database has schema ${NEXT}, made by an unreleased build .*: use that build, or restore a backup of a release \\(cambista manual upgrades\\)$`,
  ),
}

async function load(t: TestContext, tables: string[], isReleased = false) {
  const { postgresSchema, openPostgres } = await (await loadBuild(t, { tables, isReleased })).loadPostgres()
  const open = async (url: string, options: Parameters<typeof openPostgres>[1] = {}) => {
    const engine = await openPostgres(url, options)
    const isReady = await engine.isReady()
    await engine.close()
    return isReady
  }
  return { open, hash: hash('sha256', postgresSchema().join(';\n')) }
}

async function readHash(url: string): Promise<unknown> {
  const [row] = await queryOnce(url, `select to_jsonb(meta)->'schema_hash' as hash from meta`)
  return row?.hash
}

test('a database of an unreleased schema has the SHA-256 of its tables, new or migrated', async (t) => {
  const build = await load(t, ['first'])
  const [fresh, migrated] = [await createPostgresSchema(), await createPostgresSchema()]
  const migrations = SHARED_MIGRATIONS.slice(0, RELEASED_SCHEMA - FIRST_SCHEMA)
  await (await openPostgres(migrated, { migrations })).close()
  for (const url of [fresh, migrated]) {
    assert.equal(await build.open(url), true)
    assert.equal(await readHash(url), build.hash)
    assert.equal(await build.open(url, { migrate: false }), true)
  }
})

test('a node refuses the database of an unreleased build with other tables, and leaves it as it is', async (t) => {
  const url = await createPostgresSchema()
  const own = await load(t, ['first'])
  await own.open(url)
  for (const other of [
    await load(t, ['second']),
    await load(t, ['second'], true),
    await load(t, ['first', 'second']),
    await load(t, ['first', 'second'], true),
  ]) {
    await assert.rejects(other.open(url), REFUSAL)
    await assert.rejects(other.open(url, { migrate: false }), REFUSAL)
  }
  assert.equal(await readHash(url), own.hash)
  assert.deepEqual(await queryOnce(url, `select to_regclass('second') as "table"`), [{ table: null }])
  assert.equal(await own.open(url), true)
})

test('a release goes on with a database of the build before it, which is then one of the release', async (t) => {
  const url = await createPostgresSchema()
  const [before, release] = [await load(t, ['first']), await load(t, ['first'], true)]
  await before.open(url)
  assert.equal(await release.open(url, { migrate: false }), true)
  assert.equal(await readHash(url), before.hash, 'it may not change the tables')
  assert.equal(await release.open(url), true)
  assert.equal(await readHash(url), null)
  const message = new RegExp(`^the database has schema ${NEXT} of a release, .*: use that release$`)
  await assert.rejects(before.open(url), { code: 'failed', message })
  assert.equal(await (await load(t, ['first', 'second'], true)).open(url), true)
})

test('a database of a release has no hash', async (t) => {
  const url = await createPostgresSchema()
  await (await load(t, ['first'], true)).open(url)
  assert.equal(await readHash(url), null)
  const columns = await queryOnce(
    url,
    `select 1 from information_schema.columns where table_schema = current_schema() and column_name = 'schema_hash'`,
  )
  assert.deepEqual(columns, [])
})
