// cambista database: what an administrator types.

import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobPath } from '../../../src/store/blobs/place.ts'
import { openNode } from '../../support/postgres/database.ts'
import { ask, postgresSchemaFor } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand } from '../../support/terminal.ts'

const HASHES = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]

test('the SQL that an administrator is shown makes a database that needs nothing more', async (t) => {
  const url = await postgresSchemaFor(t)
  const shown = await database(url, 'migrate', '--dry-run')
  assert.equal(shown.code, 0, shown.err)
  assert.match(shown.out, /^CREATE TABLE IF NOT EXISTS leases/)
  assert.deepEqual(await ask(url, 'select 1 from pg_tables where schemaname = current_schema()'), [])
  await ask(url, shown.out)
  assert.match((await database(url, 'migrate', '--dry-run')).out, /has schema \d+, as it should be/)
  assert.equal(await (await openNode(t, url, { migrate: false })).isReady(), true)
})

test('database migrate makes the tables, and the second time there is nothing to do', async (t) => {
  const url = await postgresSchemaFor(t)
  assert.match((await database(url, 'migrate')).out, /had no tables and has schema \d+ now/)
  assert.match((await database(url, 'migrate')).out, /as it should be/)
  const json = JSON.parse((await database(url, 'migrate', '--json')).out) as object
  assert.deepEqual(Object.keys(json), ['database', 'from', 'to', 'dry_run', 'statements'])
})

test('no command beside it and serve makes the tables', async (t) => {
  const url = await postgresSchemaFor(t)
  const blobs = ['--blobs', temporaryDirectory(t), '--blobs-shared']
  const commands = [
    ['key', 'create', 'erp'],
    ['company', 'create', '--name', 'Acme', '--code', 'ACME'],
    ['sync', '--from', '2026-03-01', '--to', '2026-03-02'],
    ['token', 'list'],
    ['document', 'delete', '1', ...blobs],
    ['doctor', ...blobs],
    ['database', 'restored', ...blobs],
  ]
  for (const words of commands) {
    const { code, out, err } = await runCommand(words, { CAMBISTA_DATABASE: url })
    assert.deepEqual([code, out], [1, ''], words.join(' '))
    assert.match(err, /the database has no tables yet.*run cambista database migrate/, words.join(' '))
  }
  assert.deepEqual(await ask(url, 'select 1 from pg_tables where schemaname = current_schema()'), [])
})

test('both are refused for the database of a data directory', async (t) => {
  for (const name of ['migrate', 'restored']) {
    const end = await runCommand(['database', name, '--data-dir', temporaryDirectory(t)])
    assert.equal(end.code, 2)
    assert.match(end.err, /give --database or --database-file/)
  }
})

test('database restored says what is new, and what is gone', async (t) => {
  const { url, folder } = await withContents(t)
  const end = await database(url, 'restored', '--blobs', folder, '--blobs-shared')
  assert.equal(end.code, 3, end.err)
  assert.match(end.out, /the next document is 1000001\n/)
  assert.match(
    end.out,
    /what was answered from 20\d\d-.+Z to 20\d\d-.+Z is not known \(as_of\)\n2 contents, 1 of them/,
  )
  assert.deepEqual(await ask(url, 'select sha256 from lost_contents'), [{ sha256: HASHES[1] }])
})

async function withContents(t: TestContext) {
  const url = await postgresSchemaFor(t)
  const folder = temporaryDirectory(t)
  await openNode(t, url)
  for (const sha256 of HASHES) {
    await ask(url, `insert into contents (sha256, size, created_at) values ('${sha256}', 1, 'then')`)
  }
  const path = blobPath(folder, HASHES[0])
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(join(path), 'x')
  return { url, folder }
}

function database(url: string, ...words: string[]) {
  return runCommand(['database', ...words], { CAMBISTA_DATABASE: url })
}
