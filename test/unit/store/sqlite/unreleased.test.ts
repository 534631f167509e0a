// Databases of builds whose schema has no release yet: two builds of one version may make other tables.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { RELEASED_SCHEMA } from '../../../../src/store/migrations.ts'
import { emptyOlderSchema } from '../../../support/older-schema.ts'
import { loadBuild, NEXT } from '../../../support/release/other-builds.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

type Build = Awaited<ReturnType<typeof load>>

const REFUSAL = new RegExp(
  `cambista\\.db has schema version ${NEXT}, made by an unreleased build .*: use that build, or restore a backup of a release \\(cambista manual upgrades\\)$`,
)

async function load(t: TestContext, tables: string[], isReleased = false) {
  const build = await loadBuild(t, { tables, isReleased })
  return { text: build.text, ...(await build.loadSqlite()) }
}

/** Reads the row of `meta` of a database. */
function readMeta(dataDir: string): Record<string, unknown> {
  const sqlite = new Sqlite(join(dataDir, 'cambista.db'), { readonly: true })
  try {
    return sqlite.prepare('select * from meta').get() as Record<string, unknown>
  } finally {
    sqlite.close()
  }
}

async function createDatabase(t: TestContext, build: Build): Promise<string> {
  const dataDir = temporaryDirectory(t)
  await build.openDatabase(dataDir).destroy()
  return dataDir
}

/** Asserts that a build refuses a database in each way to open it, and changes nothing. */
async function assertRefused(build: Build, dataDir: string, message: RegExp): Promise<void> {
  const path = join(dataDir, 'cambista.db')
  const bytes = readFileSync(path)
  const refusal = { code: 'failed', message }
  assert.throws(() => build.openDatabase(dataDir), refusal)
  await assert.rejects(build.openStandaloneReads(dataDir), refusal)
  assert.throws(() => build.inspectDatabase(path, { live: true }), refusal)
  assert.throws(() => build.inspectDatabase(path, { live: false }), refusal)
  assert.ok(readFileSync(path).equals(bytes))
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.endsWith('.bak')),
    [],
  )
}

test('a new database of an unreleased schema has the SHA-256 of schema.sql, as a migrated or restored one', async (t) => {
  const build = await load(t, ['first'])
  const restored = temporaryDirectory(t)
  const migrated = temporaryDirectory(t)
  for (const dataDir of [restored, migrated]) emptyOlderSchema(dataDir, RELEASED_SCHEMA).close()
  await build.openDatabase(migrated).destroy()
  await build.renewFile(join(restored, 'cambista.db'), { above: {}, lost: [], gap: { from: 1, to: 2 } })
  for (const dataDir of [await createDatabase(t, build), migrated, restored]) {
    assert.equal(readMeta(dataDir).schema_hash, hash('sha256', build.text))
    await build.openDatabase(dataDir).destroy()
    await (await build.openStandaloneReads(dataDir)).destroy()
    await build.inspectDatabase(join(dataDir, 'cambista.db'), { live: false }).close()
  }
})

test('a build refuses the database of an unreleased one with other tables of the same version', async (t) => {
  const [one, other, release] = await Promise.all([
    load(t, ['first']),
    load(t, ['second']),
    load(t, ['second'], true),
  ])
  const dataDir = await createDatabase(t, one)
  await assertRefused(other, dataDir, REFUSAL)
  await assertRefused(release, dataDir, REFUSAL)
  await one.openDatabase(dataDir).destroy()
})

test('a later build refuses the database of an unreleased schema', async (t) => {
  const dataDir = await createDatabase(t, await load(t, ['first']))
  for (const isReleased of [false, true]) {
    await assertRefused(await load(t, ['first', 'second'], isReleased), dataDir, REFUSAL)
  }
})

test('a release goes on with a database of the build before it, which is then one of the release', async (t) => {
  const [before, release, later] = await Promise.all([
    load(t, ['first']),
    load(t, ['first'], true),
    load(t, ['first', 'second'], true),
  ])
  const dataDir = await createDatabase(t, before)
  await (await release.openStandaloneReads(dataDir)).destroy()
  await release.openDatabase(dataDir).destroy()
  assert.deepEqual(Object.keys(readMeta(dataDir)), Object.keys(readMeta(await createDatabase(t, release))))
  await assertRefused(
    before,
    dataDir,
    new RegExp(`has schema version ${NEXT} of a release, .*: use that release$`),
  )
  await later.openDatabase(dataDir).destroy()
  assert.equal(readMeta(dataDir).schema_hash, undefined)
})

test('a database of a release has no hash', async (t) => {
  const release = await load(t, ['first'], true)
  const migrated = temporaryDirectory(t)
  emptyOlderSchema(migrated, RELEASED_SCHEMA).close()
  await release.openDatabase(migrated).destroy()
  for (const dataDir of [await createDatabase(t, release), migrated]) {
    assert.equal('schema_hash' in readMeta(dataDir), false)
  }
})
