// Runs withhold far values: they are named, their days are not covered, and later days or the operator confirm them.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { selectDescribedRuns } from '../../../../src/store/rates/sync-runs.ts'
import { deleteStoredWithheld, selectWithheld } from '../../../../src/store/rates/withheld.ts'
import { discardRates } from '../../../../src/sync/discard.ts'
import { retryReason, syncAll } from '../../../../src/sync/run.ts'
import { addDays, type IsoDate } from '../../../../src/values/dates.ts'
import { EUR, openDesk, selectCatalogue } from '../../../support/rates/memory-bank.ts'

const CRC = '318'
const DAY_MS = 86_400_000
type Desk = Awaited<ReturnType<typeof openDesk>>

const publishDollar = (desk: Desk, value: (day: IsoDate) => string) => {
  desk.bank.publish[CRC] = (day) => (day > desk.clock.today() ? undefined : value(day))
}

async function nextDay(desk: Desk, days = 1) {
  desk.clock.now = new Date(desk.clock.now.getTime() + days * DAY_MS)
  return desk.sync()
}

async function syncedDesk(t: TestContext, value = '500') {
  const desk = await openDesk(t, { backfillFrom: '2026-03-01' })
  publishDollar(desk, () => value)
  assert.equal((await desk.sync()).status, 'ok')
  return desk
}

test('a value ten times too high is withheld until the source corrects it', async (t) => {
  const desk = await syncedDesk(t)
  publishDollar(desk, (day) => (day === '2026-03-25' ? '5000' : '500'))
  const run = await nextDay(desk)
  const message =
    '318: USD/CRC venta of 2026-03-25 is 5000, more than a factor of 5 from 500 of 2026-03-24, withheld'
  assert.deepEqual([run.status, run.message], ['parcial', message])
  const [described] = await selectDescribedRuns(desk.db, 1)
  assert.deepEqual(described?.failures, [{ code: 'value_withheld', of: CRC, count: 1 }])
  assert.equal((await desk.stored('CRC'))['2026-03-25'], undefined)
  assert.deepEqual(await desk.covered('CRC'), { from: '2026-03-01', to: '2026-03-24' })
  assert.equal((await desk.sync()).message, message, 'each run names it')
  const [row] = await selectWithheld(desk.db)
  assert.deepEqual([row?.value, row?.far_from, row?.run_id], ['5000', 'neighbour', run.id])
  publishDollar(desk, () => '500')
  assert.equal((await desk.sync()).status, 'ok')
  assert.equal((await desk.stored('CRC'))['2026-03-25'], '500')
  assert.deepEqual(await selectWithheld(desk.db), [])
})

test('an answer that is ten times too high as a whole replaces nothing', async (t) => {
  const desk = await syncedDesk(t)
  const before = await desk.stored('CRC')
  publishDollar(desk, () => '5000')
  const run = await nextDay(desk)
  assert.match(run.message ?? '', /318: \d+ more values are withheld/)
  assert.deepEqual(await desk.stored('CRC'), before)
  publishDollar(desk, () => '500')
  assert.equal((await desk.sync()).status, 'ok')
  assert.deepEqual(await desk.stored('CRC'), { ...before, '2026-03-25': '500' })
})

test('a new currency is stored after three later days of other runs', async (t) => {
  const desk = await syncedDesk(t)
  publishDollar(desk, (day) => (day < '2026-03-25' ? '500' : '0.5'))
  for (const day of ['2026-03-25', '2026-03-26', '2026-03-27']) {
    assert.equal((await nextDay(desk)).status, 'parcial', day)
    assert.equal((await desk.stored('CRC'))['2026-03-25'], undefined)
  }
  assert.equal((await nextDay(desk)).status, 'ok')
  const rates = await desk.stored('CRC')
  assert.deepEqual([rates['2026-03-24'], rates['2026-03-25'], rates['2026-03-28']], ['500', '0.5', '0.5'])
  assert.deepEqual(await selectWithheld(desk.db), [])
})

test('a withheld value alone causes no other run, unless the due value is missing', async (t) => {
  const desk = await syncedDesk(t)
  const request = { trigger: 'scheduler' as const, range: undefined, signal: new AbortController().signal }
  publishDollar(desk, (day) => (day === '2026-03-23' ? '5000' : '500'))
  const [end] = await syncAll(desk.deps, [desk.bank.provider], request)
  assert.ok(end)
  assert.deepEqual([end.run.status, end.complete, end.current], ['parcial', true, true])
  assert.equal(retryReason([end]), undefined)
  const due = { ...end, current: false }
  assert.deepEqual(retryReason([due]), { why: `${end.due} is not there yet`, isSoon: true })
})

test('a source that multiplies all its values confirms none of them', async (t) => {
  const desk = await syncedDesk(t)
  const before = await desk.stored('CRC')
  publishDollar(desk, () => '50000')
  for (let run = 0; run < 6; run += 1) assert.equal((await nextDay(desk)).status, 'parcial')
  assert.deepEqual(await desk.stored('CRC'), before)
})

test('a new currency in history needs no operator, wherever a window ends', async (t) => {
  // The first day of the window of a year is 2025-03-09.
  for (let jump = -5; jump <= 5; jump += 1) {
    await checkCurrency(t, addDays('2025-03-09', jump))
  }
})

