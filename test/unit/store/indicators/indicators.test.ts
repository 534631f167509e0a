// Rows of indicators: their order, values of any sign, the record of coverage and revisions, and instants that rise.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { atomically } from '../../../../src/store/engine.ts'
import {
  findNewestIndicatorValue,
  findStoredIndicator,
  insertIndicator,
  insertIndicatorRevisions,
  markWaiting,
  raiseIndicatorRevision,
  replaceIndicatorCoverage,
  selectIndicatorValues,
  updateIndicator,
  upsertIndicatorValues,
} from '../../../../src/store/indicators/changes.ts'
import {
  countEnabledIndicators,
  selectIndicators,
  selectIndicatorVersion,
} from '../../../../src/store/indicators/indicators.ts'
import {
  closeIndicatorRun,
  closeInterruptedIndicatorRuns,
  countHistoryRequests,
  findTokenRefusal,
  insertIndicatorRun,
  updateIndicatorRun,
} from '../../../../src/store/indicators/open-runs.ts'
import { hasOpenIndicatorRun, selectIndicatorRuns } from '../../../../src/store/indicators/runs.ts'
import {
  selectAllIndicatorValues,
  selectIndicatorCoverage,
  selectLaterIndicatorChanges,
  selectLaterIndicatorRevisions,
  selectValueDays,
} from '../../../../src/store/indicators/values.ts'
import { selectMeta } from '../../../../src/store/meta.ts'
import { ensureCatalogue } from '../../../../src/sync/catalogue.ts'
import { createMemoryBank } from '../../../support/rates/memory-bank.ts'
import { fixedClock, temporaryEngine } from '../../../support/temporary.ts'

const NOW = '2026-03-24T12:00:00.000Z'
const RUN = { provider_id: 1, trigger: 'scheduler', date_from: null, date_to: null, started_at: NOW } as const

async function open(t: TestContext, codes = ['423']) {
  const { db } = await temporaryEngine(t)
  await ensureCatalogue(db, [createMemoryBank(fixedClock()).provider], fixedClock().read)
  const unknown = { name: null, unit: null, periodicity: null, history_from: null }
  for (const code of codes) await insertIndicator(db, { code, provider_id: 1, ...unknown, added_at: 7 })
  return db
}

test('indicators are listed by code as a number, and begin enabled and new', async (t) => {
  const db = await open(t, ['98405', '3541', '423'])
  const rows = await selectIndicators(db)
  assert.deepEqual(
    rows.map(({ code, enabled, state }) => [code, enabled, state]),
    [
      ['423', true, 'new'],
      ['3541', true, 'new'],
      ['98405', true, 'new'],
    ],
  )
  await updateIndicator(db, '3541', { enabled: false, state: 'active', name: 'Tasa', is_named: true })
  const { enabled, name, is_named } = (await findStoredIndicator(db, '3541')) ?? {}
  assert.deepEqual({ enabled, name, is_named }, { enabled: false, name: 'Tasa', is_named: true })
  assert.equal(await countEnabledIndicators(db), 2)
  assert.equal(await findStoredIndicator(db, '1'), undefined)
})

test('waiting for the token changes enabled indicators that are not refused', async (t) => {
  const db = await open(t, ['1', '2', '3'])
  await updateIndicator(db, '2', { state: 'refused' })
  await updateIndicator(db, '3', { enabled: false })
  await markWaiting(db)
  assert.deepEqual(
    (await selectIndicators(db)).map(({ state }) => state),
    ['waiting', 'refused', 'new'],
  )
})

test('values of any sign are stored and replaced, and are found by day', async (t) => {
  const db = await open(t, ['423', '424'])
  const value = (value_date: string, value: string, stored_at = 9) => ({
    code: '423',
    value_date,
    value,
    stored_at,
  })
  await upsertIndicatorValues(db, [value('2026-03-24', '0'), value('2026-03-23', '-0.25')])
  await upsertIndicatorValues(db, [value('2026-03-23', '-0.3', 12)])
  assert.deepEqual(await selectAllIndicatorValues(db, '423'), [
    value('2026-03-23', '-0.3', 12),
    value('2026-03-24', '0'),
  ])
  const day = { from: '2026-03-24', to: '2026-03-30' }
  assert.deepEqual(await selectIndicatorValues(db, '423', day), [value('2026-03-24', '0')])
  assert.equal((await findNewestIndicatorValue(db, '423'))?.value_date, '2026-03-24')
  assert.equal(await findNewestIndicatorValue(db, '424'), undefined)
  assert.deepEqual(
    await selectValueDays(db),
    new Map([['423', { first: '2026-03-23', newest: '2026-03-24' }]]),
  )
})

