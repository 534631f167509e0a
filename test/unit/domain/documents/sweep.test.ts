// The sweep of a data directory after the start: the server listens first, and uploads beside the sweep lose nothing.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import * as nodeFs from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { blobPath } from '../../../../src/store/blobs/commit.ts'
import type { BlobFs } from '../../../../src/store/blobs/folder.ts'
import { fixedClock, ofSqlite, startTestApp, temporaryDirectory } from '../../../support/app.ts'
import { batch, CREATE, fillDatabase, pdf, post, read } from '../../../support/directory.ts'
import { until } from '../../../support/terminal.ts'

/** A data directory that a crash left: three documents, a blob without a row, and half a file. */
async function crash(t: TestContext) {
  const dataDir = temporaryDirectory(t)
  const former = await startTestApp(t, { dataDir })
  await fillDatabase(dataDir)
  const texts = Array.from({ length: 120 }, (_, at) => `stored ${at}`)
  const response = await post(former, CREATE, batch(...texts.map((text) => pdf(text))))
  assert.equal(response.status, 200)
  await former.app.close()
  const orphan = blobPath(join(dataDir, 'blobs'), hash('sha256', 'of a crash'))
  mkdirSync(join(orphan, '..'), { recursive: true })
  writeFileSync(orphan, 'of a crash')
  const half = join(dataDir, 'blobs', 'tmp', 'half')
  writeFileSync(half, 'ha')
  return { dataDir, orphan, half }
}

/** Files whose folders, but for `removed`, are listed only when `gate` opens. */
function gatedFs(t: TestContext) {
  const gate = Promise.withResolvers<void>()
  t.after(() => gate.resolve())
  const readdir = async (path: string) => {
    if (!path.endsWith('removed')) await gate.promise
    return nodeFs.readdir(path)
  }
  return { gate, fs: { ...nodeFs, readdir } as unknown as BlobFs }
}

test('a start lists no folder of contents before it answers', ofSqlite, async (t) => {
  const { dataDir, orphan, half } = await crash(t)
  const { gate, fs } = gatedFs(t)
  const app = await startTestApp(t, { dataDir, blobFs: fs, isIdle: false })
  assert.equal((await read(app, '/api/v1/documents/1/content')).status, 200)
  assert.ok(existsSync(orphan) && existsSync(half))
  gate.resolve()
  await until(() => app.logLines.some((line) => line.includes('swept what a crash left')))
  assert.deepEqual([existsSync(orphan), existsSync(half)], [false, false])
})

test('a start moves the contents of a later database back before it answers', ofSqlite, async (t) => {
  const { dataDir } = await crash(t)
  const sha256 = hash('sha256', 'stored 0')
  mkdirSync(join(dataDir, 'blobs', 'removed'))
  renameSync(
    blobPath(join(dataDir, 'blobs'), sha256),
    join(dataDir, 'blobs', 'removed', `2026-03-24.${sha256}`),
  )
  const { gate, fs } = gatedFs(t)
  const app = await startTestApp(t, { dataDir, blobFs: fs, isIdle: false })
  assert.equal((await read(app, '/api/v1/documents/1/content')).status, 200)
  gate.resolve()
})

test('a sweep leaves the contents of uploads beside it, with any clock', ofSqlite, async (t) => {
  const { dataDir, orphan } = await crash(t)
  const { gate, fs } = gatedFs(t)
  const clock = fixedClock()
  const app = await startTestApp(t, { dataDir, blobFs: fs, clock, isIdle: false })
  clock.now = new Date(clock.now.getTime() - 24 * 3_600_000)
  const before = await post(app, CREATE, batch(pdf('of a crash'), pdf('before')))
  assert.equal(before.status, 200)
  gate.resolve()
  const beside = await Promise.all(
    Array.from({ length: 20 }, (_, at) => post(app, CREATE, batch(pdf('of a crash'), pdf(`beside ${at}`)))),
  )
  assert.deepEqual(
    beside.filter(({ status }) => status !== 200),
    [],
  )
  await until(() => app.logLines.some((line) => line.includes('swept what a crash left')))
  assert.ok(existsSync(orphan))
  for (let id = 1; id <= 120 + 2 + 40; id += 1)
    assert.equal((await read(app, `/api/v1/documents/${id}/content`)).status, 200, `document ${id}`)
})
