// A data directory that moves to a database and a shared blob store. Everything is moved once, however often the move
// is interrupted. After it the cluster serves, and the directory is refused.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { type MoveRequest, moveDataDir } from '../../../src/domain/operations/move/move.ts'
import { readAsset } from '../../../src/runtime/assets.ts'
import { blobPath } from '../../../src/store/blobs/commit.ts'
import { MOVED_TABLES } from '../../../src/store/cluster/all-rows.ts'
import { DATABASE_FILE } from '../../../src/store/sqlite/database.ts'
import { openSqliteEngine } from '../../../src/store/sqlite/sqlite-engine.ts'
import type { BlobStoreConfig } from '../../../src/store/storage-config.ts'
import { figure, scaled } from '../../faults/scale.ts'
import { startFakeBucket } from '../../support/bucket/fake-bucket.ts'
import { assertMoved } from '../../support/move/assert-moved.ts'
import { fillDirectory } from '../../support/move/filled-directory.ts'
import { openNode } from '../../support/postgres/database.ts'
import { startProxy } from '../../support/postgres/proxy.ts'
import { createPostgresSchema, queryOnce } from '../../support/postgres/server.ts'
import { createRandom } from '../../support/rates/random-bank.ts'
import { SEED } from '../../support/seed.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { runCommand, until } from '../../support/terminal.ts'

const SMALL = { rates: 2500, documents: 90 }
const [KILLS, STEP] = [scaled({ short: 2, long: 20 }), scaled({ short: 60, long: 5 })]

const NOT_MOVED = [
  'record_end',
  'page_sessions',
  'page_tickets',
  'upload_links',
  'contents',
  'removed_objects',
  'losses',
  'orphaned_contents',
  'document_counts',
]

test('every table of a data directory but sessions and contents is moved, after those that it refers to', () => {
  const database = new Sqlite(':memory:')
  database.exec(readAsset('schema.sql'))
  const tables = database
    .prepare(
      `select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' and name <> 'meta'`,
    )
    .pluck()
    .all() as string[]
  assert.deepEqual([...MOVED_TABLES, ...NOT_MOVED].sort(), tables.sort())
  for (const [at, table] of MOVED_TABLES.entries()) {
    const parents = database.prepare(`select "table" from pragma_foreign_key_list(?)`).pluck().all(table)
    for (const parent of parents) assert.ok(MOVED_TABLES.indexOf(parent as never) < at, `${table} ${parent}`)
  }
})

