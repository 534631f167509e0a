// Databases and backup sets with a schema that is too old for a migration. Each command refuses them and changes
// nothing.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { pruneBackups } from '../../../../src/domain/operations/backup/backup.ts'
import { openBackupSet } from '../../../../src/domain/operations/backup/set.ts'
import { FIRST_SCHEMA, RELEASED_SCHEMA, SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { openSqliteEngine } from '../../../../src/store/sqlite/sqlite-engine.ts'
import { type BackupSource, NOW, openBackupSource } from '../../../support/backups.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const TOO_OLD = FIRST_SCHEMA - 1
const ADVICE =
  'open or restore it with cambista 0.2.0 (its release, or commit 8eb66e7) first (cambista manual upgrades)'

const refusalMessage = (path: string, version = TOO_OLD) =>
  `${path} has schema version ${version}, this program knows ${FIRST_SCHEMA} to ${SCHEMA_VERSION}: ${ADVICE}`

function setVersion(path: string, version: number): void {
  const sqlite = new Sqlite(path)
  sqlite.pragma('journal_mode = delete')
  sqlite.pragma(`user_version = ${version}`)
  if (SCHEMA_VERSION > RELEASED_SCHEMA) sqlite.exec('update meta set schema_hash = null') // as a release
  sqlite.close()
}

async function createDataDir(t: TestContext, version: number) {
  const dataDir = temporaryDirectory(t)
  await temporaryDatabase(t, dataDir).destroy()
  const path = join(dataDir, 'cambista.db')
  setVersion(path, version)
  const bytes = readFileSync(path)
  const assertUnchanged = () => {
    assert.ok(readFileSync(path).equals(bytes))
    const names = readdirSync(dataDir).filter((name) => !/\.lock(-journal)?$/.test(name))
    assert.deepEqual(names, ['cambista.db'])
  }
  return { dataDir, path, assertUnchanged }
}

/** Makes a backup whose schema is too old, and returns the path of its database. */
async function makeOldSet(source: BackupSource): Promise<string> {
  const { path: dir } = await source.backUp()
  const path = join(dir, 'cambista.db')
  setVersion(path, TOO_OLD)
  const bytes = readFileSync(path)
  const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'))
  manifest.schema = TOO_OLD
  manifest.database = { file: 'cambista.db', bytes: bytes.length, sha256: hash('sha256', bytes) }
  writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
  return path
}

for (let version = 1; version < FIRST_SCHEMA; version++) {
  test(`openDatabase refuses schema ${version} and leaves the file as it is`, async (t) => {
    const { dataDir, path, assertUnchanged } = await createDataDir(t, version)
    assert.throws(() => openDatabase(dataDir), { code: 'failed', message: refusalMessage(path, version) })
    assertUnchanged()
  })
}

test('a server refuses a schema that is too old', async (t) => {
  const { dataDir, path, assertUnchanged } = await createDataDir(t, TOO_OLD)
  await assert.rejects(openSqliteEngine(dataDir, { server: true }), { message: refusalMessage(path) })
  assertUnchanged()
  const end = await runCommand(['serve', '--port', '0', '--no-scheduler', '--data-dir', dataDir])
  assert.deepEqual([end.code, end.out], [1, ''])
  assert.ok(end.err.endsWith(`cambista: ${refusalMessage(path)}\n`), end.err)
  assertUnchanged()
})

for (const words of [['key', 'list'], ['sync'], ['backup', 'create', 'SET'], ['doctor', '--repair']]) {
  test(`\`${words.join(' ')}\` refuses a schema that is too old`, async (t) => {
    const { dataDir, path, assertUnchanged } = await createDataDir(t, TOO_OLD)
    const set = join(temporaryDirectory(t), 'set')
    const { code, err } = await runCommand([
      ...words.map((one) => (one === 'SET' ? set : one)),
      '--data-dir',
      dataDir,
    ])
    assert.equal(code, 1)
    assert.ok(err.endsWith(`cambista: ${refusalMessage(path)}\n`), err)
    assertUnchanged()
  })
}

test('`doctor` names a schema that is too old as a finding of the database', async (t) => {
  const { dataDir, path, assertUnchanged } = await createDataDir(t, TOO_OLD)
  const { out } = await runCommand(['doctor', '--json', '--data-dir', dataDir])
  const { findings } = JSON.parse(out) as { findings: { about: string; message: string }[] }
  const [finding] = findings.filter(({ message }) => message.includes('schema version'))
  assert.equal(finding?.message, refusalMessage(path), out)
  assertUnchanged()
})

test('`backup verify` and `backup restore` refuse a set whose schema is too old', async (t) => {
  const source = await openBackupSource(t, 'hola')
  const path = await makeOldSet(source)
  const files = () => readdirSync(source.setDir, { recursive: true, encoding: 'utf8' }).toSorted()
  const before = files()
  const verified = await runCommand(['backup', 'verify', source.setDir])
  assert.equal(verified.code, 1)
  assert.match(
    verified.out + verified.err,
    /has schema version 11, this program knows 12 to \d+: open or restore it with cambista 0\.2\.0 /,
  )
  const restored = join(source.home, 'restored')
  const end = await runCommand(['backup', 'restore', source.setDir, '--data-dir', restored])
  assert.equal(end.code, 1)
  assert.ok(end.err.includes(refusalMessage(path)), end.err)
  assert.equal(existsSync(restored), false)
  assert.deepEqual(files(), before)
})

test('pruning preserves the blobs of a set whose schema is too old', async (t) => {
  const source = await openBackupSource(t, 'hola')
  await source.backUp(new Date(NOW.getTime() - 86_400_000))
  await makeOldSet(source)
  const { name } = await source.backUp(new Date(NOW.getTime() + 86_400_000))
  const set = await openBackupSet(source.setDir, source.dataDir)
  t.after(() => set.close())
  assert.deepEqual(await pruneBackups(set, 2, name), { removed: ['2026-03-23T09-30-00Z'], blobs: 0 })
  assert.ok(existsSync(source.blobPath(hash('sha256', 'hola'), source.setDir)))
})
