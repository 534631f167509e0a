import assert from 'node:assert/strict'
import { test } from 'node:test'
import { monthWeeks, moveInCalendar } from '../../../src/web/model/month-grid.ts'

test('monthWeeks begins each week on Monday', () => {
  const weeks = monthWeeks('2026-11-22')
  assert.deepEqual(weeks[0], [...Array.from({ length: 6 }, () => undefined), '2026-11-01'])
  assert.equal(weeks[1]?.[0], '2026-11-02')
  assert.equal(weeks.length, 6)
  assert.equal(weeks.at(-1)?.[0], '2026-11-30')
  assert.equal(monthWeeks('2021-02-10').length, 4)
  assert.deepEqual(monthWeeks('2024-02-10').flat().filter(Boolean).at(-1), '2024-02-29')
})

test('moveInCalendar moves by days, weeks, months and years', () => {
  const moves = {
    ArrowLeft: '2026-11-24',
    ArrowRight: '2026-11-26',
    ArrowUp: '2026-11-18',
    ArrowDown: '2026-12-02',
    Home: '2026-11-23',
    End: '2026-11-29',
    PageUp: '2026-10-25',
    PageDown: '2026-12-25',
    Enter: undefined,
  }
  for (const [key, day] of Object.entries(moves))
    assert.equal(moveInCalendar('2026-11-25', key, false), day, key)
  assert.equal(moveInCalendar('2024-02-29', 'PageUp', true), '2023-02-28')
})
