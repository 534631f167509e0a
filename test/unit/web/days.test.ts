import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, addMonths, isDay, todayAt, validateDay } from '../../src/web/words/days.ts'

test('today is Costa Rica’s', () => {
  assert.equal(todayAt(Date.parse('2026-11-22T05:59:59Z')), '2026-11-21')
  assert.equal(todayAt(Date.parse('2026-11-22T06:00:00Z')), '2026-11-22')
})

test('months end where they end', () => {
  assert.equal(addMonths('2026-03-31', -1), '2026-02-28')
  assert.equal(addMonths('2024-03-31', -1), '2024-02-29')
  assert.equal(addMonths('2026-01-15', -12), '2025-01-15')
  assert.equal(addMonths('2024-02-29', -12), '2023-02-28')
  assert.equal(addDays('2026-12-31', 1), '2027-01-01')
})

test('only a day of the calendar is one', () => {
  assert.ok(isDay('2024-02-29'))
  for (const text of ['2023-02-29', '2026-13-01', '26-01-01', '1899-12-31', '2026-1-1', ''])
    assert.ok(!isDay(text), text)
})

test('validateDay refuses a day after tomorrow, one before the data, and a half-typed one', () => {
  const fault = (day: string) => validateDay(day, '2026-11-20')
  for (const day of ['1983-01-01', '2026-11-20', '2026-11-21']) assert.equal(fault(day), undefined, day)
  for (const day of ['2026-11-22', '2027-05-05']) assert.equal(fault(day), 'future', day)
  for (const day of ['1982-12-31', '1899-12-31', '0002-05-05']) assert.equal(fault(day), 'before', day)
  for (const day of ['', '2026-02-31', '2026-11']) assert.equal(fault(day), 'unreadable', day)
})
