import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  lastClosedYear,
  listPeriods,
  type PeriodPoint,
  periodHoles,
  periodRows,
  STATS,
} from '../../../../src/web/model/rates/months.ts'

/** Point with four equal figures. */
const point = (date: string, value: string, isPartial = false): PeriodPoint => {
  const figure = { value, rate_date: date }
  const figures = { last: figure, mean: figure, low: figure, high: figure }
  return { date, ...figures, ...(isPartial && { partial: true }) }
}

test('listPeriods returns the months and quarters of a year that have begun', () => {
  assert.deepEqual(listPeriods('month', '2026', '2026-03-01'), ['2026-01-01', '2026-02-01', '2026-03-01'])
  assert.equal(listPeriods('month', '2025', '2026-03-01').length, 12)
  assert.deepEqual(listPeriods('month', '2027', '2026-12-31'), [])
  assert.deepEqual(listPeriods('quarter', '2026', '2026-07-01'), ['2026-01-01', '2026-04-01', '2026-07-01'])
})

test('lastClosedYear is the year of the last complete month', () => {
  assert.equal(lastClosedYear('2026-11-20'), '2026')
  assert.equal(lastClosedYear('2027-01-31'), '2026')
  assert.equal(lastClosedYear('2027-02-01'), '2027')
})

test('periodRows includes months without values, and a later month that has some', () => {
  const points = [point('2026-01-01', '500.10'), point('2026-03-01', '501')]
  const rows = periodRows('month', '2026', '2026-02-28', [{ name: 'venta', points }])
  assert.deepEqual(
    rows.map(({ first, last, cells }) => [first, last, ...cells.map(({ figure }) => figure?.value)]),
    [
      ['2026-01-01', '2026-01-31', '500.10', '500.10', '500.10', '500.10'],
      ['2026-02-01', '2026-02-28', undefined, undefined, undefined, undefined],
      ['2026-03-01', '2026-03-31', '501', '501', '501', '501'],
    ],
  )
})

test('periodRows groups the sides by figure, and names the sides of a partial period', () => {
  const rows = periodRows('quarter', '2026', '2026-05-20', [
    { name: 'compra', points: [point('2026-01-01', '1', true), point('2026-04-01', '2', true)] },
    { name: 'venta', points: [point('2026-01-01', '3'), point('2026-04-01', '4', true)] },
  ])
  assert.deepEqual(
    rows[0]?.cells.map(({ stat, side, figure }) => `${stat} ${side} ${figure?.value}`),
    STATS.flatMap((stat) => [`${stat} compra 1`, `${stat} venta 3`]),
  )
  assert.deepEqual(
    rows.map(({ partial, isCurrent, last }) => [partial, isCurrent, last]),
    [
      [['compra'], false, '2026-03-31'],
      [['compra', 'venta'], true, '2026-06-30'],
    ],
  )
})

test('periodRows lists every year from the first with values, newest first', () => {
  const points = [point('2023-01-01', '1'), point('2025-01-01', '2')]
  const rows = periodRows('year', '', '2026-05-20', [{ name: 'venta', points }])
  assert.deepEqual(
    rows.map(({ first, last, cells }) => `${first} ${last} ${cells[0]?.figure?.value}`),
    [
      '2026-01-01 2026-12-31 undefined',
      '2025-01-01 2025-12-31 2',
      '2024-01-01 2024-12-31 undefined',
      '2023-01-01 2023-12-31 1',
    ],
  )
  assert.deepEqual(periodRows('year', '', '2026-05-20', [{ name: 'venta', points: [] }]), [])
})

test('periodHoles returns the unknown days inside a period', () => {
  const missing = {
    isUnknown: false,
    holes: [
      { from: '2026-01-30', to: '2026-02-02' },
      { from: '2026-02-10', to: '2026-02-10' },
      { from: '2026-03-01', to: '2026-03-05' },
    ],
  }
  assert.deepEqual(periodHoles({ first: '2026-02-01', last: '2026-02-28' }, missing), [
    { from: '2026-02-01', to: '2026-02-02' },
    { from: '2026-02-10', to: '2026-02-10' },
  ])
})
