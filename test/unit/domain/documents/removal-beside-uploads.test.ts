// A content that is uploaded while its last document is deleted: whatever comes between, no row is without its content.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { removeDropped } from '../../../../src/domain/documents/removal.ts'
import { storeBatch } from '../../../../src/domain/documents/uploads/store.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { AppError } from '../../../../src/runtime/errors.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import type { Blobs } from '../../../../src/store/blobs/blobs.ts'
import { type BlobFolder, type BlobFs, openBlobFolder } from '../../../../src/store/blobs/folder.ts'
import { dropReferences, lockBlobRows } from '../../../../src/store/documents/blob-rows.ts'
import { lockClaim } from '../../../../src/store/documents/claims.ts'
import { deleteDocuments, selectDocuments } from '../../../../src/store/documents/documents.ts'
import { replaceResult } from '../../../../src/store/documents/results.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { AGENT, blobHashes, COMPANY, makeDirectory, OWNER, storeTexts } from '../../../support/company.ts'
import { createFaultyFs } from '../../../support/faulty-fs.ts'
import {
  openTestDatabase,
  postgres,
  temporaryDatabase,
  temporaryDirectory,
} from '../../../support/temporary.ts'

/** A process of its own: a connection and a folder. */
type Process = { db: WriteDb; blobs: BlobFolder }

async function twoProcesses(t: TestContext, fs?: BlobFs): Promise<[Process, Process]> {
  const dataDir = temporaryDirectory(t)
  await makeDirectory(dataDir)
  const db = openTestDatabase(dataDir)
  t.after(() => db.destroy())
  const dir = join(dataDir, 'blobs')
  return [
    { db: temporaryDatabase(t, dataDir), blobs: await openBlobFolder(dir, fs) },
    { db, blobs: await openBlobFolder(dir) },
  ]
}

/** Uploads one document with this text; `unavailable` for an answer that requests a retry. */
async function upload(db: WriteDb, blobs: Blobs, text: string): Promise<'kept' | 'unavailable'> {
  using memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  const files = createUploadedFiles(memory)
  const staged = blobs.beginBatch(memory)
  const writer = staged.begin()
  await writer.write(Buffer.from(text))
  files.add({ name: 'again.txt', mimetype: 'text/plain', blob: await writer.keep() })
  const batch = { companyId: COMPANY, agentId: AGENT, ownerId: OWNER, files, blobs: staged }
  try {
    await storeBatch({ db, blobs }, batch, { at: '2026-03-24T12:00:00.000Z', tokenId: null }, undefined)
    return 'kept'
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === 'unavailable', String(error))
    return 'unavailable'
  } finally {
    await staged.discard()
  }
}

const loadDocuments = (db: WriteDb) => selectDocuments(db, { limit: 10_000 })

/** Exactly what rows name is there. */
async function assertWhole({ db, blobs }: Process, about: string): Promise<void> {
  const referencedHashes = new Set((await loadDocuments(db)).map(({ sha256 }) => sha256))
  assert.deepEqual((await blobHashes(blobs)).sort(), [...referencedHashes].sort(), about)
}

test('a deletion may come between any two steps of an upload of the same content', async (t) => {
  const steps: { before(call: number): Promise<void> } = { before: async () => {} }
  let calls = 0
  const counted =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      await steps.before(calls++)
      return call(...args)
    }
  const { fs } = createFaultyFs('')
  const [server, command] = await twoProcesses(t, {
    ...fs,
    open: counted(fs.open),
    rename: counted(fs.rename),
    mkdir: counted(fs.mkdir as (...args: unknown[]) => Promise<never>),
  })
  const ends = { kept: 0, unavailable: 0 }
  calls = 0
  await upload(server.db, server.blobs, 'same')
  const last = calls
  assert.ok(last > 5, `${last} calls`)
  for (let rowsGo = 0; rowsGo <= last; rowsGo++) {
    for (let contentGoes = rowsGo; contentGoes <= last; contentGoes++) {
      const [document] = await loadDocuments(command.db)
      assert.ok(document)
      let dropped: string[] = []
      const deletion = async (call: number) => {
        if (call === rowsGo) {
          dropped = await command.db.transaction().execute(async (trx) => {
            await lockBlobRows(trx, [document.sha256])
            await deleteDocuments(trx, [document])
            return dropReferences(trx, [document.sha256], '2026-03-24T12:00:00.000Z')
          })
        }
        if (call === contentGoes) await removeDropped(command.db, command.blobs, dropped)
      }
      steps.before = deletion
      calls = 0
      ends[await upload(server.db, server.blobs, 'same')] += 1
      if (calls <= contentGoes) for (let call = calls; call <= contentGoes; call++) await deletion(call)
      steps.before = async () => {}
      await assertWhole(command, `rows before call ${rowsGo}, content before call ${contentGoes}`)
      if ((await loadDocuments(command.db)).length === 0) await storeTexts(server.db, server.blobs, ['same'])
    }
  }
  assert.ok(ends.kept > 0 && ends.unavailable > 0, JSON.stringify(ends))
})

test('a deletion waits for an outcome, and takes its result too', {
  skip: postgres ? false : 'of PostgreSQL alone: a file has one writer',
}, async (t) => {
  const [one, other] = await twoProcesses(t)
  await storeTexts(one.db, one.blobs, ['uno'])
  const [document] = await loadDocuments(one.db)
  assert.ok(document)
  const isLocked = Promise.withResolvers<void>()
  const outcome = one.db.transaction().execute(async (trx) => {
    await lockClaim(trx, document.id)
    isLocked.resolve()
    await wait(300)
    await replaceResult(trx, document.id, '{}')
  })
  await isLocked.promise
  const deletion = other.db.transaction().execute((trx) => deleteDocuments(trx, [document]))
  await outcome
  assert.deepEqual(await deletion, new Set([document.id]))
  assert.deepEqual(await one.db.selectFrom('document_results').selectAll().execute(), [])
})
