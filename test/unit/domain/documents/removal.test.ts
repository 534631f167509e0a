import assert from 'node:assert/strict'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { collectGarbage } from '../../../../src/domain/documents/gc.ts'
import { purgeDocuments, removeDocuments } from '../../../../src/domain/documents/removal.ts'
import { type BlobFolder, type BlobFs, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { selectDocuments } from '../../../../src/store/documents/documents.ts'
import { selectEvents } from '../../../../src/store/documents/events.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ANA, blobHashes, COMPANY, makeDirectory, storeTexts } from '../../../support/company.ts'
import {
  ofSqlite,
  openTestDatabase,
  refuseRows,
  temporaryDatabase,
  temporaryDirectory,
} from '../../../support/temporary.ts'

const NOW = '2026-03-24T12:00:00.000Z'

type Ground = { dataDir: string; db: WriteDb; blobs: BlobFolder }

async function ground(t: TestContext): Promise<Ground> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  return { dataDir, db: temporaryDatabase(t, dataDir), blobs: await openBlobFolder(join(dataDir, 'blobs')) }
}

const loadDocuments = (db: WriteDb) => selectDocuments(db, { limit: 10_000 })

test('a crash after the rows leaves contents that the next start sweeps, never rows without content', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['one', 'two'])
  const crashing: BlobFolder = {
    ...blobs,
    async removeFree() {
      assert.equal((await blobHashes(blobs)).length, 2)
      throw new Error('crash')
    },
  }
  const reportedIds: number[] = []
  const removal = removeDocuments(db, crashing, await loadDocuments(db), ANA, ({ id }) =>
    reportedIds.push(id),
  )
  await assert.rejects(removal, /crash/)
  assert.deepEqual([await loadDocuments(db), reportedIds], [[], [1, 2]])
  assert.equal((await blobHashes(blobs)).length, 2)
  const gc = { db, clock: ANA.clock, blobs, keepRemovedDays: 8, isAlone: true }
  const { removed } = await collectGarbage(gc, undefined, new AbortController().signal)
  assert.deepEqual([removed, await blobHashes(blobs)], [2, []])
})

test('rows that another process deleted first are neither reported nor counted', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['one', 'two'])
  const documents = await loadDocuments(db)
  await removeDocuments(db, blobs, documents.slice(0, 1), ANA, () => {})
  const reportedIds: number[] = []
  const result = await removeDocuments(db, blobs, documents, ANA, ({ id }) => reportedIds.push(id))
  assert.deepEqual([result, reportedIds], [{ documents: 1, blobs: 1, bytes: 3 }, [2]])
  assert.deepEqual(await blobHashes(blobs), [])
})

test('a content that is uploaded again after its rows went stays', ofSqlite, async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['same'])
  const [document] = await loadDocuments(db)
  assert.ok(document)
  const upload = new Sqlite(join(dataDir, 'cambista.db'))
  t.after(() => upload.close())
  const result = await removeDocuments(db, blobs, [document], ANA, ({ sha256 }) => {
    upload
      .prepare('insert into attachments (name, mimetype, size, sha256, created_at) values (?, ?, 4, ?, ?)')
      .run('again', 'text/plain', sha256, NOW)
  })
  assert.deepEqual(result, { documents: 1, blobs: 0, bytes: 0 })
  assert.deepEqual(await blobHashes(blobs), [document.sha256])
})

test('nobody can write rows between the look for them and the end of the content', ofSqlite, async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['same'])
  const upload = new Sqlite(join(dataDir, 'cambista.db'), { timeout: 0 })
  t.after(() => upload.close())
  let looked = false
  const unlink: BlobFs['unlink'] = (path) => {
    assert.throws(() => upload.exec('begin immediate'), /locked/)
    looked = true
    return fs.unlink(path)
  }
  const watching = await openBlobFolder(join(dataDir, 'blobs'), { ...fs, unlink })
  await removeDocuments(db, watching, await loadDocuments(db), ANA, () => {})
  assert.ok(looked)
})

test('a purge goes through many documents in batches, and all of them', async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  const texts = Array.from({ length: 450 }, (_, at) => `text ${at % 300}`)
  await storeTexts(db, blobs, texts, { createdAt: '2025-01-01T00:00:00.000Z' })
  const beside = openTestDatabase(dataDir)
  t.after(() => beside.destroy())
  const counts = new Set<number>()
  const unlink: BlobFs['unlink'] = async (path) => {
    counts.add((await loadDocuments(beside)).length)
    return fs.unlink(path)
  }
  const watching = await openBlobFolder(join(dataDir, 'blobs'), { ...fs, unlink })
  const result = await purgeDocuments(db, watching, { createdUpTo: NOW, by: ANA, onRemoved: () => {} })
  assert.equal(result.documents, 450)
  assert.equal(result.blobs, 300)
  assert.deepEqual(await blobHashes(blobs), [])
  assert.deepEqual([...counts], [250, 50, 0], 'another process sees whole batches gone')
})

