import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lastClosedYear, type MonthPoint, monthsOf, rowsOf, STATS } from '../../src/web/words/months.ts'

const point = (month: string, value: string, more: Partial<MonthPoint> = {}): MonthPoint => ({
  date: `${month}-01`,
  rate_date: `${month}-27`,
  value,
  ...more,
})

/** A side whose four figures of a month are the same. */
const side = (name: string, points: MonthPoint[]) => ({
  name,
  stats: { last: points, mean: points, low: points, high: points },
})

test('the months of a year are those that have begun', () => {
  assert.deepEqual(monthsOf('2026', '2026-03-01'), ['2026-01', '2026-02', '2026-03'])
  assert.equal(monthsOf('2025', '2026-03-01').length, 12)
  assert.deepEqual(monthsOf('2027', '2026-12-31'), [])
})

test('the year that is shown first is that of the last month that is over', () => {
  assert.equal(lastClosedYear('2026-11-20'), '2026')
  assert.equal(lastClosedYear('2027-01-31'), '2026')
  assert.equal(lastClosedYear('2027-02-01'), '2027')
})

test('a month without a value stays empty, and one that has a value before it begins is there', () => {
  const rows = rowsOf('2026', '2026-02-28', [
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

test('the sides of a figure stand beside each other, and a partial month names the sides that are', () => {
  const partial = { partial: true } as const
  const rows = rowsOf('2026', '2026-02-20', [
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
