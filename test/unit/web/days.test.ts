import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, addMonths, costaRicaDay, isDay, lastMonthEnd } from '../../../src/web/model/days.ts'

test('costaRicaDay changes at 06:00 UTC', () => {
  assert.equal(costaRicaDay(Date.parse('2026-11-22T05:59:59Z')), '2026-11-21')
  assert.equal(costaRicaDay(Date.parse('2026-11-22T06:00:00Z')), '2026-11-22')
})

test('addMonths returns the last day of a shorter month', () => {
  assert.equal(addMonths('2026-03-31', -1), '2026-02-28')
  assert.equal(addMonths('2024-03-31', -1), '2024-02-29')
  assert.equal(addMonths('2026-01-15', -12), '2025-01-15')
  assert.equal(addMonths('2024-02-29', -12), '2023-02-28')
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
})

test('isDay rejects days that the calendar lacks', () => {
  assert.ok(isDay('2024-02-29'))
  for (const text of ['2023-02-29', '2026-13-01', '26-01-01', '1899-12-31', '2026-1-1', ''])
    assert.ok(!isDay(text), text)
})

test('lastMonthEnd returns the last day of the month before', () => {
  assert.equal(lastMonthEnd('2026-11-22'), '2026-10-31')
  assert.equal(lastMonthEnd('2024-03-31'), '2024-02-29')
  assert.equal(lastMonthEnd('2026-01-01'), '2025-12-31')
})
