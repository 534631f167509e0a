// What a history says in a few figures, held against what Decimal says of the same values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decimal } from 'decimal.js'
import * as fc from 'fast-check'
import { isoOf } from '../../../src/dates.ts'
import { canonicalDecimal, inUnits, ofUnits } from '../../../src/decimal.ts'
import { makeColumn } from '../../../src/domain/rates/column.ts'
import type { SeriesHistory } from '../../../src/domain/rates/queries.ts'
import { pointsOf, statisticsOf } from '../../../src/domain/rates/statistics.ts'

const Exact = Decimal.clone({ precision: 250 })
const To15 = Decimal.clone({ precision: 15, rounding: Decimal.ROUND_HALF_EVEN })

/** Values of days in a row; all of them, or from one index to before another. */
function historyOf(values: string[], { from = 0, end = values.length, firstDay = 0, rounded = false } = {}) {
  const days = Int32Array.from(values, (_, at) => firstDay + at)
  const decimals = rounded ? Int8Array.from(values, (_, at) => (at % 2 ? 2 : 4)) : undefined
  return { column: makeColumn(days, values, decimals), first: from, end } as unknown as SeriesHistory
}

const decimalText = fc
  .tuple(fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }), fc.integer({ min: 0, max: 20 }))
  .map(([units, places]) => ofUnits(units, places))

test('decimals in units are the same decimals again', () => {
  fc.assert(
    fc.property(fc.array(decimalText, { minLength: 1, maxLength: 20 }), (values) => {
      const { units, places } = inUnits(values)
      assert.deepEqual(
        units.map((one) => ofUnits(one, places)),
        values.map((value) => canonicalDecimal(value)),
      )
    }),
  )
  assert.deepEqual(
    [ofUnits(-5n, 2), ofUnits(0n, 3), ofUnits(1200n, 2), ofUnits(7n, 0)],
    ['-0.05', '0', '12', '7'],
  )
})

test('the figures are those that exact arithmetic gives', () => {
  fc.assert(
    fc.property(fc.array(decimalText, { minLength: 1, maxLength: 60 }), (values) => {
      const found = statisticsOf(historyOf(values)) ?? assert.fail()
      const exact = values.map((value) => new Exact(value))
      const at = (index: number) => ({ rate_date: isoOf(index), value: values[index] })
      const indexOf = (wanted: Decimal) => exact.findIndex((one) => one.equals(wanted))
      const sum = exact.reduce((all, one) => all.plus(one))
      assert.deepEqual([found.count, found.first, found.last], [values.length, at(0), at(values.length - 1)])
      assert.deepEqual(found.low, at(indexOf(Exact.min(...exact))))
      assert.deepEqual(found.high, at(indexOf(Exact.max(...exact))))
      assert.equal(found.mean, To15.div(sum, values.length).toFixed())
      assert.equal(found.change, (exact.at(-1) ?? sum).minus(exact[0] ?? sum).toFixed())
    }),
  )
})

test('only the days that are asked for count, and a rounded value says so', () => {
  const values = ['9', '1', '3', '2', '8']
  const { roundedTo, ...found } =
    statisticsOf(historyOf(values, { from: 1, end: 4, rounded: true })) ?? assert.fail()
  assert.deepEqual(
    [found.count, found.low.value, found.high.value, found.mean, found.change],
    [3, '1', '3', '2', '1'],
  )
  assert.equal(roundedTo, 2)
  assert.equal(statisticsOf(historyOf(values))?.roundedTo, undefined)
  assert.equal(statisticsOf(historyOf(values, { from: 2, end: 2 })), undefined)
})

test('a month and a year are stood for by their last value, and no more points come than were asked for', () => {
  const values = Array.from({ length: 800 }, (_, at) => String(at + 1))
  const history = historyOf(values) // from 1970-01-01 on
  const dates = (every: 'month' | 'year') =>
    pointsOf(history, every, 100).points.map(({ rate_date }) => rate_date)
  assert.deepEqual(dates('year'), ['1970-12-31', '1971-12-31', '1972-03-10'])
  assert.deepEqual(dates('month').slice(0, 3), ['1970-01-31', '1970-02-28', '1970-03-31'])
  const some = pointsOf(history, 'day', 400)
  assert.deepEqual([some.points.length, some.points.at(-1)?.value, some.hasMore], [400, '400', true])
  const rest = pointsOf(historyOf(values, { from: 400 }), 'day', 400)
  assert.deepEqual([rest.points.length, rest.hasMore], [400, false])
})
