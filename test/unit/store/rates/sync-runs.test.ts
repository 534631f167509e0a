import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  closeInterruptedRuns,
  closeRun,
  insertRun,
  selectLastFinishedRun,
} from '../../../../src/store/rates/sync-runs.ts'
import type { WriteDb } from '../../../../src/store/tables.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, temporaryDatabase } from '../../../support/temporary.ts'

const NOTHING = { inserted: 0, updated: 0, unchanged: 0 }

function startRun(db: WriteDb, startedAt: string): Promise<number> {
  return insertRun(db, {
    provider_id: 1,
    trigger: 'cli',
    date_from: '2026-01-01',
    date_to: '2026-01-02',
    started_at: startedAt,
  })
}

function endRun(db: WriteDb, id: number, finishedAt: string) {
  return closeRun(db, id, { ...NOTHING, status: 'ok', message: null, finished_at: finishedAt })
}

test('`selectLastFinishedRun` ignores a clock that ran ahead', async (t) => {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  assert.equal(await selectLastFinishedRun(db), undefined)
  await endRun(db, await startRun(db, '2036-01-01T00:00:00Z'), '2036-01-01T00:01:00Z')
  await endRun(db, await startRun(db, '2026-03-24T12:00:00Z'), '2026-03-24T12:01:00Z')
  await startRun(db, '2026-03-24T13:00:00Z')
  assert.equal((await selectLastFinishedRun(db))?.id, 2)
})

test('`closeInterruptedRuns` does not change finished runs', async (t) => {
  const db = temporaryDatabase(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  await endRun(db, await startRun(db, '2026-03-24T12:00:00Z'), '2026-03-24T12:01:00Z')
  const [ended] = await db.selectFrom('sync_runs').selectAll().execute()
  await startRun(db, '2026-03-24T13:00:00Z')
  await closeInterruptedRuns(db, '2026-03-24T14:00:00Z')
  const runs = await db.selectFrom('sync_runs').selectAll().orderBy('id').execute()
  assert.deepEqual(runs[0], ended)
  assert.equal(runs[1]?.status, 'error')
  assert.deepEqual([runs[1]?.message, runs[1]?.finished_at], ['interrupted', '2026-03-24T14:00:00Z'])
})
