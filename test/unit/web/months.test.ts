import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  lastClosedYear,
  listMonths,
  type MonthPoint,
  monthRows,
  STATS,
} from '../../../src/web/model/months.ts'

const point = (month: string, value: string, more: Partial<MonthPoint> = {}): MonthPoint => ({
  date: `${month}-01`,
  rate_date: `${month}-27`,
  value,
  ...more,
})

/** Side with four equal figures a month. */
const side = (name: string, points: MonthPoint[]) => ({
  name,
  stats: { last: points, mean: points, low: points, high: points },
})

test('listMonths returns the months of a year that have begun', () => {
  assert.deepEqual(listMonths('2026', '2026-03-01'), ['2026-01', '2026-02', '2026-03'])
  assert.equal(listMonths('2025', '2026-03-01').length, 12)
  assert.deepEqual(listMonths('2027', '2026-12-31'), [])
})

test('lastClosedYear is the year of the last complete month', () => {
  assert.equal(lastClosedYear('2026-11-20'), '2026')
  assert.equal(lastClosedYear('2027-01-31'), '2026')
  assert.equal(lastClosedYear('2027-02-01'), '2027')
})

test('monthRows includes months without values, and a later month that has some', () => {
  const rows = monthRows('2026', '2026-02-28', [
    side('venta', [point('2026-01', '500.10'), point('2026-03', '501')]),
  ])
  assert.deepEqual(
    rows.map(({ month, cells }) => [month, ...cells.map(({ point }) => point?.value)]),
    [
      ['2026-01', '500.10', '500.10', '500.10', '500.10'],
      ['2026-02', undefined, undefined, undefined, undefined],
      ['2026-03', '501', '501', '501', '501'],
    ],
  )
})

test('monthRows groups the sides by figure, and names the sides of a partial month', () => {
  const partial = { partial: true } as const
  const rows = monthRows('2026', '2026-02-20', [
    side('compra', [point('2026-01', '1', partial), point('2026-02', '2', partial)]),
    side('venta', [point('2026-01', '3'), point('2026-02', '4', partial)]),
  ])
  assert.deepEqual(
    rows[0]?.cells.map(({ stat, side, point }) => `${stat} ${side} ${point?.value}`),
    STATS.flatMap((stat) => [`${stat} compra 1`, `${stat} venta 3`]),
  )
  assert.deepEqual(
    rows.map(({ partial }) => partial),
    [['compra'], ['compra', 'venta']],
  )
})
