// Record of a run: status, counts, days and message.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectRevisions } from '../../../src/store/rates/change-log.ts'
import { updateProviderEnabled } from '../../../src/store/rates/providers.ts'
import { updateSeriesEnabled } from '../../../src/store/rates/series.ts'
import { IN_PROGRESS, selectRuns } from '../../../src/store/rates/sync-runs.ts'
import { hasBenchmark, syncAll } from '../../../src/sync/run.ts'
import { AUD, listDays, nextDay, openDesk } from '../../support/rates/memory-bank.ts'

const FLOOR = '2026-02-01'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const DAYS = listDays(FLOOR, TOMORROW).length
const SERIES = 6 // both sides of the dollar, AUD, EUR, JPY, XDR

test('a first run fills everything down to the floor and is ok', async (t) => {
  const { sync, stored, covered } = await openDesk(t)
  const run = await sync()
  assert.equal(run.message, null)
  assert.equal(run.status, 'ok')
  assert.deepEqual([run.date_from, run.date_to], [FLOOR, TOMORROW])
  assert.deepEqual([run.inserted, run.updated, run.unchanged], [DAYS * SERIES, 0, 0])
  assert.equal(run.current, true)
  for (const currency of ['CRC', 'AUD', 'EUR', 'JPY', 'XDR']) {
    assert.deepEqual(Object.keys(await stored(currency)), listDays(FLOOR, TOMORROW))
    assert.deepEqual(await covered(currency), { from: FLOOR, to: TOMORROW })
  }
})

test('a first run requests the newest days of all groups before history', async (t) => {
  const { sync, bank } = await openDesk(t)
  await sync()
  const reachesNow = bank.asked.map(({ window }) => window.to === TOMORROW)
  assert.deepEqual(
    bank.asked.slice(0, 3).map(({ table, indicator }) => indicator ?? table),
    ['317', '318', '520'],
  )
  assert.equal(reachesNow.lastIndexOf(true), 2 + Number(reachesNow[3])) // XDR, learned by name, can be requested alone
})

test('a second run reads fifteen days again and nothing else', async (t) => {
  const { sync, bank } = await openDesk(t)
  await sync()
  bank.asked.length = 0
  const run = await sync()
  assert.deepEqual(
    bank.asked.map(({ window }) => window),
    Array.from({ length: 3 }, () => ({ from: '2026-03-10', to: TOMORROW })),
  )
  assert.deepEqual([run.date_from, run.date_to], ['2026-03-10', TOMORROW])
  assert.deepEqual([run.status, run.inserted, run.unchanged], ['ok', 0, 16 * SERIES])
})

test('the row of a run is there, parcial and in progress, while it runs', async (t) => {
  const { sync, bank, db, clock } = await openDesk(t)
  let runDuringFetch: unknown
  bank.fault = async () => {
    runDuringFetch ??= (await selectRuns(db, { limit: 1 }))[0]
    clock.now = new Date('2026-03-24T12:00:30Z')
    return undefined
  }
  const run = await sync({ trigger: 'startup' })
  assert.deepEqual(runDuringFetch, {
    id: run.id,
    provider_id: 1,
    trigger: 'startup',
    status: 'parcial',
    date_from: FLOOR,
    date_to: TOMORROW,
    inserted: 0,
    updated: 0,
    unchanged: 0,
    message: IN_PROGRESS,
    started_at: '2026-03-24T12:00:00.000Z',
    finished_at: null,
  })
  assert.equal(run.finished_at, '2026-03-24T12:00:30.000Z')
})

test('runs are listed newest first, of one provider or of all', async (t) => {
  const { sync, db } = await openDesk(t)
  await sync()
  await sync()
  const ids = async (providerCode?: string) =>
    (await selectRuns(db, { limit: 10, providerCode })).map(({ id }) => id)
  assert.deepEqual(await ids(), [2, 1])
  assert.deepEqual(await ids('bccr'), [2, 1])
  assert.deepEqual(await ids('ecb'), [])
  assert.equal((await selectRuns(db, { limit: 1 })).length, 1)
})

