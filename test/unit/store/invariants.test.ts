// Invariants of the state machines. A database that drops a write, or a record in another state, ends the transaction
// with a named error. Nothing of the transaction is stored.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { replaceHash } from '../../../src/store/access/secret-rows.ts'
import type { BlobFolder } from '../../../src/store/blobs/folder.ts'
import { deleteDocuments, selectDocuments } from '../../../src/store/documents/documents.ts'
import { replaceResult } from '../../../src/store/documents/results.ts'
import { findCompanyUsage } from '../../../src/store/documents/usage.ts'
import { atomically } from '../../../src/store/engine.ts'
import { replaceIndicatorCoverage } from '../../../src/store/indicators/changes.ts'
import type { StateMachine } from '../../../src/store/invariant.ts'
import { addMailCounts } from '../../../src/store/mail/mailboxes.ts'
import { raiseRevision } from '../../../src/store/meta.ts'
import { replaceCoverage, selectCoverage } from '../../../src/store/rates/coverage.ts'
import { selectRates, upsertRates } from '../../../src/store/rates/rates.ts'
import { closeRun, insertRun, selectRuns, updateRun } from '../../../src/store/rates/sync-runs.ts'
import { insertBatches } from '../../../src/store/rows.ts'
import type { WriteDb } from '../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../src/sync/catalogue.ts'
import { COMPANY, makeDirectory, openTestBlobs, storeTexts } from '../../support/company.ts'
import { insertTestMailbox } from '../../support/mail/mailboxes.ts'
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

type Ids = { documentId: number; keyId: number; mailboxId: number }
type DroppedWrite = {
  table: string
  event: 'insert' | 'update'
  kind: StateMachine
  write(trx: WriteDb, ids: Ids): Promise<unknown>
}

const HASH = 'b'.repeat(64)
const AT = `${DAY}T12:00:00.000Z`
const MORE_DROPPED_WRITES: DroppedWrite[] = [
  {
    ...{ table: 'document_results', event: 'insert', kind: 'Claim' },
    write: async (trx, { documentId }) => replaceResult(trx, documentId, '{}'),
  },
  {
    ...{ table: 'api_keys', event: 'update', kind: 'Secret' },
    write: (trx, { keyId }) => replaceHash(trx, 'api_keys', keyId, { hash: HASH, expiresAt: null }),
  },
  {
    ...{ table: 'mailboxes', event: 'update', kind: 'Sum' },
    write: (trx, { mailboxId }) => addMailCounts(trx, mailboxId, { taken: 1 }),
  },
  {
    ...{ table: 'events', event: 'insert', kind: 'Insert' },
    write: (trx) => insertBatches(trx, 'events', [{ at: AT, kind: 'done', via: 'cli', actor: 'ana' }]),
  },
  {
    ...{ table: 'record_end', event: 'update', kind: 'Counter' },
    write: (trx) => raiseRevision(trx, new Date(AT)),
  },
]

for (const { table, event, kind, write } of MORE_DROPPED_WRITES) {
  test(`a database that drops an ${event} of ${table} ends the transaction with ${kind}InvariantError`, async (t) => {
    const dataDir = temporaryDirectory(t)
    await makeDirectory(dataDir)
    const db = temporaryDatabase(t, dataDir)
    const ids = await insertRows(db, await openTestBlobs(dataDir))
    const writeAndFail = async (trx: WriteDb) => {
      await write(trx, ids)
      throw new Error('it was written')
    }
    await assert.rejects(atomically(db, writeAndFail), /it was written/)
    await dropWrites(db, table, event)
    await assert.rejects(
      atomically(db, (trx) => write(trx, ids)),
      { name: `${kind}InvariantError` },
    )
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

test('days that are not in order are not stored as covered', async (t) => {
  const db = await openRates(t)
  await db.insertInto('indicators').values({ code: '3541', provider_id: 1, added_at: 1 }).execute()
  const days = (from: string, to: string) => ({ from: `2026-03-${from}`, to: `2026-03-${to}` })
  for (const wrong of [
    [days('05', '06'), days('01', '02')],
    [days('01', '05'), days('05', '06')],
    [days('02', '01')],
  ]) {
    const rates = replaceCoverage(db, 'answered', new Map([[1, wrong]]), 1)
    await assert.rejects(rates, { name: 'SyncRunInvariantError' })
    const indicator = replaceIndicatorCoverage(db, '3541', { before: [], after: wrong, at: 1 })
    await assert.rejects(indicator, { name: 'IndicatorRunInvariantError' })
  }
  const right = [days('01', '02'), days('04', '04')]
  await replaceCoverage(db, 'answered', new Map([[1, right]]), 1)
  await replaceIndicatorCoverage(db, '3541', { before: [], after: right, at: 1 })
  assert.deepEqual((await selectCoverage(db)).get(1), right)
})

/** Inserts a row that each of MORE_DROPPED_WRITES changes or refers to. */
async function insertRows(db: WriteDb, blobs: BlobFolder): Promise<Ids> {
  const [documentId = 0] = await storeTexts(db, blobs, ['one'])
  const key = { name: 'excel', hash: 'a'.repeat(64), created_at: AT }
  const { id: keyId } = await db.insertInto('api_keys').values(key).returning('id').executeTakeFirstOrThrow()
  return { documentId, keyId, mailboxId: await insertTestMailbox(db) }
}

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
