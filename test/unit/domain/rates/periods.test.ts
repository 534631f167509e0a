import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findPeriod, type PeriodLength } from '../../../../src/domain/rates/history/periods.ts'
import { dayNumber, isoDate } from '../../../../src/values/dates.ts'

const periods: [day: string, length: PeriodLength, first: string, last: string][] = [
  ['2026-03-24', 'day', '2026-03-24', '2026-03-24'],
  ['2026-03-23', 'week', '2026-03-23', '2026-03-29'], // a Monday
  ['2026-03-29', 'week', '2026-03-23', '2026-03-29'], // a Sunday
  ['2026-01-01', 'week', '2025-12-29', '2026-01-04'],
  ['1970-01-01', 'week', '1969-12-29', '1970-01-04'],
  ['1900-01-01', 'week', '1900-01-01', '1900-01-07'],
  ['1900-01-07', 'week', '1900-01-01', '1900-01-07'],
  ['2024-02-29', 'month', '2024-02-01', '2024-02-29'],
  ['2025-12-31', 'month', '2025-12-01', '2025-12-31'],
  ['2025-02-28', 'quarter', '2025-01-01', '2025-03-31'],
  ['2025-12-31', 'quarter', '2025-10-01', '2025-12-31'],
  ['2999-12-31', 'quarter', '2999-10-01', '2999-12-31'],
  ['2024-02-29', 'year', '2024-01-01', '2024-12-31'],
  ['1900-12-31', 'year', '1900-01-01', '1900-12-31'],
]
for (const [day, length, first, last] of periods) {
  test(`the ${length} of ${day} is ${first} to ${last}`, () => {
    const period = findPeriod(dayNumber(day), length)
    assert.deepEqual([isoDate(period.first), isoDate(period.last)], [first, last])
  })
}
