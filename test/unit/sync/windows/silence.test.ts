// A late source has values to come: days without a value at the end of a series are read again.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { IsoDate } from '../../../../src/values/dates.ts'
import { AUD, type Desk, EUR, listDays, nextDay, openDesk } from '../../../support/rates/memory-bank.ts'

const TODAY = '2026-03-24'

/** Runs once a day, up to a day. */
async function syncDaily(desk: Desk, last: IsoDate): Promise<void> {
  for (const day of listDays(nextDay(desk.clock.today()), last)) {
    desk.clock.now = new Date(`${day}T12:00:00Z`)
    await desk.sync({ trigger: 'scheduler' })
  }
}

test('values that a source brings five weeks late are stored', async (t) => {
  const desk = await openDesk(t)
  const { bank } = desk
  const usual = { 317: bank.publish['317'], 318: bank.publish['318'], [EUR]: bank.publish[EUR] }
  for (const code of Object.keys(usual)) {
    bank.publish[code] = (day) => (day <= TODAY ? usual[code as keyof typeof usual]?.(day) : undefined)
  }
  await desk.sync()
  await syncDaily(desk, '2026-04-28')
  Object.assign(bank.publish, usual)
  await syncDaily(desk, '2026-04-29')
  for (const currency of ['CRC', 'EUR']) {
    const rates = await desk.stored(currency)
    const missing = listDays(TODAY, '2026-04-29').filter((day) => !(day in rates))
    assert.deepEqual(missing, [], currency)
  }
})

test('days before a later value are read again for two weeks', async (t) => {
  const desk = await openDesk(t)
  const { bank } = desk
  const usual = bank.publish[EUR]
  bank.publish[EUR] = (day) => (day > TODAY && day < '2026-04-01' ? undefined : usual?.(day))
  await desk.sync()
  await syncDaily(desk, '2026-04-28')
  bank.asked.length = 0
  await syncDaily(desk, '2026-04-29')
  assert.deepEqual(new Set(bank.asked.map(({ window }) => window.from)), new Set(['2026-04-15']))
})

test('a series that has had no value for three months is not read again for them', async (t) => {
  const desk = await openDesk(t)
  const { bank } = desk
  bank.publish[AUD] = (day) => (day <= '2026-03-01' ? '0.7' : undefined)
  await desk.sync()
  bank.asked.length = 0
  await syncDaily(desk, '2026-03-26')
  assert.deepEqual(
    bank.asked.filter(({ table }) => table === '520').map(({ window }) => window.from),
    ['2026-03-02', '2026-03-02'],
    'with the newest days, in one request',
  )
  await syncDaily(desk, '2026-06-20')
  bank.asked.length = 0
  await syncDaily(desk, '2026-06-21')
  assert.deepEqual(new Set(bank.asked.map(({ window }) => window.from)), new Set(['2026-06-07']))
})