test('the record has the days that became covered or uncovered, newest first', async (t) => {
  const db = await open(t)
  const year = { from: '2025-01-01', to: '2025-12-31' }
  const half = { from: '2025-01-01', to: '2025-06-30' }
  await replaceIndicatorCoverage(db, '423', { before: [], after: [year], at: 10 })
  await replaceIndicatorCoverage(db, '423', { before: [year], after: [half], at: 20 })
  assert.deepEqual(await selectIndicatorCoverage(db), new Map([['423', [half]]]))
  assert.deepEqual(await selectIndicatorCoverage(db, '424'), new Map())
  const removal = { kind: 'removed', days: { from: '2025-07-01', to: '2025-12-31' } }
  assert.deepEqual(await selectLaterIndicatorChanges(db, '423', 10), [removal])
  assert.deepEqual(await selectLaterIndicatorChanges(db, '423', 9), [removal, { kind: 'added', days: year }])
})

test('revisions have the replaced value, and are selected by their instant', async (t) => {
  const db = await open(t)
  const run_id = await insertIndicatorRun(db, RUN)
  const replaced = { code: '423', value_date: '2026-03-23', old_value: '1', old_stored_at: 9, new_value: '2' }
  await insertIndicatorRevisions(db, [{ ...replaced, replaced_at: NOW, run_id }])
  const instant = Date.parse(NOW)
  assert.deepEqual(
    (await selectLaterIndicatorRevisions(db, '423', instant - 1)).map(({ old_value }) => old_value),
    ['1'],
  )
  assert.deepEqual(await selectLaterIndicatorRevisions(db, '423', instant), [])
})

test('instants rise even if the clock does not, and the rates do not change', async (t) => {
  const db = await open(t)
  const rates = await selectMeta(db)
  const before = await selectIndicatorVersion(db)
  assert.equal(before.newestInstant, undefined)
  const now = new Date(NOW)
  const raise = () => atomically(db, (trx) => raiseIndicatorRevision(trx, now))
  assert.deepEqual([await raise(), await raise()], [now, new Date(now.getTime() + 1)])
  const after = await selectIndicatorVersion(db)
  assert.deepEqual([after.revision, after.newestInstant], [before.revision + 2, now.getTime() + 1])
  assert.deepEqual(await selectMeta(db), rates)
})

test('a run is closed once, and counts its requests for history', async (t) => {
  const db = await open(t)
  const id = await insertIndicatorRun(db, RUN)
  assert.ok(await hasOpenIndicatorRun(db))
  const counts = { inserted: 3, updated: 0, unchanged: 1 }
  await updateIndicatorRun(db, id, { ...counts, date_from: '2026-03-01', date_to: '2026-03-25', history: 4 })
  const end = {
    ...counts,
    status: 'ok',
    message: null,
    failures: '[]',
    finished_at: NOW,
    history: 5,
  } as const
  const { date_from, inserted, status } = await closeIndicatorRun(db, id, { ...end, token_hash: null })
  assert.deepEqual([date_from, inserted, status], ['2026-03-01', 3, 'ok'])
  await assert.rejects(closeIndicatorRun(db, id, { ...end, token_hash: null }), /is not open/)
  assert.equal(await findTokenRefusal(db), undefined)
  assert.deepEqual([await countHistoryRequests(db, NOW), await countHistoryRequests(db, '2027')], [5, 0])
  const second = await insertIndicatorRun(db, RUN)
  await closeIndicatorRun(db, second, { ...end, token_hash: 'a'.repeat(64) })
  assert.deepEqual(await findTokenRefusal(db), { tokenHash: 'a'.repeat(64), at: NOW })
  await insertIndicatorRun(db, RUN)
  await closeInterruptedIndicatorRuns(db, NOW)
  const [third] = await selectIndicatorRuns(db, 9)
  assert.deepEqual([third?.status, third?.message], ['parcial', 'interrupted'])
  assert.ok(!(await hasOpenIndicatorRun(db)))
})