test('`cluster import` moves all rows with their ids, records lost blobs, and locks the directory', async (t) => {
  const { dataDir, folder, url, filled } = await prepared(t)
  const result = await move({ dataDir, folder, url })
  assert.ok(result)
  assert.deepEqual(
    result.lost.map(({ sha256, fault }) => [sha256, fault.replace(/ \(.+/, '')]).sort(),
    [
      [filled.altered, 'is altered'],
      [filled.missing, 'is missing'],
    ].sort(),
  )
  await assertMoved(t, { dataDir, folder, url, filled })
  const unknown = await queryOnce(
    url,
    `select relname from pg_class where relkind = 'r' and reltuples < 0
       and relname in ('${MOVED_TABLES.join("', '")}') and relnamespace = current_schema()::regnamespace`,
  )
  assert.deepEqual(unknown, [], 'the database is to know of its rows when the first node reads them')
  await assert.rejects(openSqliteEngine(dataDir), /are in .+ since 20.+Serve them with --database/)
  const end = await runCommand(['key', 'create', 'a', '--data-dir', dataDir])
  assert.equal(end.code, 1)
  assert.match(end.err, /MOVED/)
  const looked = await runCommand(['doctor', '--data-dir', dataDir])
  assert.match(looked.out, /^note +The data of \S+ are in .+ since 20/m)
  assert.equal(await move({ dataDir, folder, url }), undefined)
  const words = ['cluster', 'import', '--to', url, '--blobs', folder, '--blobs-shared', '--data-dir', dataDir]
  const again = await runCommand(words)
  assert.deepEqual([again.code, again.err], [0, ''])
  assert.match(again.out, /was moved already: The data of \S+ are in .+ since 20/)
  const usedUrl = await createPostgresSchema()
  await openNode(t, usedUrl)
  await assert.rejects(move({ dataDir, folder, url: usedUrl }), /in use already/)
})

test('a move whose last commit is cut off ends or can be repeated', async (t) => {
  for (const fate of ['lose', 'cut'] as const) {
    const { dataDir, folder, url, filled } = await prepared(t)
    const proxy = await startProxy(t, url)
    let last: number | undefined
    proxy.decide((text, connection) => {
      if (text.startsWith('update meta set moving_from = null')) last = connection
      if (text !== 'commit' || connection !== last) return 'pass'
      last = undefined
      return fate
    })
    const end = move({ dataDir, folder, url: proxy.url })
    if (fate === 'lose') assert.ok(await end)
    else await assert.rejects(end, { code: 'PG_COMMIT_UNKNOWN' })
    assert.equal(await hasMoved(url), fate === 'lose')
    assert.equal((await move({ dataDir, folder, url })) === undefined, fate === 'lose')
    await assertMoved(t, { dataDir, folder, url, filled })
  }
})

test('a move that is killed at any time goes on, and until its end the directory is the one to serve', async (t) => {
  const { dataDir, folder, url, filled } = await prepared(t)
  const proxy = await startProxy(t, url)
  let kills = 0
  for (let last = STEP; last <= KILLS * STEP; last += STEP) {
    const child = spawnMigrate({ dataDir, folder, url: proxy.url })
    let statements = 0
    proxy.decide(() => {
      statements += 1
      if (statements === last) child.kill('SIGKILL')
      return 'pass'
    })
    const [code] = await once(child, 'exit')
    if (code !== null) break
    kills += 1
    await until(() => takeable(url)) // the connection of the dead, which may still commit
    if (existsSync(join(dataDir, 'MOVED'))) continue
    await (await openSqliteEngine(dataDir, { server: true })).close()
    const state = await queryOnce(url, 'select moving_from from meta').catch(() => [])
    if (state.length > 0) await assert.rejects(openNode(t, url), /are being moved into this database/)
  }
  assert.equal(kills, KILLS)
  proxy.decide(() => 'pass')
  await move({ dataDir, folder, url })
  await assertMoved(t, { dataDir, folder, url, filled })
})

test('a large move that is killed at random statements, or after them, ends with all rows and contents', async (t) => {
  const size = scaled({ short: 0.01, long: 1 })
  const { dataDir, folder, url, filled } = await prepared(t, {
    rates: size * 750_000,
    documents: size * 10_000,
  })
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const proxy = await startProxy(t, url)
  let kills = 0
  while (kills < scaled({ short: 3, long: 20 }) && !(await hasMoved(url))) {
    const child = spawnMigrate({ dataDir, folder, url: proxy.url })
    const last = random.int(1, scaled({ short: 2 * 60, long: 3000 }))
    const delayMs = kills === 0 ? 0 : random.int(0, scaled({ short: 100, long: 3000 }))
    let statements = 0
    proxy.decide(() => {
      statements += 1
      if (statements === last) setTimeout(() => child.kill('SIGKILL'), delayMs)
      return 'pass'
    })
    const [code] = await once(child, 'exit')
    if (code === null) kills += 1
    await takeable(url)
  }
  figure(t, 'kills', kills)
  assert.ok(kills > 0)
  if (!(await hasMoved(url))) await move({ dataDir, folder, url })
  await assertMoved(t, { dataDir, folder, url, filled })
})

test('a directory that was served after its move was begun is not taken for what it was', async (t) => {
  const { dataDir, folder, url } = await prepared(t)
  const stop = new AbortController()
  const progress = (what: string) => what === 'agents' && stop.abort()
  await assert.rejects(
    move({ dataDir, folder, url, progress, signal: stop.signal }),
    /stopped before the end/,
  )
  const database = new Sqlite(join(dataDir, DATABASE_FILE))
  database.exec(`update rates set value = '9' where series_id = 3 and rate_date = '1983-01-02'`)
  database.close()
  await assert.rejects(
    move({ dataDir, folder, url }),
    /rows of rates are not the .+ begin anew with an empty database/,
  )
  assert.equal(existsSync(join(dataDir, 'MOVED')), false)
})

test('no other process changes the data directory while it is moved', async (t) => {
  const { dataDir, folder, url, filled } = await prepared(t)
  const other = new Sqlite(join(dataDir, DATABASE_FILE), { timeout: 0 })
  t.after(() => other.close())
  const refusals = new Set<string>()
  const progress = (what: string) => {
    assert.throws(() => other.exec('begin immediate'), { code: 'SQLITE_BUSY' })
    refusals.add(what)
  }
  await move({ dataDir, folder, url, progress })
  assert.ok(refusals.has('contents') && refusals.has('companies') && refusals.has('documents'))
  await assertMoved(t, { dataDir, folder, url, filled })
})

test('`cluster import` rejects data that cannot be moved, and changes nothing', async (t) => {
  const { dataDir, folder, url } = await prepared(t)
  const server = await openSqliteEngine(dataDir, { server: true })
  await assert.rejects(move({ dataDir, folder, url }), /in use by another server/)
  const sync = await server.takeLock('sync')
  await server.close()
  await assert.rejects(move({ dataDir, folder, url }), /a sync is running/)
  await sync?.release()
  const usedUrl = await createPostgresSchema()
  await openNode(t, usedUrl)
  await assert.rejects(move({ dataDir, folder, url: usedUrl }), /in use already/)
  assert.deepEqual(await queryOnce(url, 'select 1 from pg_tables where schemaname = current_schema()'), [])
  const database = new Sqlite(join(dataDir, DATABASE_FILE))
  database.exec(`update owners set name = 'a' || char(0) || 'b'`)
  database.close()
  await assert.rejects(move({ dataDir, folder, url }), /a row of owners has a text with the character NUL/)
  const end = await runCommand(['cluster', 'import', '--data-dir', dataDir])
  assert.equal(end.code, 2)
  assert.match(end.err, /the target is missing/)
})

test('contents that are in the shared folder already stay where they are', async (t) => {
  const { dataDir, url, filled } = await prepared(t)
  const folder = join(dataDir, 'blobs')
  const inode = statSync(blobPath(folder, filled.contents[0] ?? '')).ino
  await move({ dataDir, folder, url })
  assert.equal(statSync(blobPath(folder, filled.contents[0] ?? '')).ino, inode)
  await assertMoved(t, { dataDir, folder, url, filled })
})

test('contents go to a bucket as well, where the doctor finds all of them', async (t) => {
  const { dataDir, folder, url, filled } = await prepared(t)
  const { bucket, endpoint, region, credentials } = await startFakeBucket(t)
  process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
  process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey
  const blobs = { bucket, prefix: 'of/cambista', endpoint, region }
  const stop = new AbortController()
  const progress = (what: string) => what === 'agents' && stop.abort()
  await assert.rejects(move({ dataDir, folder, url, blobs, progress, signal: stop.signal }), /stopped before/)
  const objects = await queryOnce(url, 'select object from contents order by 1')
  await move({ dataDir, folder, url, blobs })
  await assertMoved(t, { dataDir, folder, url, filled, blobs })
  assert.deepEqual(
    await queryOnce(url, 'select object from contents order by 1'),
    objects,
    'none was sent twice',
  )
  const words = ['doctor', '--read-all', '--blobs', `s3://${bucket}/of/cambista`, '--s3-endpoint', endpoint]
  const end = await runCommand([...words, '--s3-region', region], { CAMBISTA_DATABASE: url })
  assert.match(end.out, /44 contents of documents, all read/, end.err)
  assert.doesNotMatch(end.out, /FINDING {2}contents|belong to no document/)
})

test('`cluster import` prints the counts of moved data', async (t) => {
  const { dataDir, folder, url } = await prepared(t)
  const words = ['cluster', 'import', '--to', url, '--blobs', folder, '--blobs-shared', '--data-dir', dataDir]
  const end = await runCommand(words)
  assert.equal(end.code, 3, end.err)
  assert.match(end.err, /content [0-9a-f]{64} is missing: it is not moved/)
  assert.match(end.out, /is moved to .+: \d+ rows \(2500 rates, 90 documents\), 44 contents of \d+ bytes/)
  assert.match(end.out, /hook\.key/)
})

async function prepared(t: TestContext, size = SMALL) {
  const dataDir = temporaryDirectory(t)
  const filled = await fillDirectory(dataDir, size)
  const source = new Sqlite(join(dataDir, DATABASE_FILE))
  source.exec('update documents set lease_ends = 700000 where id = 1') // by a server that is gone
  source.close()
  return { dataDir, filled, folder: temporaryDirectory(t), url: await createPostgresSchema() }
}

type Where = { dataDir: string; folder: string; url: string; blobs?: BlobStoreConfig }

function move({
  dataDir,
  folder,
  url,
  blobs = { folder },
  ...more
}: Where & Partial<Pick<MoveRequest, 'progress' | 'signal'>>) {
  return moveDataDir({
    ...{ dataDir, to: { dataDir, database: url, blobs } },
    ...{ signal: new AbortController().signal, progress: () => {}, ...more },
  })
}

function spawnMigrate({ dataDir, folder, url }: Where): ChildProcess {
  const args = [
    'test/support/cambista.ts',
    'cluster',
    'import',
    '--data-dir',
    dataDir,
    '--blobs',
    folder,
    '--blobs-shared',
  ]
  const env = { PATH: process.env.PATH, CAMBISTA_DATABASE: url }
  return spawn(process.execPath, args, { env, stdio: 'ignore', cwd: join(import.meta.dirname, '../../..') })
}

async function takeable(url: string): Promise<boolean> {
  const tables = await queryOnce(
    url,
    `select 1 from pg_tables where schemaname = current_schema() and tablename = 'leases'`,
  )
  if (tables.length > 0)
    await queryOnce(url, `update leases set expires_at = clock_timestamp() - interval '1 s'`)
  return true
}

async function hasMoved(url: string): Promise<boolean> {
  const rows = await queryOnce(url, 'select 1 from meta where moving_from is null').catch(() => [])
  return rows.length > 0
}
