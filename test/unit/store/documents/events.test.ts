import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deleteOldEvents,
  insertEvents,
  type NewEvent,
  selectEvents,
} from '../../../../src/store/documents/events.ts'
import { temporaryDatabase } from '../../../support/temporary.ts'

const event = (document_id: number, at = '2026-03-24T12:00:00.000Z'): NewEvent => ({
  at,
  kind: 'deleted',
  via: 'cli',
  actor: 'ana',
  document_id,
  company_id: 7,
  sha256: 'a'.repeat(64),
})

test('the newest events are selected, of all documents or of one, in the order in which they happened', async (t) => {
  const db = temporaryDatabase(t)
  await insertEvents(
    db,
    [1, 2, 1, 3].map((id) => event(id)),
  )
  const ids = async (filter: Parameters<typeof selectEvents>[1]) =>
    (await selectEvents(db, filter)).map(({ id }) => id)
  assert.deepEqual(await ids({ limit: 10 }), [1, 2, 3, 4])
  assert.deepEqual(await ids({ limit: 2 }), [3, 4])
  assert.deepEqual(await ids({ limit: 2, before: 3 }), [1, 2])
  assert.deepEqual(await ids({ limit: 10, documentId: 1 }), [1, 3])
  assert.deepEqual(await ids({ limit: 10, documentId: 9 }), [])
  assert.deepEqual((await selectEvents(db, { limit: 1 }))[0], {
    id: 4,
    ...event(3),
    ...{ created_at: null, created_by: null, person: null, attempt: null, note: null, size: null },
  })
})

test('many events are written at once', async (t) => {
  const db = temporaryDatabase(t)
  await insertEvents(
    db,
    Array.from({ length: 12_345 }, (_, at) => event(at + 1)),
  )
  assert.deepEqual((await selectEvents(db, { limit: 20_000 })).length, 12_345)
})

test('events from before an instant are deleted, so many at once, and no id is given twice', async (t) => {
  const db = temporaryDatabase(t)
  const days = ['2024-01-01', '2024-01-02', '2024-01-03', '2024-01-04']
  await insertEvents(
    db,
    days.map((day, at) => event(at + 1, `${day}T00:00:00.000Z`)),
  )
  assert.equal(await deleteOldEvents(db, '2024-01-03T00:00:00.000Z', 1), 1)
  assert.equal(await deleteOldEvents(db, '2024-01-03T00:00:00.000Z', 10), 1)
  assert.equal(await deleteOldEvents(db, '2024-01-03T00:00:00.000Z', 10), 0)
  assert.deepEqual(
    (await selectEvents(db, { limit: 10 })).map(({ id }) => id),
    [3, 4],
  )
  await deleteOldEvents(db, '2999', 10)
  await insertEvents(db, [event(9)])
  assert.equal((await selectEvents(db, { limit: 10 }))[0]?.id, 5)
})