test('a new currency in history needs no operator, after nine days without a value', async (t) => {
  await checkCurrency(t, '2025-03-09', 9)
})

/** Syncs a history with a new currency from `day` on, and no value on the `closedDays` before it. */
async function checkCurrency(t: TestContext, day: IsoDate, closedDays = 0) {
  const catalogue = selectCatalogue(['CRC'])
  const groups = bccr.groups.filter(({ table }) => table === '1')
  const desk = await openDesk(t, { backfillFrom: '2024-12-01', catalogue, groups })
  const isClosed = (one: IsoDate) => one < day && one >= addDays(day, -closedDays)
  const value = (one: IsoDate) =>
    one > '2026-03-24' || isClosed(one) ? undefined : one < day ? '500000' : '500'
  desk.bank.publish[CRC] = value
  await desk.sync()
  const { status, message } = await desk.sync()
  assert.equal(status, 'ok', `${day}: ${message}`)
  const rates = await desk.stored('CRC')
  for (const [one, text] of Object.entries(rates)) assert.equal(text, value(one), `${day}: ${one}`)
  assert.ok(rates['2024-12-01'], day)
}

test('a first answer far from the plausible range is withheld until the operator accepts a day', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-03-01' })
  publishDollar(desk, () => '50000')
  const run = await desk.sync()
  assert.match(run.message ?? '', /is 50000, far from the plausible 400 to 700, withheld/)
  assert.deepEqual(await desk.stored('CRC'), {})
  await nextDay(desk)
  assert.equal((await nextDay(desk)).status, 'parcial')
  await accept(desk, 'CRC', '2026-03-24')
  assert.deepEqual(await desk.stored('CRC'), { '2026-03-24': '50000' })
  assert.equal((await desk.sync()).status, 'ok')
  assert.equal((await desk.stored('CRC'))['2026-03-01'], '50000')
})

async function accept(desk: Desk, currency: string, day: IsoDate) {
  const acceptedJump = { seriesId: await desk.idOf(currency), day }
  const request = { trigger: 'cli' as const, range: { from: day, to: day }, acceptedJump }
  await syncAll(desk.deps, [desk.bank.provider], { ...request, signal: new AbortController().signal })
}

test('only the operator replaces a stored value by one beyond the factor', async (t) => {
  const desk = await syncedDesk(t)
  publishDollar(desk, (day) => (day === '2026-03-23' ? '50' : '500'))
  for (let run = 0; run < 6; run += 1) assert.equal((await nextDay(desk)).status, 'parcial')
  assert.equal((await desk.stored('CRC'))['2026-03-23'], '500')
  await accept(desk, 'CRC', '2026-03-23')
  assert.equal((await desk.stored('CRC'))['2026-03-23'], '50')
  assert.equal((await desk.sync()).status, 'ok')
})

test('a parity is withheld too, and its table covers the others', async (t) => {
  const desk = await openDesk(t, { backfillFrom: '2026-03-01' })
  desk.bank.publish[EUR] = (day) => (day > '2026-03-24' ? undefined : day === '2026-03-24' ? '11' : '1.1')
  const run = await desk.sync()
  assert.equal(
    run.message,
    '520: EUR/USD of 2026-03-24 is 11, more than a factor of 5 from 1.1 of 2026-03-23, withheld',
  )
  assert.deepEqual(await desk.covered('EUR'), { from: '2026-03-01', to: '2026-03-23' })
  assert.deepEqual(await desk.covered('JPY'), { from: '2026-03-01', to: '2026-03-25' })
})

test('`rates discard` removes withheld values of later days', async (t) => {
  const desk = await syncedDesk(t)
  const [seriesId, run] = [await desk.idOf('CRC'), (await selectDescribedRuns(desk.db, 1))[0]]
  const row = { value: '5000', rounded_to: null, far_from: 'neighbour' as const, run_id: run?.id ?? 0 }
  for (const rate_date of ['2026-03-24', '2026-04-24'])
    await desk.db
      .insertInto('withheld_rates')
      .values({ series_id: seriesId, rate_date, ...row })
      .execute()
  await discardRates({ ...desk.deps }, '2026-03-25')
  assert.deepEqual(
    (await selectWithheld(desk.db)).map(({ rate_date }) => rate_date),
    ['2026-03-24'],
  )
})

test('an import that stores a withheld value ends its row', async (t) => {
  const desk = await syncedDesk(t)
  const [series_id, run] = [await desk.idOf('CRC'), (await selectDescribedRuns(desk.db, 1))[0]]
  const row = { series_id, rounded_to: null, far_from: 'neighbour' as const, run_id: run?.id ?? 0 }
  const values = { '2026-03-20': '500', '2026-03-21': '5000' }
  for (const [rate_date, value] of Object.entries(values))
    await desk.db
      .insertInto('withheld_rates')
      .values({ ...row, rate_date, value })
      .execute()
  await deleteStoredWithheld(desk.db, series_id)
  assert.deepEqual(
    (await selectWithheld(desk.db)).map(({ value }) => value),
    ['5000'],
  )
})
