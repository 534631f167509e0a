// Contents that no row names: few are removed, many are moved into `removed/`. A later database brings them back.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { collectGarbage, type GcResult, logGarbage } from '../../../../src/domain/documents/gc.ts'
import { openServedBlobs } from '../../../../src/domain/documents/served-blobs.ts'
import { createLog } from '../../../../src/runtime/log.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import { splitBatches } from '../../../../src/store/batches.ts'
import type { Blobs } from '../../../../src/store/blobs/blobs.ts'
import { blobPath } from '../../../../src/store/blobs/commit.ts'
import { openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { insertAttachments } from '../../../../src/store/documents/attachments.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { blobHashes, makeDirectory, storeTexts } from '../../../support/company.ts'
import {
  ofSqlite,
  openTestDatabase,
  temporaryDatabase,
  temporaryDirectory,
} from '../../../support/temporary.ts'
import { runCommand } from '../../../support/terminal.ts'

const NOW = '2026-03-24T12:00:00.000Z'
const NOTHING: GcResult = { removed: 0, kept: 0, unnamed: 0, unfinished: 0 }
const digest = (text: string) => createHash('sha256').update(text).digest('hex')

async function ground(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const dir = join(dataDir, 'blobs')
  return { dir, db: temporaryDatabase(t, dataDir), blobs: await openBlobFolder(dir) }
}

function leave(dir: string, text: string): void {
  const path = blobPath(dir, digest(text))
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
}

function collect(db: WriteDb, blobs: Blobs, now = NOW): Promise<GcResult> {
  const gc = { db, clock: () => new Date(now), blobs, keepRemovedDays: 8, isAlone: true }
  return collectGarbage(gc, undefined, new AbortController().signal)
}

const listRemoved = (dir: string) =>
  existsSync(join(dir, 'removed')) ? readdirSync(join(dir, 'removed')).sort() : []

for (const [orphans, others, moves] of [
  [1, 100, false],
  [1, 99, true],
  [100, 10_000, false],
  [101, 10_100, true],
] as const) {
  const all = `${orphans} of ${orphans + others} contents`
  test(`gc ${moves ? 'moves' : 'removes'} ${all} that no row names`, async (t) => {
    const { dir, db, blobs } = await ground(t)
    const hashes = Array.from({ length: others }, (_, at) => digest(`named ${at}`))
    for (const some of splitBatches(hashes, 500)) {
      const files = some.map((sha256) => ({
        name: 'a',
        mimetype: 'text/plain',
        size: 1,
        sha256,
        created_at: NOW,
      }))
      await insertAttachments(db, files)
    }
    for (let at = 0; at < orphans; at += 1) leave(dir, `orphan ${at}`)
    async function* list() {
      yield* blobs.list()
      yield* hashes
    }
    const counts = moves ? { moved: orphans } : { removed: orphans }
    const result = await collect(db, { ...blobs, list })
    assert.deepEqual(result, { ...NOTHING, ...counts })
    assert.deepEqual(await blobHashes(blobs), [])
    assert.equal(listRemoved(dir).length, moves ? orphans : 0)
    assert.deepEqual(await db.selectFrom('removed_objects').selectAll().execute(), [])
  })
}

test('gc deletes what it moved after 7 days, but what a row names by then it moves back', async (t) => {
  const { dir, db, blobs } = await ground(t)
  for (const text of ['one', 'two', 'three']) leave(dir, text)
  assert.deepEqual(await collect(db, blobs), { ...NOTHING, moved: 3 })
  assert.deepEqual(
    listRemoved(dir),
    ['one', 'two', 'three'].map((text) => `2026-03-24.${digest(text)}`).sort(),
  )
  assert.deepEqual(await collect(db, blobs, '2026-03-31T23:59:59.000Z'), NOTHING)
  const one = { name: 'a', mimetype: 'text/plain', size: 3, sha256: digest('one'), created_at: NOW }
  await insertAttachments(db, [one])
  leave(dir, 'two') // as an upload of the same bytes leaves it
  await insertAttachments(db, [{ ...one, sha256: digest('two') }])
  assert.deepEqual(await collect(db, blobs, '2026-04-01T00:00:00.000Z'), { ...NOTHING, restored: 1 })
  assert.deepEqual(listRemoved(dir), [])
  assert.deepEqual((await blobHashes(blobs)).sort(), [digest('one'), digest('two')].sort())
})

test('gc leaves what this process writes, also when the clock is years ahead', async (t) => {
  const { dir, db, blobs } = await ground(t)
  const batch = blobs.beginBatch(createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open())
  const store = async (text: string) => {
    const writer = batch.begin()
    await writer.write(Buffer.from(text))
    await writer.keep()
  }
  leave(dir, 'crashed')
  leave(dir, 'crashed and sent again')
  await store('crashed and sent again')
  const half = join(dir, 'tmp', 'of-a-crash')
  writeFileSync(half, 'half')
  assert.deepEqual(await collect(db, blobs, '2036-03-24T12:00:00.000Z'), {
    ...NOTHING,
    moved: 1,
    unfinished: 1,
  })
  assert.equal(existsSync(half), false)
  await batch.commit() // fails if its file is gone
  assert.deepEqual(await collect(db, blobs, '2036-03-24T12:00:00.000Z'), NOTHING)
  assert.deepEqual(await blobHashes(blobs), [digest('crashed and sent again')])
  await batch.discard()
  assert.deepEqual(await collect(db, blobs), { ...NOTHING, moved: 1 })
})

test(
  'contents of a database that was put back are moved, and the later one finds them again',
  ofSqlite,
  async (t) => {
    const dataDir = temporaryDirectory(t)
    const dir = join(dataDir, 'blobs')
    await makeDirectory(dataDir)
    const later = Array.from({ length: 101 }, (_, at) => `later ${at}`)
    const file = join(dataDir, 'cambista.db')
    await withDatabase(dataDir, async (db) => {
      await storeTexts(db, await openBlobFolder(dir), ['before'])
    })
    copyFileSync(file, `${file}.then`)
    await withDatabase(dataDir, async (db) => {
      await storeTexts(db, await openBlobFolder(dir), later)
    })
    copyFileSync(file, `${file}.later`)

    const putBack = (name: string) => {
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
      copyFileSync(file + name, file)
    }
    const start = () =>
      withDatabase(dataDir, async (db) => {
        const logged: string[] = []
        const log = createLog({ level: 'info', format: 'text', write: (text) => logged.push(text) })
        const engine = { kind: 'sqlite', db, clock: () => new Date(NOW) } as const
        using contents = await openServedBlobs({ dataDir, blobs: undefined }, engine, {
          log,
          restores: true,
        })
        const { blobs } = contents
        logGarbage(await collect(db, blobs), log, true)
        log.flush()
        return { logged: logged.join(''), contents: (await Array.fromAsync(blobs.list())).length }
      })
    const doctor = async () => (await runCommand(['doctor', '--data-dir', dataDir])).out

    putBack('.then')
    const old = await start()
    assert.equal(old.contents, 1)
    assert.match(
      old.logged,
      /^\S+ warn +contents that belong to no document moved to blobs\/removed contents=101 days=7 hint="if the database was put back to an earlier moment, the later one finds them again"\n$/,
    )
    const hint = `${dir}/removed belong to no document since 2026-03-24 and are deleted after 7 days. If the database was put back`
    assert.ok((await doctor()).includes(`note     101 contents (799 bytes) in ${hint}`), await doctor())

    putBack('.later')
    const missing = await doctor()
    const path = join(dir, 'removed', `2026-03-24.${digest('later 7')}`)
    assert.ok(missing.includes(`; it is ${path}, which a start of the server moves back`), missing)
    const again = await start()
    assert.equal(again.contents, 102)
    assert.match(again.logged, /info +contents of documents moved back from blobs\/removed contents=101\n$/)
    assert.deepEqual(listRemoved(dir), [])
    assert.doesNotMatch(await doctor(), /contents:|removed/)
  },
)

async function withDatabase<T>(dataDir: string, work: (db: WriteDb) => Promise<T>): Promise<T> {
  const db = openTestDatabase(dataDir)
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

test('gc deletes nothing from a folder that a later database needs', ofSqlite, async (t) => {
  const { dir, db, blobs } = await ground(t)
  const rows = Array.from({ length: 200 }, (_, at) => ({
    ...{ name: 'a', mimetype: 'text/plain', size: 1, created_at: NOW },
    sha256: digest(`named ${at}`),
  }))
  await insertAttachments(db, rows)
  for (let at = 0; at < 200; at++) leave(dir, `named ${at}`)
  leave(dir, 'of the later database')
  writeFileSync(join(dir, 'held'), '')
  assert.deepEqual(await collect(db, blobs), { ...NOTHING, removed: 1 })
  const listHashes = () => listRemoved(dir).map((name) => name.split('.')[1])
  assert.deepEqual(listHashes(), [digest('of the later database')])
  const muchLater = '2099-01-01T12:00:00.000Z'
  await collect(db, blobs, muchLater)
  assert.deepEqual(listHashes(), [digest('of the later database')])
  rmSync(join(dir, 'held'))
  await collect(db, blobs, muchLater)
  assert.deepEqual(listHashes(), [])
})
