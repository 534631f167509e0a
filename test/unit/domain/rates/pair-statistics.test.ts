// Statistics of a range, compared with Decimal's arithmetic of the same values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decimal } from 'decimal.js'
import * as fc from 'fast-check'
import { isoOf } from '../../../src/dates.ts'
import { canonicalDecimal, inUnits, ofUnits } from '../../../src/decimal.ts'
import { dayNumbersOf, makeColumn } from '../../../src/domain/rates/column.ts'
import { pairStatistics } from '../../../src/domain/rates/pair-history.ts'
import type { RateSnapshot } from '../../../src/domain/rates/rate-cache.ts'
import type { Interval } from '../../../src/intervals.ts'
import type { SeriesRow } from '../../../src/store/rates/series.ts'

const Exact = Decimal.clone({ precision: 250 })
const To15 = Decimal.clone({ precision: 15, rounding: Decimal.ROUND_HALF_EVEN })
const ASKED = { provider: 'bccr', base: 'USD', quote: 'CRC', type: 'venta', today: '1990-01-01' } as const

/** A store with values of days in a row, from 1970-01-01 on; `covered` without it all days of them. */
function storeOf(values: string[], { covered = [spanOf(values)], rounded = false } = {}): RateSnapshot {
  const days = Int32Array.from(values, (_, at) => at)
  const decimals = rounded ? Int8Array.from(values, (_, at) => (at % 2 ? 2 : 4)) : undefined
  const series = { id: 1, rate_type: 'venta', base_currency: 'USD', quote_currency: 'CRC' } as SeriesRow
  return {
    providers: [{ id: 1, code: 'bccr' }],
    pairsOf: () => new Map([['USD/CRC', [series]]]),
    pivotOf: () => 'USD',
    startOf: () => undefined,
    coveredOf: () => dayNumbersOf(covered),
    columns: () => [makeColumn(days, values, decimals)],
  } as unknown as RateSnapshot
}

function spanOf(values: string[]): Interval {
  return { from: isoOf(0), to: isoOf(values.length - 1) }
}

/** From one day to another, by their numbers. */
async function figuresOf(store: RateSnapshot, from: number, last: number) {
  return await pairStatistics(store, { ...ASKED, from: isoOf(from), last: isoOf(last) })
}

const decimalText = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 25n }), fc.integer({ min: 0, max: 20 }))
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

test('pairStatistics gives what exact arithmetic gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(decimalText, { minLength: 1, maxLength: 60 }), async (values) => {
      const { count, figures } = await figuresOf(storeOf(values), 0, values.length - 1)
      const exact = values.map((value) => new Exact(value))
      const at = (index: number) => ({ date: isoOf(index), rate_date: isoOf(index), value: values[index] })
      const indexOf = (wanted: Decimal) => exact.findIndex((one) => one.equals(wanted))
      const sum = exact.reduce((all, one) => all.plus(one))
      assert.equal(count, values.length)
      assert.deepEqual(figures, {
        first: at(0),
        last: at(values.length - 1),
        low: at(indexOf(Exact.min(...exact))),
        high: at(indexOf(Exact.max(...exact))),
        mean: values.length === 1 ? values[0] : To15.div(sum, values.length).toFixed(),
        change: (exact.at(-1) ?? sum).minus(exact[0] ?? sum).toFixed(),
      })
    }),
  )
})

test('pairStatistics counts only the days that are asked for, and shows the fewest decimals', async () => {
  const values = ['9', '1', '3', '2', '8']
  const { count, figures } = await figuresOf(storeOf(values, { rounded: true }), 1, 3)
  assert.deepEqual(
    [count, figures?.low.value, figures?.high.value, figures?.mean, figures?.change, figures?.rounded_to],
    [3, '1', '3', '2', '1', 2],
  )
  assert.equal((await figuresOf(storeOf(values), 0, 4)).figures?.rounded_to, undefined)
  const none = await figuresOf(storeOf(values), 5, 9)
  assert.deepEqual([none.count, none.figures, none.holes], [0, undefined, []])
})

test('pairStatistics is partial over a hole, before the first covered day and until the range is over', async () => {
  const values = ['9', '1', '3', '2', '8']
  const covered = [
    { from: isoOf(0), to: isoOf(1) },
    { from: isoOf(3), to: isoOf(4) },
  ]
  const hole = { from: isoOf(2), to: isoOf(2) }
  const found = await figuresOf(storeOf(values, { covered }), 0, 4)
  assert.deepEqual([found.figures?.partial, found.holes], [true, [hole]])
  const whole = await figuresOf(storeOf(values, { covered }), 3, 4)
  assert.deepEqual([whole.figures?.partial, whole.holes], [undefined, []])
  const before = await figuresOf(storeOf(values), -2, 4)
  assert.deepEqual([before.figures?.partial, before.holes], [true, [{ from: isoOf(-2), to: isoOf(-1) }]])
  assert.equal((await figuresOf(storeOf(values), 0, 5)).figures?.partial, true)
})