test('a run over a range requests exactly these days', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  const run = await sync({ range: { from: '2026-02-10', to: '2026-02-20' } })
  assert.deepEqual([run.status, run.date_from, run.date_to], ['ok', '2026-02-10', '2026-02-20'])
  assert.equal(run.inserted, 11 * SERIES)
  for (const { window } of bank.asked) assert.deepEqual(window, { from: '2026-02-10', to: '2026-02-20' })
  assert.deepEqual(Object.keys(await stored('EUR')), listDays('2026-02-10', '2026-02-20'))
})

test('an answer without data is an answer', async (t) => {
  const { sync, bank } = await openDesk(t)
  for (const code of Object.keys(bank.publish)) bank.publish[code] = () => undefined
  const run = await sync()
  assert.deepEqual([run.status, run.message, run.inserted, run.current], ['ok', null, 0, false])
})

test('a disabled provider is not read', async (t) => {
  const { db, deps, bank, clock } = await openDesk(t)
  await updateProviderEnabled(db, 'bccr', false, clock.now.getTime())
  const request = { trigger: 'cli' as const, range: undefined, signal: new AbortController().signal }
  assert.deepEqual(await syncAll(deps, [bank.provider], request), [])
  assert.deepEqual([bank.asked.length, (await selectRuns(db, { limit: 9 })).length], [0, 0])
})

test('the dollar is current when every enabled side has its value of the day', async (t) => {
  const { db, sync, bank, clock, idOf } = await openDesk(t)
  bank.publish['318'] = (day) => (day < TODAY ? '505' : undefined)
  const run = await sync()
  assert.deepEqual([run.status, run.current], ['ok', false])
  assert.equal(await hasBenchmark(db, bank.provider, nextDay(TODAY, -1)), true)
  await updateSeriesEnabled(db, await idOf('CRC'), false, clock.now.getTime())
  assert.equal(await hasBenchmark(db, bank.provider, TODAY), true)
})

test('a corrected value replaces the old one, which becomes a revision of that run', async (t) => {
  const { sync, bank, db, stored, idOf, clock } = await openDesk(t)
  await sync()
  const before = bank.publish[AUD]
  bank.publish[AUD] = (day) => (day === '2026-03-10' || day === '2026-03-09' ? '0.7000' : before?.(day))
  clock.now = new Date('2026-03-24T13:00:00Z')
  const run = await sync()
  assert.deepEqual([run.status, run.inserted, run.updated, run.unchanged], ['ok', 0, 1, 16 * SERIES - 1])
  const aud = await stored('AUD')
  assert.equal(aud['2026-03-10'], '0.7')
  assert.notEqual(aud['2026-03-09'], '0.7', 'sixteen days back is not read again')
  const [revision, ...others] = await selectRevisions(db, {})
  assert.deepEqual(others, [])
  assert.deepEqual(revision, {
    id: 1,
    series_id: await idOf('AUD'),
    rate_date: '2026-03-10',
    kind: 'correction',
    old_value: '0.4829',
    old_rounded_to: null,
    old_stored_at: revision?.old_stored_at,
    new_value: '0.7',
    replaced_at: revision?.replaced_at,
    run_id: run.id,
  })
  // Each window is a commit, a millisecond after the one before.
  const [storedAt, replacement] = [revision?.old_stored_at ?? 0, Date.parse(revision?.replaced_at ?? '')]
  assert.ok(Math.abs(storedAt - Date.parse('2026-03-24T12:00:00Z')) < 100)
  assert.ok(Math.abs(replacement - Date.parse('2026-03-24T13:00:00Z')) < 100)
})

test('a value that the bank no longer publishes stays stored', async (t) => {
  const { sync, bank, stored } = await openDesk(t)
  await sync()
  bank.publish['318'] = (day) => (day < TODAY ? '500' : undefined)
  assert.equal((await sync()).status, 'ok')
  assert.equal((await stored('CRC'))[TODAY], '500')
})
