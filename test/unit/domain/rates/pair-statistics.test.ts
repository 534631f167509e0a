// Statistics of a range, compared with Decimal's arithmetic of the same values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Decimal } from 'decimal.js'
import { makeColumn, toCoveredDays } from '../../../../src/domain/rates/column.ts'
import { pairStatistics } from '../../../../src/domain/rates/history/pair-history.ts'
import type { RateSnapshot } from '../../../../src/domain/rates/rate-cache.ts'
import type { SeriesRow } from '../../../../src/store/rates/series.ts'
import { isoDate } from '../../../../src/values/dates.ts'
import { canonicalDecimal, fromUnits, toUnits } from '../../../../src/values/decimal.ts'
import type { Interval } from '../../../../src/values/intervals.ts'
import { fc } from '../../../support/fast-check.ts'

const Exact = Decimal.clone({ precision: 250 })
const To15 = Decimal.clone({ precision: 15, rounding: Decimal.ROUND_HALF_EVEN })
const ASKED = { provider: 'bccr', base: 'USD', quote: 'CRC', type: 'venta', today: '1990-01-01' } as const

/** A store with values of days in a row, from 1970-01-01 on; `covered` without it all days of them. */
function createStore(values: string[], { covered = [daySpan(values)], rounded = false } = {}): RateSnapshot {
  const days = Int32Array.from(values, (_, at) => at)
  const decimals = rounded ? Int8Array.from(values, (_, at) => (at % 2 ? 2 : 4)) : undefined
  const series = { id: 1, rate_type: 'venta', base_currency: 'USD', quote_currency: 'CRC' } as SeriesRow
  return {
    providers: [{ id: 1, code: 'bccr' }],
    pairs: () => new Map([['USD/CRC', [series]]]),
    pivot: () => 'USD',
    historyStart: () => undefined,
    coveredDays: () => toCoveredDays(covered),
    columns: () => [makeColumn(days, values, decimals)],
  } as unknown as RateSnapshot
}

function daySpan(values: string[]): Interval {
  return { from: isoDate(0), to: isoDate(values.length - 1) }
}

/** From one day to another, by their numbers. */
async function computeFigures(store: RateSnapshot, from: number, last: number) {
  return await pairStatistics(store, { ...ASKED, from: isoDate(from), last: isoDate(last) })
}

const decimalText = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 25n }), fc.integer({ min: 0, max: 20 }))
  .map(([units, places]) => fromUnits(units, places))

test('decimals in units are the same decimals again', () => {
  fc.assert(
    fc.property(fc.array(decimalText, { minLength: 1, maxLength: 20 }), (values) => {
      const { units, places } = toUnits(values)
      assert.deepEqual(
        units.map((one) => fromUnits(one, places)),
        values.map((value) => canonicalDecimal(value)),
      )
    }),
  )
  assert.deepEqual(
    [fromUnits(-5n, 2), fromUnits(0n, 3), fromUnits(1200n, 2), fromUnits(7n, 0)],
    ['-0.05', '0', '12', '7'],
  )
})

test('pairStatistics gives what exact arithmetic gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(decimalText, { minLength: 1, maxLength: 60 }), async (values) => {
      const { count, figures } = await computeFigures(createStore(values), 0, values.length - 1)
      const exact = values.map((value) => new Exact(value))
      const at = (index: number) => ({
        date: isoDate(index),
        rate_date: isoDate(index),
        value: values[index],
      })
      const position = (value: Decimal) => exact.findIndex((one) => one.equals(value))
      const sum = exact.reduce((all, one) => all.plus(one))
      assert.equal(count, values.length)
      assert.deepEqual(figures, {
        first: at(0),
        last: at(values.length - 1),
        low: at(position(Exact.min(...exact))),
        high: at(position(Exact.max(...exact))),
        mean: values.length === 1 ? values[0] : To15.div(sum, values.length).toFixed(),
        change: (exact.at(-1) ?? sum).minus(exact[0] ?? sum).toFixed(),
      })
    }),
  )
})

test('pairStatistics counts only the requested days, and has the fewest decimals', async () => {
  const values = ['9', '1', '3', '2', '8']
  const { count, figures } = await computeFigures(createStore(values, { rounded: true }), 1, 3)
  assert.deepEqual(
    [count, figures?.low.value, figures?.high.value, figures?.mean, figures?.change, figures?.rounded_to],
    [3, '1', '3', '2', '1', 2],
  )
  assert.equal((await computeFigures(createStore(values), 0, 4)).figures?.rounded_to, undefined)
  const none = await computeFigures(createStore(values), 5, 9)
  assert.deepEqual([none.count, none.figures, none.holes], [0, undefined, []])
})

test('pairStatistics is partial over a hole, before the first covered day and until the range is over', async () => {
  const values = ['9', '1', '3', '2', '8']
  const covered = [
    { from: isoDate(0), to: isoDate(1) },
    { from: isoDate(3), to: isoDate(4) },
  ]
  const hole = { from: isoDate(2), to: isoDate(2) }
  const partial = await computeFigures(createStore(values, { covered }), 0, 4)
  assert.deepEqual([partial.figures?.partial, partial.holes], [true, [hole]])
  const whole = await computeFigures(createStore(values, { covered }), 3, 4)
  assert.deepEqual([whole.figures?.partial, whole.holes], [undefined, []])
  const before = await computeFigures(createStore(values), -2, 4)
  assert.deepEqual([before.figures?.partial, before.holes], [true, [{ from: isoDate(-2), to: isoDate(-1) }]])
  assert.equal((await computeFigures(createStore(values), 0, 5)).figures?.partial, true)
})
