// An older database, brought up to date, row by row.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { SCHEMA_VERSION } from '../../../../src/store/migrations.ts'
import { openDatabase } from '../../../../src/store/sqlite/database.ts'
import { fillDirectory } from '../../../support/move/filled-directory.ts'
import { emptyOlderSchema, OLDER_SCHEMAS } from '../../../support/older-schema.ts'
import { temporaryDirectory } from '../../../support/temporary.ts'

type Row = Record<string, string | number | null>

/** Tables without rows in the filled directory. */
const EMPTY_TABLES = new Set(['document_counts'])

type Dump = Record<string, Row[]>

/** Every row of every table, in the order of its columns, and the counters. */
function dump(path: string): Dump {
  const sqlite = new Sqlite(path, { readonly: true })
  const names = sqlite
    .prepare("select name from sqlite_schema where type = 'table'")
    .pluck()
    .all() as string[]
  const rows = names.map((name) => {
    const all = sqlite.prepare(`select * from ${name}`).all() as Row[]
    return [name, all.toSorted((a, b) => (Object.values(a).join() < Object.values(b).join() ? -1 : 1))]
  })
  sqlite.close()
  return Object.fromEntries(rows)
}

function pragma(path: string, text: string): unknown {
  const sqlite = new Sqlite(path, { readonly: true })
  try {
    return sqlite.pragma(text, { simple: true })
  } finally {
    sqlite.close()
  }
}

async function upgrade(t: TestContext, version: number) {
  const dataDir = temporaryDirectory(t)
  const path = join(dataDir, 'cambista.db')
  const older = emptyOlderSchema(dataDir, version)
  older.exec(`
    insert into losses values ('2026-03-24', '2026-03-25');
    insert into orphaned_contents values ('o', 's', 1, '2026-03-24');
  `)
  older.close()
  await fillDirectory(dataDir, { rates: 200, documents: 9 })
  const before = dump(path)
  await openDatabase(dataDir).destroy()
  return { dataDir, path, before, after: dump(path) }
}

for (const version of OLDER_SCHEMAS) {
  test(`upgrading schema ${version} preserves every row and counter`, async (t) => {
    const { path, before, after } = await upgrade(t, version)
    for (const [name, rows] of Object.entries(before)) {
      assert.ok(rows.length > 0 || EMPTY_TABLES.has(name), `${name} has rows`)
      const columns = Object.keys(rows[0] ?? {})
      const upgradedRows = (after[name] ?? []).map((row) =>
        Object.fromEntries(columns.map((one) => [one, row[one]])),
      )
      assert.deepEqual(upgradedRows, rows, name)
    }
    assert.equal(pragma(path, 'integrity_check'), 'ok')
    assert.equal(pragma(path, 'foreign_key_check'), undefined)
    assert.equal(pragma(path, 'user_version'), SCHEMA_VERSION)
  })

  test(`upgrading schema ${version} leaves a copy with every row but sign-ins and links, another epoch and higher counters`, async (t) => {
    const { dataDir, before } = await upgrade(t, version)
    const [name = ''] = readdirSync(dataDir).filter((one) => one.endsWith('.bak'))
    assert.match(name, new RegExp(`^cambista\\.db\\.v${version}-[-\\dTZ]+\\.bak$`))
    const { meta, sqlite_sequence: counters, ...rows } = dump(join(dataDir, name))
    const { meta: metaBefore, sqlite_sequence: countersBefore, ...rowsBefore } = before
    const signedOut = Object.keys(rowsBefore).filter((name) =>
      /^(login_links|upload_links|page_\w+)$/.test(name),
    )
    assert.deepEqual(rows, { ...rowsBefore, ...Object.fromEntries(signedOut.map((name) => [name, []])) })
    assert.notEqual(meta?.[0]?.epoch, metaBefore?.[0]?.epoch)
    const last = new Map(counters?.map((row) => [row.name, Number(row.seq)]))
    for (const row of countersBefore ?? []) {
      assert.ok((last.get(row.name ?? '') ?? 0) >= 1_000_000 + Number(row.seq), String(row.name))
    }
    assert.equal(pragma(join(dataDir, name), 'user_version'), version)
  })
}

test('upgrading schema 25 lists its refused mails', async (t) => {
  const { after } = await upgrade(t, 25)
  assert.deepEqual(
    after.mail_left?.map((row) => ({ ...row })),
    after.mail_refusals?.map((row) => ({ ...row, from_text: null, subject: null, parts: '[]' })),
  )
  assert.equal(after.mail_left?.length, 2)
})
