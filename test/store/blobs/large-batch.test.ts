import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMemoryBudget } from '../../../src/memory-budget.ts'
import { insertDocuments } from '../../../src/store/documents.ts'
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
  const files = Array.from({ length: COUNT }, (_, index) => ({
    name: `file ${(index * 7919) % COUNT}`,
    mimetype: 'text/plain',
    size: index,
    sha256: index.toString(16).padStart(64, '0'),
  }))
  const sent = { createdAt: '2026-03-24T12:00:00.000Z', createdBy: null }
  const batch = { companyId: 1, agentId: 1, ownerId: 1, ...sent, files }
  const rows = await db.transaction().execute((trx) => insertDocuments(trx, batch))
  clearInterval(counting)
  assert.ok(turns > 2, `${turns} turns`)
  assert.deepEqual(
    rows.map(({ name }) => name),
    files.map(({ name }) => name),
  )
  const stored = await db
    .selectFrom('documents')
    .innerJoin('attachments', 'attachments.id', 'documents.attachment_id')
    .select(['documents.id', 'documents.name', 'attachment_id', 'sha256', 'attachments.name as attached'])
    .orderBy('documents.id')
    .execute()
  assert.deepEqual(
    stored.map(({ sha256 }) => sha256),
    files.map(({ sha256 }) => sha256),
  )
  for (const [at, row] of stored.entries()) {
    assert.equal(row.attached, row.name)
    assert.deepEqual(rows[at], { id: row.id, name: row.name, attachment_id: row.attachment_id })
  }
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
