// The copy from before a migration replaces the database: when an upgrade goes back, or with a loss of data.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import {
  countNewRows,
  findEarlierDatabase,
  listCopies,
  putCopyBack,
  removeLaterDatabases,
  useCopy,
} from '../../../../src/domain/operations/earlier-database.ts'
import { SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { copyBeforeMigration } from '../../../../src/store/sqlite/migration-copy.ts'
import { makeDirectory } from '../../../support/company.ts'
import { fillTables } from '../../../support/directory.ts'
import { insertTestMailbox } from '../../../support/mail/mailboxes.ts'
import { emptyOlderSchema, OLDEST_SCHEMA } from '../../../support/older-schema.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

/** Makes a data directory of the oldest schema, and migrates it. */
async function migratedDirectory(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  emptyOlderSchema(dataDir).close()
  mkdirSync(join(dataDir, 'blobs'))
  const db = openDatabase(dataDir)
  t.after(() => db.destroy())
  return { dataDir, db }
}

function readSchema(path: string): unknown {
  const sqlite = new Sqlite(path)
  const version = sqlite.pragma('user_version', { simple: true })
  sqlite.close()
  return version
}

const DATABASE = 'cambista.db'
const ROOT = join(import.meta.dirname, '../../../..')
const list = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => name.startsWith(DATABASE))
    .sort()

const RETURN = { schema: OLDEST_SCHEMA, copies: [] }

test('a copy is put back without the log of the migrated database, and a second call changes nothing', async (t) => {
  const { dataDir, db } = await migratedDirectory(t)
  await db.updateTable('meta').set({ data_revision: 77 }).execute() // is in the log alone
  assert.ok(statSync(join(dataDir, `${DATABASE}-wal`)).size > 0)
  await db.destroy()
  writeFileSync(join(dataDir, `${DATABASE}-wal`), 'of a killed server')
  putCopyBack(dataDir, RETURN)
  assert.deepEqual([list(dataDir), readSchema(join(dataDir, DATABASE))], [[DATABASE], OLDEST_SCHEMA])
  putCopyBack(dataDir, RETURN)
  assert.deepEqual(list(dataDir), [DATABASE])
})

test('a copy that is put back has the mailboxes as they were, and one that is used has them paused', async (t) => {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openDatabase(dataDir)
  for (const name of ['a', 'b', 'c']) await insertTestMailbox(db, { name, folder: name })
  const paused_at = '2026-03-24T12:00:00.000Z'
  await db
    .updateTable('mailboxes')
    .set({ paused_at, pause_reason: 'restore' })
    .where('name', '=', 'b')
    .execute()
  await db
    .updateTable('mailboxes')
    .set({ paused_at, pause_reason: 'operator' })
    .where('name', '=', 'c')
    .execute()
  await db.destroy()
  mkdirSync(join(dataDir, 'blobs'))
  const file = join(dataDir, DATABASE)
  const reasons = () => {
    const sqlite = new Sqlite(file)
    const rows = sqlite.prepare('select pause_reason from mailboxes order by id').pluck().all()
    sqlite.close()
    return rows
  }
  useCopy(dataDir, copyBeforeMigration(file, SCHEMA_VERSION - 1))
  assert.deepEqual(reasons(), ['restore', 'restore', 'operator'])
  putCopyBack(dataDir, { schema: SCHEMA_VERSION - 1, copies: [] })
  assert.deepEqual([reasons(), listCopies(dataDir)], [[null, 'restore', 'operator'], []])
})

test('neither an earlier copy nor that of another schema is put back', async (t) => {
  const { dataDir, db } = await migratedDirectory(t)
  await db.destroy()
  writeFileSync(join(dataDir, `${DATABASE}.v${OLDEST_SCHEMA - 1}-2031-01-01T00-00-00Z.bak`), '')
  putCopyBack(dataDir, { schema: OLDEST_SCHEMA, copies: listCopies(dataDir) })
  assert.deepEqual([list(dataDir).length, readSchema(join(dataDir, DATABASE))], [3, SCHEMA_VERSION])
})

test('no copy is put back while a process uses the database', async (t) => {
  const { dataDir, db } = await migratedDirectory(t)
  await db.selectFrom('meta').selectAll().execute()
  const program = `const db = new (require('better-sqlite3'))(${JSON.stringify(join(dataDir, DATABASE))})
    db.prepare('select * from meta').all(); console.log('open'); setTimeout(() => {}, 60_000)`
  await db.destroy()
  const other = spawn(process.execPath, ['-e', program], { cwd: ROOT })
  t.after(() => other.kill())
  await once(other.stdout, 'data')
  assert.throws(() => putCopyBack(dataDir, RETURN), /another process uses .*cambista\.db: end it \(fuser -v/)
  assert.equal(list(dataDir).filter((name) => name.endsWith('.bak')).length, 1)
})

test('rows that the copy lacks are counted', async (t) => {
  const { dataDir, db } = await migratedDirectory(t)
  await fillTables(db)
  const document = {
    company_id: 1,
    agent_id: 1,
    owner_id: 1,
    attachment_id: 1,
    name: 'a',
    created_at: '2026',
  }
  const attachment = { name: 'a', mimetype: 'a/b', size: 1, sha256: 'a'.repeat(64), created_at: '2026' }
  await db.insertInto('attachments').values([attachment, attachment]).execute()
  await db
    .insertInto('documents')
    .values([1, 2].map((attachment_id) => ({ ...document, attachment_id })))
    .execute()
  const event = { document_id: 1, at: '2026-03-24T00:00:00.000Z', actor: 'a', via: 'token' } as const
  const kinds = ['created', 'claimed', 'done'] as const
  await db
    .insertInto('events')
    .values(kinds.map((kind) => ({ ...event, kind })))
    .execute()
  const copy = findEarlierDatabase(dataDir, OLDEST_SCHEMA) ?? assert.fail()
  const counts = await countNewRows(dataDir, copy)
  assert.deepEqual(counts, { documents: 2, claims: 1, corrections: 0, keys: 12 })
})

test('a copy is used, and the later database stays until it is removed', async (t) => {
  const { dataDir, db } = await migratedDirectory(t)
  await db.destroy()
  const copy = findEarlierDatabase(dataDir, OLDEST_SCHEMA) ?? assert.fail()
  const later = useCopy(dataDir, copy)
  assert.deepEqual([readSchema(join(dataDir, DATABASE)), readSchema(later)], [OLDEST_SCHEMA, SCHEMA_VERSION])
  assert.ok(existsSync(copy) && existsSync(join(dataDir, 'blobs/held')))
  assert.equal(statSync(join(dataDir, DATABASE)).mode & 0o777, 0o600)
  writeFileSync(`${later}-wal`, '')
  assert.equal(removeLaterDatabases(dataDir).length, 2)
  assert.ok(!existsSync(later) && existsSync(copy) && !existsSync(join(dataDir, 'blobs/held')))
})
