// The API and the commands during a sync, and after the death of its process.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRun } from '../../../src/store/rates/sync-runs.ts'
import type { HistoryProgress } from '../../../src/sync/progress.ts'
import { startTestApp, temporaryDirectory } from '../../support/app.ts'
import { openTestDatabase } from '../../support/temporary.ts'

type Run = Record<string, unknown>

const KEYS =
  'id provider_id trigger status date_from date_to inserted updated unchanged message started_at finished_at'

test('a running sync is parcial and in progress, and does not count yet', async (t) => {
  const app = await startTestApp(t)
  const snapshot: {
    runs: Run[]
    health: Run
    scheduler: { tasks: Run[] }
    history: HistoryProgress | undefined
  }[] = []
  app.bank.faults = async () => {
    if (snapshot.length === 0) {
      snapshot.push({
        runs: await app.json<Run[]>('/api/v1/sync/runs'),
        health: await app.json<Run>('/api/v1/health'),
        scheduler: await app.json<{ tasks: Run[] }>('/api/v1/scheduler'),
        history: app.app.historyProgress(),
      })
    }
    return undefined
  }
  assert.equal(app.app.historyProgress(), undefined)
  const { run } = await app.sync()
  const [{ runs: [row] = [], health, scheduler, history } = {}] = snapshot
  assert.deepEqual(Object.keys(row ?? {}), KEYS.split(' '))
  assert.deepEqual([row?.status, row?.message, row?.finished_at], ['parcial', 'in progress', null])
  assert.equal(health?.last_sync, null)
  assert.deepEqual([scheduler?.tasks[0]?.last_run, scheduler?.tasks[0]?.last_status], [null, null])
  assert.deepEqual([history?.group, history?.yearsRead, history?.requestsLeft], ['317/318', 0, 3 + 3])
  assert.ok(history?.doneAt instanceof Date)
  assert.equal(app.app.historyProgress(), undefined)
  assert.deepEqual((await app.json<Run[]>('/api/v1/sync/runs'))[0], run)
})

test('a run whose process died is marked interrupted when the next one begins', async (t) => {
  const dataDir = temporaryDirectory(t)
  const app = await startTestApp(t, { dataDir })
  const copies: Run[] = []
  app.bank.faults = async () => {
    const [, older] = await app.json<Run[]>('/api/v1/sync/runs')
    if (older) copies.push(older)
    return undefined
  }
  const db = openTestDatabase(dataDir)
  const dates = { date_from: '2026-03-01', date_to: '2026-03-25', started_at: '2026-03-24T11:00:00.000Z' }
  await insertRun(db, { provider_id: 1, trigger: 'scheduler', ...dates })
  await db.destroy()
  await app.sync({ from: '2026-03-24', to: '2026-03-24' })
  assert.ok(copies.length > 0)
  for (const { status, message, finished_at } of copies) {
    assert.deepEqual([status, message, finished_at], ['error', 'interrupted', '2026-03-24T12:00:00.000Z'])
  }
})
