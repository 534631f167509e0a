// cambista database: what an administrator types.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { openPostgres } from '../../../src/store/postgres/open-postgres.ts'
import { rawQuery } from '../../../src/store/postgres/raw-query.ts'
import { openNode } from '../../support/postgres/database.ts'
import { startPgbouncer } from '../../support/postgres/pgbouncer.ts'
import { createPostgresDatabase, createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'

const HASHES = ['a', 'b'].map((digit) => digit.repeat(64)) as [string, string]

test('the SQL that an administrator is shown makes a database that needs nothing more', async (t) => {
  const url = await createPostgresSchema()
  const dryRun = await database(url, 'upgrade', '--dry-run')
  assert.equal(dryRun.code, 0, dryRun.err)
  assert.match(dryRun.out, /^CREATE TABLE IF NOT EXISTS leases/)
  assert.deepEqual(await queryOnce(url, 'select 1 from pg_tables where schemaname = current_schema()'), [])
  await queryOnce(url, dryRun.out)
  assert.match((await database(url, 'upgrade', '--dry-run')).out, /has schema \d+, as it should be/)
  assert.equal(await (await openNode(t, url, { migrate: false })).isReady(), true)
})

test('database upgrade makes the tables, and the second time there is nothing to do', async () => {
  const url = await createPostgresSchema()
  assert.match((await database(url, 'upgrade')).out, /had no tables and has schema \d+ now/)
  assert.match((await database(url, 'upgrade')).out, /as it should be/)
  const json = JSON.parse((await database(url, 'upgrade', '--json')).out) as object
  assert.deepEqual(Object.keys(json), ['database', 'from', 'to', 'dry_run', 'statements'])
})

test('no command beside it and serve makes the tables', async (t) => {
  const url = await createPostgresDatabase(t)
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
    assert.match(err, /the database has no tables yet.*run cambista database upgrade/, words.join(' '))
  }
  assert.deepEqual(await queryOnce(url, 'select 1 from pg_tables where schemaname = current_schema()'), [])
})

test('both are refused for the database of a data directory', async (t) => {
  for (const name of ['upgrade', 'restored']) {
    const end = await runCommand(['database', name, '--data-dir', temporaryDirectory(t)])
    assert.equal(end.code, 2)
    assert.match(end.err, /give --database or --database-file/)
  }
})

test('`database restored` lists new ids, the gap and lost blobs', async (t) => {
  const { url, folder } = await withContents(t)
  const end = await database(url, 'restored', '--blobs', folder, '--blobs-shared')
  assert.equal(end.code, 3, end.err)
  assert.match(end.out, /the next document is 1000001\n/)
  assert.match(
    end.out,
    /what was answered from 20\d\d-.+Z to 20\d\d-.+Z is not known \(as_of\)\n2 contents, 1 of them/,
  )
  assert.deepEqual(await queryOnce(url, 'select sha256 from lost_contents'), [{ sha256: HASHES[1] }])
})

for (const [what, server] of [
  ['a dump on another server', `timeline = 9, server_id = '7'`],
  ['a base backup of an earlier timeline', 'timeline = 0'],
] as const)
  test(`${what} is of the nodes only after \`database restored\``, async (t) => {
    const { url, folder } = await withContents(t)
    const store = ['--blobs', folder, '--blobs-shared']
    await queryOnce(url, `update meta set ${server}`)
    const { code, err } = await database(url, 'restored', ...store)
    assert.equal(code, 3, err)
    assert.equal(await (await openNode(t, url)).isReady(), true)
  })

test('`database restored` is refused beside a session of cambista, which has no task and no lease', async (t) => {
  const { url, folder } = await withContents(t)
  const before = await queryOnce(url, 'select epoch from meta')
  const restore = () => database(url, 'restored', '--blobs', folder, '--blobs-shared')
  const node = await openPostgres(url)
  const beside = await restore()
  assert.deepEqual([beside.code, beside.out], [1, ''])
  assert.match(
    beside.err,
    /cambista uses this database \(\d sessions? from the machine of the database since 20\S+Z\): stop all nodes/,
  )
  await node.close()
  const other = await openPostgres(`${url}&application_name=rates`)
  const renamed = await database(
    `${url}&application_name=rates`,
    'restored',
    '--blobs',
    folder,
    '--blobs-shared',
  )
  assert.match(renamed.err, /cambista uses this database/, 'by the name in the address')
  await other.close()
  assert.deepEqual(await queryOnce(url, 'select epoch from meta'), before)
  // Leases of the backup: one that a node of then renews, which is no more.
  await queryOnce(
    url,
    `insert into leases (name, holder, fence, taken_at, expires_at)
     values ('scheduler', 'host a, pid 1, x', 3, now(), now() + interval '1 hour')`,
  )
  assert.equal((await restore()).code, 3, 'one content is missing')
  assert.notDeepEqual(await queryOnce(url, 'select epoch from meta'), before)
})

test('sessions that a pooler leaves open of stopped nodes end by the statement of the refusal', async (t) => {
  const { url, folder } = await withContents(t)
  const pooledUrl = await startPgbouncer(t, url, 'transaction')
  const node = await openPostgres(pooledUrl)
  await Promise.all(Array.from({ length: 4 }, () => rawQuery(node.db, 'select pg_sleep(0.2)')))
  await node.close()
  for (const address of [pooledUrl, url]) {
    const refused = await database(address, 'restored', '--blobs', folder, '--blobs-shared')
    assert.equal(refused.code, 1)
    const [, statement = ''] =
      /a pooler leaves open: (select pg_terminate_backend.+)$/m.exec(refused.err) ?? []
    assert.notEqual(statement, '', refused.err)
    if (address === url) await queryOnce(url, statement)
  }
  // The sessions end after the answer of that statement. Until then the command is refused.
  await until(async () => {
    const { code, err } = await database(url, 'restored', '--blobs', folder, '--blobs-shared')
    if (code === 1) assert.match(err, /cambista uses this database/)
    else assert.equal(code, 3, err)
    return code === 3
  })
})

test('sessions of another role count, without their host', async (t) => {
  const { url, folder } = await withContents(t)
  const role = `r${randomUUID().replaceAll('-', '')}`
  await queryOnce(url, `create role ${role} login; grant all on all tables in schema public to ${role}`)
  t.after(() => queryOnce(url.replace(/\/d\w+\?/, '/postgres?'), `drop role ${role}`)) // after its database
  const node = await openPostgres(url)
  t.after(() => node.close())
  const end = await database(
    url.replace('cambista@', `${role}@`),
    'restored',
    '--blobs',
    folder,
    '--blobs-shared',
  )
  assert.equal(end.code, 1)
  assert.match(end.err, /cambista uses this database \(\d sessions? of another role\)/)
})

async function withContents(t: TestContext) {
  const url = await createPostgresDatabase(t)
  const folder = temporaryDirectory(t)
  await (await openPostgres(url)).close()
  for (const sha256 of HASHES) {
    await queryOnce(url, `insert into contents (sha256, size, created_at) values ('${sha256}', 1, 'then')`)
  }
  const path = blobPath(folder, HASHES[0])
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(join(path), 'x')
  return { url, folder }
}

function database(url: string, ...words: string[]) {
  return runCommand(['database', ...words], { CAMBISTA_DATABASE: url })
}
