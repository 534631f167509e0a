import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import Sqlite from 'better-sqlite3'
import { purgeDocuments, removeDocuments } from '../../../src/domain/documents/removal.ts'
import { type BlobFolder, openBlobFolder } from '../../../src/store/blobs/folder.ts'
import { removeOrphans } from '../../../src/store/blobs/orphans.ts'
import { isBlobNamed, selectDocuments } from '../../../src/store/documents.ts'
import { selectEvents } from '../../../src/store/events.ts'
import type { Db } from '../../../src/store/tables.ts'
import { ANA, COMPANY, contentsOf, keepTexts, makeDirectory } from '../../support/company.ts'
import {
  ofSqlite,
  openDatabaseOf,
  refuseRows,
  temporaryDatabase,
  temporaryDirectory,
} from '../../support/temporary.ts'

const NOW = '2026-03-24T12:00:00.000Z'

type Ground = { dataDir: string; db: Db; blobs: BlobFolder }

async function ground(t: TestContext): Promise<Ground> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  return { dataDir, db: temporaryDatabase(t, dataDir), blobs: await openBlobFolder(join(dataDir, 'blobs')) }
}

const documentsIn = (db: Db) => selectDocuments(db, { limit: 10_000 })

test('a crash after the rows leaves contents that the next start sweeps, never rows without content', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['one', 'two'])
  const crashing: BlobFolder = {
    ...blobs,
    async release() {
      assert.equal((await contentsOf(blobs)).length, 2)
      throw new Error('crash')
    },
  }
  const told: number[] = []
  const removal = removeDocuments(db, crashing, await documentsIn(db), ANA, ({ id }) => told.push(id))
  await assert.rejects(removal, /crash/)
  assert.deepEqual([await documentsIn(db), told], [[], [1, 2]])
  assert.equal((await contentsOf(blobs)).length, 2)
  assert.deepEqual(await removeOrphans(blobs, { isNamed: (sha256) => isBlobNamed(db, sha256) }), {
    temporary: 0,
    unnamed: 2,
  })
})

test('rows that another process deleted first are neither told nor counted', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['one', 'two'])
  const documents = await documentsIn(db)
  await removeDocuments(db, blobs, documents.slice(0, 1), ANA, () => {})
  const told: number[] = []
  const removed = await removeDocuments(db, blobs, documents, ANA, ({ id }) => told.push(id))
  assert.deepEqual([removed, told], [{ documents: 1, blobs: 1, bytes: 3 }, [2]])
  assert.deepEqual(await contentsOf(blobs), [])
})

test('a content that is uploaded again after its rows went stays', ofSqlite, async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['same'])
  const [document] = await documentsIn(db)
  assert.ok(document)
  const upload = new Sqlite(join(dataDir, 'cambista.db'))
  t.after(() => upload.close())
  const removed = await removeDocuments(db, blobs, [document], ANA, ({ sha256 }) => {
    upload
      .prepare('insert into attachments (name, mimetype, size, sha256, created_at) values (?, ?, 4, ?, ?)')
      .run('again', 'text/plain', sha256, NOW)
  })
  assert.deepEqual(removed, { documents: 1, blobs: 0, bytes: 0 })
  assert.deepEqual(await contentsOf(blobs), [document.sha256])
})

test('nobody can write rows between the look for them and the end of the content', ofSqlite, async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['same'])
  const upload = new Sqlite(join(dataDir, 'cambista.db'), { timeout: 0 })
  t.after(() => upload.close())
  let looked = false
  const watching: BlobFolder = {
    ...blobs,
    release(trx, sha256) {
      assert.throws(() => upload.exec('begin immediate'), /locked/)
      looked = true
      return blobs.release(trx, sha256)
    },
  }
  await removeDocuments(db, watching, await documentsIn(db), ANA, () => {})
  assert.ok(looked)
})

test('a purge goes through many documents in batches, and all of them', async (t) => {
  const { dataDir, db, blobs } = await ground(t)
  const texts = Array.from({ length: 450 }, (_, at) => `text ${at % 300}`)
  await keepTexts(db, blobs, texts, { createdAt: '2025-01-01T00:00:00.000Z' })
  const beside = openDatabaseOf(dataDir)
  t.after(() => beside.destroy())
  const seen: number[] = []
  let told = 0
  const removed = await purgeDocuments(db, blobs, {
    createdUpTo: NOW,
    by: ANA,
    async removed() {
      if (told++ % 100 === 0) seen.push((await documentsIn(beside)).length)
    },
  })
  assert.equal(removed.documents, 450)
  assert.equal(removed.blobs, 300)
  assert.deepEqual(await contentsOf(blobs), [])
  assert.ok(seen.includes(250), `half-way another process sees the first batch gone: ${seen}`)
})

test('a purge that is asked to stop ends after its batch, with rows and contents at one', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(
    db,
    blobs,
    Array.from({ length: 250 }, (_, at) => `text ${at}`),
  )
  const stop = new AbortController()
  const purge = { createdUpTo: NOW, by: ANA, signal: stop.signal, removed: () => stop.abort() }
  assert.deepEqual(await purgeDocuments(db, blobs, purge), { documents: 200, blobs: 200, bytes: 1490 })
  const left = (await documentsIn(db)).map(({ sha256 }) => sha256)
  assert.deepEqual((await contentsOf(blobs)).sort(), left.sort())
})

test('a deletion is written down with who did it and when, and not with the name', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['one', 'two'], { name: 'secreto.txt' })
  const documents = await documentsIn(db)
  await removeDocuments(db, blobs, documents.slice(1), ANA, () => {})
  await removeDocuments(db, blobs, documents, { ...ANA, via: 'token', actor: 'erp' }, () => {})
  const sha256 = documents.map((document) => document.sha256)
  const created = { created_at: '2026-03-24T12:00:00.000Z', created_by: null }
  const shared = { at: NOW, kind: 'deleted', company_id: COMPANY, ...created }
  assert.deepEqual(await selectEvents(db, { limit: 10 }), [
    { ...shared, id: 1, via: 'cli', actor: 'ana', document_id: 2, sha256: sha256[1] },
    { ...shared, id: 2, via: 'token', actor: 'erp', document_id: 1, sha256: sha256[0] },
  ])
})

test('a purge writes each of its deletions down', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(
    db,
    blobs,
    Array.from({ length: 250 }, (_, at) => `text ${at}`),
  )
  await purgeDocuments(db, blobs, { createdUpTo: NOW, by: ANA, removed: () => {} })
  const events = await selectEvents(db, { limit: 1000 })
  assert.deepEqual(
    events.map(({ document_id }) => document_id),
    Array.from({ length: 250 }, (_, at) => at + 1),
  )
})

test('what cannot be written down is not deleted', async (t) => {
  const { db, blobs } = await ground(t)
  await keepTexts(db, blobs, ['one'])
  const documents = await documentsIn(db)
  await refuseRows(db, 'events')
  await assert.rejects(
    removeDocuments(db, blobs, documents, ANA, () => {}),
    /refused/,
  )
  assert.deepEqual(await documentsIn(db), documents)
  assert.equal((await contentsOf(blobs)).length, 1)
  assert.deepEqual(await selectEvents(db, { limit: 10 }), [])
  const { used } = await db.selectFrom('companies').select('used').executeTakeFirstOrThrow()
  assert.equal(used, 3)
})
