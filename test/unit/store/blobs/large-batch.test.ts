import assert from 'node:assert/strict'
import { test } from 'node:test'
import { storeBatch } from '../../../src/domain/documents/batch.ts'
import { createUploadedFiles } from '../../../src/domain/documents/uploaded-files.ts'
import { createMemoryBudget } from '../../../src/memory-budget.ts'
import { startTestApp } from '../../support/app.ts'
import { openTestBlobs } from '../../support/company.ts'
import { fillDirectory } from '../../support/directory.ts'
import { openDatabaseOf, temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'

const COUNT = 1203

test('a large batch lets others have turns, and keeps the order of its files', async (t) => {
  const app = await startTestApp(t)
  await fillDirectory(app)
  const db = openDatabaseOf(app.dataDir)
  t.after(() => db.destroy())
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  const blobs = await openTestBlobs(app.dataDir)
  using memory = createMemoryBudget({ each: 2 ** 22, all: 2 ** 22 }).open()
  const files = createUploadedFiles(memory)
  const contents = blobs.beginBatch(memory)
  const kept: number[] = []
  for (const text of ['one', 'other']) {
    const content = contents.begin()
    await content.write(Buffer.from(text))
    kept.push(await content.keep())
  }
  const names = Array.from({ length: COUNT }, (_, index) => `file ${(index * 7919) % COUNT}`)
  for (const [at, name] of names.entries())
    files.add({ name, mimetype: 'text/plain', content: kept[at % 2] ?? 0 })
  const batch = { companyId: 1, agentId: 1, ownerId: 1, files, contents }
  const before = turns
  const runs = await storeBatch(
    db,
    blobs,
    batch,
    { at: '2026-03-24T12:00:00.000Z', tokenId: null },
    undefined,
  )
  clearInterval(counting)
  assert.ok(turns - before > 2, `${turns - before} turns`)
  assert.equal(
    runs?.reduce((sum, { count }) => sum + count, 0),
    COUNT,
  )
  const stored = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name', 'attachment_id', 'size', 'attachments.name as attached'])
    .orderBy('documents.id')
    .execute()
  assert.deepEqual(
    stored.map(({ name, size }) => [name, size]),
    names.map((name, at) => [name, at % 2 ? 5 : 3]),
  )
  const ids = runs?.flatMap(({ id, attachmentId, count }) =>
    Array.from({ length: count }, (_, at) => [id + at, attachmentId + at]),
  )
  assert.deepEqual(
    stored.map(({ id, attachment_id }) => [id, attachment_id]),
    ids,
  )
  for (const row of stored) assert.equal(row.attached, row.name)
})

test('others have turns while the contents of a large batch are looked for', async (t) => {
  const dataDir = temporaryDirectory(t)
  const db = temporaryDatabase(t, dataDir)
  const blobs = await openTestBlobs(dataDir)
  using memory = createMemoryBudget({ each: 2 ** 20, all: 2 ** 20 }).open()
  const kept = blobs.beginBatch(memory)
  await kept.begin().keep()
  await kept.commit()
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  t.after(() => clearInterval(counting))
  const turnsAt: number[] = []
  function* slowly() {
    while (turnsAt.length < COUNT) {
      turnsAt.push(turns)
      for (const end = performance.now() + 0.02; performance.now() < end; );
      yield kept.at(0)
    }
  }
  assert.equal(await blobs.claim(db, slowly()), true)
  assert.equal(turnsAt.length, COUNT)
  assert.ok(Number(turnsAt.at(-1)) - Number(turnsAt[0]) >= 2, turnsAt.join())
})
