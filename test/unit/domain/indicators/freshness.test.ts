// Ages after which an indicator is named, by its periodicity, and the share of the history that was read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { historyPercent } from '../../../../src/domain/indicators/history-share.ts'
import {
  selectIndicatorStates,
  staleIndicators,
} from '../../../../src/domain/indicators/indicator-freshness.ts'
import { updateIndicator, upsertIndicatorValues } from '../../../../src/store/indicators/changes.ts'
import { addDays } from '../../../../src/values/dates.ts'
import { openIndicatorDesk } from '../../../support/rates/indicator-desk.ts'

const TODAY = '2026-03-24'

test('an indicator is named after 10, 21, 75 or 400 days without a value', async (t) => {
  const desk = await openIndicatorDesk(t)
  const limits: [code: string, periodicity: string | null, days: number][] = [
    ['11', 'diaria', 10],
    ['12', null, 10],
    ['13', 'semanal', 21],
    ['14', 'nueva semanal', 21],
    ['15', 'mensual', 75],
    ['16', 'trimestral', 400],
    ['17', 'anual', 400],
  ]
  await desk.enable(limits.map(([code]) => code))
  for (const [code, periodicity] of limits) await updateIndicator(desk.db, code, { periodicity })
  const staleCodes = async () =>
    staleIndicators(await selectIndicatorStates(desk.db, desk.clock.read)).map((text) => text.slice(0, 2))
  assert.deepEqual(await staleCodes(), [], 'without a value')
  const store = (later: number) =>
    upsertIndicatorValues(
      desk.db,
      limits.map(([code, , days]) => ({
        code,
        value_date: addDays(TODAY, -days - later),
        value: '1',
        stored_at: 1,
      })),
    )
  await store(1)
  assert.deepEqual(
    await staleCodes(),
    limits.map(([code]) => code),
  )
  await store(0)
  assert.deepEqual(await staleCodes(), [])
})

test('historyPercent is the share of the days since the begin, and null while that is unknown', () => {
  const fixed = { history_from: '2026-03-14', history_done: false }
  const open = { history_from: null, history_done: false }
  const days = (from: string, to: string) => [{ from, to }]
  assert.equal(historyPercent(fixed, [], TODAY), 0)
  assert.equal(historyPercent(fixed, days('2026-03-21', TODAY), TODAY), 30)
  assert.equal(historyPercent(fixed, days('2026-03-14', '2026-03-23'), TODAY), 100)
  assert.equal(historyPercent(fixed, days('2026-03-15', TODAY), '2027-03-24'), 2)
  assert.equal(historyPercent({ ...fixed, history_from: TODAY }, [], TODAY), 100)
  assert.equal(historyPercent(open, days('2020-01-01', TODAY), TODAY), null)
  const whole = { history_from: null, history_done: true }
  assert.equal(historyPercent(whole, days('2020-01-01', TODAY), TODAY), 100)
  assert.equal(
    historyPercent(whole, [...days('2026-03-10', '2026-03-11'), ...days('2026-03-17', TODAY)], TODAY),
    64,
  )
})