test('a stopped purge ends after its batch, with equal rows and blobs', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(
    db,
    blobs,
    Array.from({ length: 250 }, (_, at) => `text ${at}`),
  )
  const stop = new AbortController()
  const purge = { createdUpTo: NOW, by: ANA, signal: stop.signal, onRemoved: () => stop.abort() }
  assert.deepEqual(await purgeDocuments(db, blobs, purge), { documents: 200, blobs: 200, bytes: 1490 })
  const remaining = (await loadDocuments(db)).map(({ sha256 }) => sha256)
  assert.deepEqual((await blobHashes(blobs)).sort(), remaining.sort())
})

test('documents whose contents cannot be removed are deleted, and the garbage collection retries', async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['one', 'two', 'three'])
  let isHeld = true
  const unlink: BlobFs['unlink'] = async (path) => {
    if (isHeld) throw Object.assign(new Error('EPERM: not permitted'), { code: 'EPERM' })
    await fs.unlink(path)
  }
  const folder = await openBlobFolder(join(dataDir, 'blobs'), { ...fs, unlink })
  const [first] = await loadDocuments(db)
  assert.ok(first)
  const none = { blobs: 0, bytes: 0, because: 'EPERM: not permitted' }
  const deletion = await removeDocuments(db, folder, [first], ANA, () => {})
  assert.deepEqual(deletion, { ...none, documents: 1, kept: 1 })
  const purge = { createdUpTo: NOW, by: ANA, onRemoved: () => {} }
  assert.deepEqual(await purgeDocuments(db, folder, purge), { ...none, documents: 2, kept: 2 })
  assert.deepEqual([await loadDocuments(db), (await blobHashes(blobs)).length], [[], 3])
  isHeld = false
  const gc = { db, clock: ANA.clock, blobs: folder, keepRemovedDays: 0, isAlone: true }
  const { removed } = await collectGarbage(gc, undefined, new AbortController().signal)
  assert.deepEqual([removed, await blobHashes(blobs)], [3, []])
})

test('a deletion is written down with who did it and when, and not with the name', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['one', 'two'], { name: 'secreto.txt' })
  const documents = await loadDocuments(db)
  await removeDocuments(db, blobs, documents.slice(1), ANA, () => {})
  await removeDocuments(db, blobs, documents, { ...ANA, via: 'token', actor: 'erp' }, () => {})
  const sha256 = documents.map((document) => document.sha256)
  const created = { created_at: '2026-03-24T12:00:00.000Z', created_by: null }
  const nothing = { person: null, attempt: null, note: null, size: null }
  const shared = { at: NOW, kind: 'deleted', company_id: COMPANY, ...created, ...nothing }
  assert.deepEqual(await selectEvents(db, { limit: 10 }), [
    { ...shared, id: 1, via: 'cli', actor: 'ana', document_id: 2, sha256: sha256[1] },
    { ...shared, id: 2, via: 'token', actor: 'erp', document_id: 1, sha256: sha256[0] },
  ])
})

test('a purge writes each of its deletions down', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(
    db,
    blobs,
    Array.from({ length: 250 }, (_, at) => `text ${at}`),
  )
  await purgeDocuments(db, blobs, { createdUpTo: NOW, by: ANA, onRemoved: () => {} })
  const events = await selectEvents(db, { limit: 1000 })
  assert.deepEqual(
    events.map(({ document_id }) => document_id),
    Array.from({ length: 250 }, (_, at) => at + 1),
  )
})

test('a document without a record of its deletion is not deleted', async (t) => {
  const { db, blobs } = await ground(t)
  await storeTexts(db, blobs, ['one'])
  const documents = await loadDocuments(db)
  await refuseRows(db, 'events')
  await assert.rejects(
    removeDocuments(db, blobs, documents, ANA, () => {}),
    /refused/,
  )
  assert.deepEqual(await loadDocuments(db), documents)
  assert.equal((await blobHashes(blobs)).length, 1)
  assert.deepEqual(await selectEvents(db, { limit: 10 }), [])
  const { used } = await db.selectFrom('companies').select('used').executeTakeFirstOrThrow()
  assert.equal(used, 3)
})
