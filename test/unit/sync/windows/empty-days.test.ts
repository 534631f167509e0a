// Begun days without a value of a source that publishes every day. Three runs on different days of Costa Rica must
// agree before such a day is covered.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { banguat } from '../../../../src/providers/banguat/banguat.ts'
import { banxico } from '../../../../src/providers/banxico/banxico.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { ecb } from '../../../../src/providers/ecb/ecb.ts'
import { trm } from '../../../../src/providers/trm/trm.ts'
import { openDesk, selectCatalogue } from '../../../support/rates/memory-bank.ts'

const DAY_MS = 86_400_000
const HOLE = '2026-03-20'
const MESSAGE = `318: USD/CRC venta has no value on ${HOLE}`

async function openDaily(t: TestContext) {
  const groups = bccr.groups
    .filter(({ table }) => table === '1')
    .map((one) => ({ ...one, publishesDaily: true as const }))
  const desk = await openDesk(t, { backfillFrom: '2026-03-01', catalogue: selectCatalogue(['CRC']), groups })
  const publish = (without: readonly string[], from = '2020-01-01') => {
    desk.bank.publish['318'] = (day) =>
      day <= desk.clock.today() && day >= from && !without.includes(day) ? '500' : undefined
  }
  publish([HOLE])
  const nextDay = () => {
    desk.clock.now = new Date(desk.clock.now.getTime() + DAY_MS)
    return desk.sync()
  }
  return { ...desk, publish, nextDay }
}

test('the TRM and the Banco de Guatemala publish every day', () => {
  const daily = [bccr, ecb, banguat, trm, banxico].filter(({ groups }) =>
    groups.some(({ publishesDaily }) => publishesDaily),
  )
  assert.deepEqual(daily.map(({ code }) => code).sort(), ['banguat', 'trm'])
})

test('a day without a value is a hole until three runs on different days agree', async (t) => {
  const desk = await openDaily(t)
  const first = await desk.sync()
  assert.deepEqual([first.status, first.message], ['parcial', MESSAGE])
  const hole = [
    { from: '2026-03-01', to: '2026-03-19' },
    { from: '2026-03-21', to: '2026-03-24' },
  ]
  assert.deepEqual(await desk.covered('CRC'), hole)
  assert.equal((await desk.sync()).message, MESSAGE, 'the same day counts once')
  assert.equal((await desk.sync()).message, MESSAGE)
  assert.equal((await desk.nextDay()).message, MESSAGE)
  assert.equal((await desk.nextDay()).status, 'ok', 'the third run covers it')
  assert.deepEqual(await desk.covered('CRC'), { from: '2026-03-01', to: '2026-03-26' })
  assert.deepEqual(await desk.db.selectFrom('empty_days').selectAll().execute(), [])
  assert.equal((await desk.nextDay()).status, 'ok', 'a covered day stays covered')
})

test('a value ends the count of its day', async (t) => {
  const desk = await openDaily(t)
  await desk.sync()
  await desk.nextDay()
  assert.deepEqual(
    (await desk.db.selectFrom('empty_days').selectAll().execute()).map(({ answers, rate_date }) => [
      answers,
      rate_date,
    ]),
    [[2, HOLE]],
  )
  desk.publish([])
  assert.equal((await desk.nextDay()).status, 'ok')
  assert.deepEqual(await desk.db.selectFrom('empty_days').selectAll().execute(), [])
})

test('a day of today without a value is a hole, also of an empty source', async (t) => {
  const desk = await openDaily(t)
  desk.publish(['2026-03-24'])
  assert.equal((await desk.sync()).message, '318: USD/CRC venta has no value on 2026-03-24')
  const empty = await openDaily(t)
  empty.publish([], '2030-01-01')
  assert.match(
    (await empty.sync()).message ?? '',
    /318: USD\/CRC venta has no value on 2026-03-10 to 2026-03-24/,
  )
})

test('a source that is empty at first has no covered day in any window', async (t) => {
  const groups = bccr.groups
    .filter(({ table }) => table === '1')
    .map((one) => ({ ...one, publishesDaily: true as const }))
  const desk = await openDesk(t, { backfillFrom: '2024-01-01', catalogue: selectCatalogue(['CRC']), groups })
  desk.bank.publish['318'] = () => undefined
  await desk.sync()
  assert.deepEqual((await desk.covered('CRC')) ?? [], [])
})

test('a count of a clock that was ahead goes on', async (t) => {
  const desk = await openDaily(t)
  await desk.sync()
  await desk.db.updateTable('empty_days').set({ answered_on: '2030-01-01' }).execute()
  await desk.nextDay()
  const rows = await desk.db.selectFrom('empty_days').selectAll().execute()
  assert.deepEqual(
    rows.map(({ answers, answered_on }) => [answers, answered_on]),
    [[2, '2026-03-25']],
  )
})

test('a day before its publication time is no hole, and its answer does not count', async (t) => {
  const desk = await openDaily(t)
  const { provider } = desk.bank
  desk.bank.provider = { ...provider, publication: { ...provider.publication, time: '23:59' } }
  desk.publish(['2026-03-24'])
  assert.equal((await desk.sync()).status, 'ok')
  const rows = await desk.db.selectFrom('empty_days').selectAll().execute()
  assert.deepEqual(
    rows.map(({ answers, rate_date }) => [answers, rate_date]),
    [[0, '2026-03-24']],
  )
})

test('days before the first value are counted in silence', async (t) => {
  const desk = await openDaily(t)
  desk.publish([], '2026-03-12')
  assert.equal((await desk.sync()).status, 'ok')
  const hole = [
    { from: '2026-03-01', to: '2026-03-09' },
    { from: '2026-03-12', to: '2026-03-24' },
  ]
  assert.deepEqual(await desk.covered('CRC'), hole)
  await desk.nextDay()
  assert.equal((await desk.nextDay()).status, 'ok')
  assert.deepEqual(await desk.covered('CRC'), { from: '2026-03-01', to: '2026-03-26' })
})

test('days that were covered before stay covered', async (t) => {
  const desk = await openDaily(t)
  desk.bank.provider = { ...desk.bank.provider, groups: bccr.groups.filter(({ table }) => table === '1') }
  assert.equal((await desk.sync()).status, 'ok')
  const { provider } = desk.bank
  desk.bank.provider = {
    ...provider,
    groups: provider.groups.map((one) => ({ ...one, publishesDaily: true })),
  }
  assert.equal((await desk.sync()).status, 'ok')
  assert.deepEqual(await desk.covered('CRC'), { from: '2026-03-01', to: '2026-03-24' })
})
