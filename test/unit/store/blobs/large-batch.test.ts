import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeBatch } from '../../../../src/domain/documents/uploads/store.ts'
import { createUploadedFiles } from '../../../../src/domain/documents/uploads/uploaded-files.ts'
import { createMemoryBudget } from '../../../../src/runtime/memory-budget.ts'
import { startTestApp } from '../../../support/app.ts'
import { openTestBlobs } from '../../../support/company.ts'
import { fillDirectory } from '../../../support/directory.ts'
import { openTestDatabase, temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const COUNT = 1203

test('a large batch yields to other requests, and stores its files in order', async (t) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const db = openTestDatabase(app.dataDir)
  t.after(() => db.destroy())
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  const blobs = await openTestBlobs(app.dataDir)
  using memory = createMemoryBudget({ each: 2 ** 22, all: 2 ** 22 }).open()
  const files = createUploadedFiles(memory)
  const staged = blobs.beginBatch(memory)
  const indexes: number[] = []
  for (const text of ['one', 'other']) {
    const writer = staged.begin()
    await writer.write(Buffer.from(text))
    indexes.push(await writer.keep())
  }
  const names = Array.from({ length: COUNT }, (_, index) => `file ${(index * 7919) % COUNT}`)
  for (const [at, name] of names.entries())
    files.add({ name, mimetype: 'text/plain', blob: indexes[at % 2] ?? 0 })
  const batch = { companyId: 1, agentId: 1, ownerId: 1, files, blobs: staged }
  const before = turns
  const origin = { at: '2026-03-24T12:00:00.000Z', tokenId: null }
  const runs = await storeBatch({ db, blobs }, batch, origin, undefined)
  clearInterval(counting)
  assert.ok(turns - before > 2, `${turns - before} turns`)
  assert.equal(
    runs?.reduce((sum, { count }) => sum + count, 0),
    COUNT,
  )
  const rows = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name', 'attachment_id', 'size', 'attachments.name as attached'])
    .orderBy('documents.id')
    .execute()
  assert.deepEqual(
    rows.map(({ name, size }) => [name, size]),
    names.map((name, at) => [name, at % 2 ? 5 : 3]),
  )
  const ids = runs?.flatMap(({ id, attachmentId, count }) =>
    Array.from({ length: count }, (_, at) => [id + at, attachmentId + at]),
  )
  assert.deepEqual(
    rows.map(({ id, attachment_id }) => [id, attachment_id]),
    ids,
  )
  for (const row of rows) assert.equal(row.attached, row.name)
})

test('`addReferences` of a large batch yields to other requests', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  using memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  const batch = blobs.beginBatch(memory)
  await batch.begin().keep()
  await batch.commit()
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  t.after(() => clearInterval(counting))
  const turnSamples: number[] = []
  function* slowly() {
    while (turnSamples.length < COUNT) {
      turnSamples.push(turns)
      for (const end = performance.now() + 0.02; performance.now() < end; );
      yield batch.at(0)
    }
  }
  assert.equal(await blobs.addReferences(db, slowly()), true)
  assert.equal(turnSamples.length, COUNT)
  assert.ok(Number(turnSamples.at(-1)) - Number(turnSamples[0]) >= 2, turnSamples.join())
})
