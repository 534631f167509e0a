// Invariants of the state machines. A database that drops a write, or a record in another state, ends the transaction
// with a named error. Nothing of the transaction is stored.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { deleteDocuments, selectDocuments } from '../../../src/store/documents/documents.ts'
import { findCompanyUsage } from '../../../src/store/documents/usage.ts'
import { atomically } from '../../../src/store/engine.ts'
import type { StateMachine } from '../../../src/store/invariant.ts'
import { replaceCoverage } from '../../../src/store/rates/coverage.ts'
import { selectRates, upsertRates } from '../../../src/store/rates/rates.ts'
import { closeRun, insertRun, selectRuns, updateRun } from '../../../src/store/rates/sync-runs.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { COMPANY, makeDirectory, openTestBlobs, storeTexts } from '../../support/company.ts'
import { createMemoryBank } from '../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase, temporaryDirectory } from '../../support/temporary.ts'

const isSqlite = process.env.CAMBISTA_TEST_ENGINE !== 'postgres'
const DAY = '2026-03-24'
const COUNTS = { inserted: 1, updated: 0, unchanged: 0 }
const END = { ...COUNTS, status: 'ok', message: null, finished_at: `${DAY}T12:00:00Z` } as const

// Each write of a table that the database drops without an error, and the machine that must notice.
const DROPPED_WRITES: [table: string, event: 'insert' | 'update' | 'delete', kind: StateMachine][] = [
  ['attachments', 'insert', 'Upload'],
  ['documents', 'insert', 'Upload'],
  ['companies', 'update', 'Sum'],
  ['attachments', 'delete', 'Removal'],
]

for (const [table, event, kind] of DROPPED_WRITES) {
  test(`a database that drops an ${event} of ${table} ends the transaction with ${kind}InvariantError`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await makeDirectory(dataDir)
    const db = temporaryDatabase(t, dataDir)
    const blobs = await openTestBlobs(dataDir)
    await storeTexts(db, blobs, ['one'])
    const state = async () => ({
      documents: await selectDocuments(db, { limit: 10 }),
      attachments: await db.selectFrom('attachments').selectAll().execute(),
      usage: await findCompanyUsage(db, COMPANY),
    })
    const before = await state()
    await dropWrites(db, table, event)
    const write = () =>
      event === 'delete'
        ? atomically(db, (trx) => deleteDocuments(trx, before.documents))
        : storeTexts(db, blobs, ['two', 'three'])
    await assert.rejects(write, { name: `${kind}InvariantError` })
    assert.deepEqual(await state(), before)
  })
}

for (const table of ['rates', 'coverage']) {
  test(`a database that drops an insert of ${table} stores neither values nor covered days`, async (t) => {
    const db = await openRates(t)
    await dropWrites(db, table, 'insert')
    const write = atomically(db, async (trx) => {
      await upsertRates(trx, [{ series_id: 1, rate_date: DAY, value: '500', rounded_to: null }], 1)
      await replaceCoverage(trx, 'answered', new Map([[1, [{ from: DAY, to: DAY }]]]), 1)
    })
    await assert.rejects(write, { name: 'SyncRunInvariantError' })
    assert.deepEqual(await selectRates(db, [1], { from: DAY, to: DAY }), [])
    for (const name of ['coverage', 'coverage_changes'] as const) {
      assert.deepEqual(await db.selectFrom(name).selectAll().execute(), [])
    }
  })
}

test('the result of a closed run is not overwritten', async (t) => {
  const db = await openRates(t)
  const run = {
    provider_id: 1,
    trigger: 'cli',
    date_from: DAY,
    date_to: DAY,
    started_at: `${DAY}T11:00:00Z`,
  } as const
  const id = await insertRun(db, run)
  await updateRun(db, id, { ...COUNTS, date_from: DAY })
  const closedRun = await closeRun(db, id, END)
  const write = (work: (trx: WriteDb) => Promise<unknown>) =>
    atomically(db, async (trx) => {
      await upsertRates(trx, [{ series_id: 1, rate_date: DAY, value: '500', rounded_to: null }], 1)
      await work(trx)
    })
  const update = write((trx) => updateRun(trx, id, { ...COUNTS, inserted: 9, date_from: DAY }))
  await assert.rejects(update, { name: 'SyncRunInvariantError' })
  const close = write((trx) => closeRun(trx, id, { ...END, status: 'error' }))
  await assert.rejects(close, { name: 'SyncRunInvariantError' })
  assert.deepEqual(await selectRuns(db, { limit: 10 }), [closedRun])
  assert.deepEqual(await selectRates(db, [1], { from: DAY, to: DAY }), [])
})

async function openRates(t: Parameters<typeof temporaryDatabase>[0]): Promise<WriteDb> {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  return db
}

/** Makes the database drop the writes of a table, as a faulty trigger or rule of an administrator would. */
async function dropWrites(db: WriteDb, table: string, event: 'insert' | 'update' | 'delete'): Promise<void> {
  const name = sql.raw(table)
  const kind = sql.raw(event)
  if (isSqlite) {
    await sql`create trigger dropped before ${kind} on ${name} begin select raise(ignore); end`.execute(db)
    return
  }
  await sql`create function drop_write() returns trigger language plpgsql as 'begin return null; end'`.execute(
    db,
  )
  await sql`create trigger dropped before ${kind} on ${name} for each row execute function drop_write()`.execute(
    db,
  )
}
