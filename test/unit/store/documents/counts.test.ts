import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { medianSeconds } from '../../../../src/domain/documents/summary.ts'
import { claimRows, endClaim, lockClaim } from '../../../../src/store/documents/claims.ts'
import {
  areUncounted,
  countCountRows,
  insertCounts,
  markUncounted,
  mergeCounts,
  recountDocuments,
  selectSeconds,
  selectTotals,
  selectWrongCounts,
} from '../../../../src/store/documents/counts.ts'
import { deleteDocuments, selectDocuments } from '../../../../src/store/documents/documents.ts'
import { atomically, engineSql } from '../../../../src/store/engine.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { fillTables } from '../../../support/directory.ts'
import { insertFiles } from '../../../support/documents/insert.ts'
import { createRandom, type Random } from '../../../support/rates/random-bank.ts'
import { temporaryDatabase, temporaryDirectory } from '../../../support/temporary.ts'

const [YESTERDAY, TODAY] = ['2026-03-23', '2026-03-24']
const clock = () => new Date('2026-03-24T12:00:00.000Z')

async function openDocuments(t: TestContext, count: number): Promise<WriteDb> {
  const db = temporaryDatabase(t, temporaryDirectory(t))
  await fillTables(db)
  for (let at = 0; at < count; at += 1) {
    const file = { name: 'a.txt', mimetype: 'text/plain', size: at, sha256: String(at).padStart(64, '0') }
    const party =
      at % 3 === 0 ? { companyId: 2, agentId: 3, ownerId: 2 } : { companyId: 1, agentId: 1, ownerId: 1 }
    const facts = { ...party, createdAt: '2026-03-22T12:00:00.000Z', createdBy: null, files: [file] }
    await atomically(db, (trx) => insertFiles(trx, facts))
  }
  return db
}

/** Changes a document as claims, outcomes, retries and deletions do. */
async function changeDocument(db: WriteDb, random: Random, id: number): Promise<void> {
  const leases = engineSql(db).leases({ clock, ticks: () => 0 })
  await atomically(db, async (trx) => {
    const row = await lockClaim(trx, id)
    if (!row) return
    const at = `${[YESTERDAY, TODAY][random.int(0, 1)]}T12:00:0${random.int(0, 9)}.000Z`
    if (random.chance(0.1)) {
      const documents = (await selectDocuments(trx, { id, limit: 1 })).filter((one) => one.id === id)
      await deleteDocuments(trx, documents)
    } else if (row.state === 'new') {
      await claimRows(trx, leases, [{ row, claimId: at }], { at, by: 'erp', leaseSeconds: 60 })
    } else if (row.state === 'claimed') {
      const state = random.chance(0.5) ? 'done' : 'failed'
      await endClaim(trx, row, { state, finished_at: at })
    } else if (row.state === 'failed' && random.chance(0.3)) {
      await endClaim(trx, row, { state: 'done', finished_at: at })
    } else await endClaim(trx, row, { state: 'new', finished_at: null, attempts: 0, claim_id: null })
  })
}

/** Figures of the counters, and the same from the documents. */
async function comparison(db: WriteDb, agentId: number) {
  const rows = await db.selectFrom('documents').selectAll().where('agent_id', '=', agentId).execute()
  const totals = await selectTotals(db, { agentId }, TODAY)
  const isToday = (state: string) =>
    rows.filter((row) => row.state === state && row.finished_at?.startsWith(TODAY))
  const seconds = await selectSeconds(db, { agentId }, TODAY)
  const figures = {
    done_today: isToday('done').length,
    failed_today: isToday('failed').length,
    seconds: seconds.reduce((sum, { count }) => sum + count, 0),
  }
  const { done_today, failed_today } = totals
  return [{ done_today, failed_today, seconds: done_today }, figures] as const
}

test('the counters equal the documents after any changes, merges and counts', async (t) => {
  const db = await openDocuments(t, 12)
  const random = createRandom(3)
  let changes = 0
  for (let round = 0; round < 300; round += 1) {
    await changeDocument(db, random, random.int(1, 12))
    if (random.chance(0.1)) await mergeCounts(db, TODAY)
    if (random.chance(0.05)) await recountDocuments(db, TODAY)
    const { changes: now } = await selectTotals(db, {}, TODAY)
    assert.ok(now >= changes)
    changes = now
    if (round % 10 > 0) continue
    assert.deepEqual(await selectWrongCounts(db), [])
    for (const agent of [1, 3]) {
      const [sums, rows] = await comparison(db, agent)
      assert.deepEqual(sums, rows)
    }
  }
})

test('`mergeCounts` leaves few rows, and forgets the days before yesterday', async (t) => {
  const db = await openDocuments(t, 3)
  const outcome = { agent_id: 1, done: 1, new: -1, seconds: 5 }
  await insertCounts(db, [
    { ...outcome, day: '2026-03-22' },
    { ...outcome, day: YESTERDAY },
    { ...outcome, day: TODAY },
    { ...outcome, day: TODAY },
  ])
  const before = await selectTotals(db, {}, TODAY)
  assert.equal(await mergeCounts(db, TODAY), 4)
  assert.equal(await countCountRows(db), 4)
  assert.deepEqual(await selectTotals(db, {}, TODAY), before)
  assert.deepEqual(await selectSeconds(db, { companyId: 1 }, TODAY), [{ seconds: 5, count: 2 }])
  assert.deepEqual(await selectSeconds(db, { companyId: 2 }, TODAY), [])
})

test('`recountDocuments` counts documents that were never counted', async (t) => {
  const db = await openDocuments(t, 5)
  await db.deleteFrom('document_counts').execute()
  await markUncounted(db)
  assert.deepEqual([await areUncounted(db), await selectWrongCounts(db)], [true, []])
  await recountDocuments(db, TODAY)
  assert.deepEqual([await areUncounted(db), await selectWrongCounts(db)], [false, []])
  assert.equal((await selectTotals(db, {}, TODAY)).new, 5)
})

test('`medianSeconds` is the lower median of counted values', () => {
  assert.equal(medianSeconds([]), null)
  assert.equal(medianSeconds([{ seconds: 3, count: 1 }]), 3)
  assert.equal(
    medianSeconds([
      { seconds: 3, count: 1 },
      { seconds: 9, count: 1 },
    ]),
    3,
  )
  assert.equal(
    medianSeconds([
      { seconds: 3, count: 1 },
      { seconds: 9, count: 2 },
    ]),
    9,
  )
})
