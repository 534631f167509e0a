// Comparisons of the chart against fractions that are computed here.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalText } from '../../../../src/web/model/decimal.ts'
import { compareCurrencies, compareYears } from '../../../../src/web/model/rates/comparison.ts'
import { fc } from '../../../support/fast-check.ts'

const points = (values: Record<string, string>) =>
  Object.entries(values).map(([date, value]) => ({ date, value }))

test('compareCurrencies begins with 100 on the first common day, and has the values beside the index', () => {
  const euro = points({ '2026-01-01': '500', '2026-01-02': '594.17', '2026-01-04': '641.7036' })
  const dollar = points({ '2026-01-02': '490', '2026-01-03': '490.49', '2026-01-04': '484.12' })
  assert.deepEqual(compareCurrencies(euro, dollar), {
    days: ['2026-01-02', '2026-01-03', '2026-01-04'],
    lines: [
      {
        values: ['100', '100', '108'],
        realValues: ['594.17', '594.17', '641.7036'],
        points: euro.slice(1),
      },
      { values: ['100', '100.1', '98.8'], realValues: ['490', '490.49', '484.12'], points: dollar },
    ],
  })
  assert.equal(compareCurrencies(euro.slice(0, 1), dollar), undefined)
  assert.equal(compareCurrencies([], dollar), undefined)
})

test('the index is the exact fraction, rounded once', () => {
  const figure = fc.tuple(fc.integer({ min: 1, max: 10 ** 9 }), fc.nat(15))
  fc.assert(
    fc.property(fc.array(figure, { minLength: 1, maxLength: 20 }), (figures) => {
      const line = figures.map(([units, scale], at) => {
        return {
          date: new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10),
          value: decimalText({ units: BigInt(units), scale }),
        }
      })
      const index = compareCurrencies(line, line)?.lines[0].values
      const [first = [1, 0]] = figures
      for (const [at, [units, scale]] of figures.entries()) {
        const over = BigInt(units) * 10n ** BigInt(first[1])
        const under = BigInt(first[0]) * 10n ** BigInt(scale)
        const hundredths = (2n * over * 10_000n + under) / (2n * under)
        assert.equal(index?.[at], decimalText({ units: hundredths, scale: 2 }))
      }
    }),
  )
})

test('a value is carried for ten days at most', () => {
  const days = points({ '2026-01-01': '1', '2026-01-11': '2', '2026-01-12': '3' })
  const values = compareCurrencies(days, points({ '2026-01-01': '8' }))?.lines[1].values
  assert.deepEqual(values, ['100', '100', undefined])
})

test('compareYears compares the same days of the calendar', () => {
  const main = points({ '2026-02-28': '1', '2026-03-01': '2', '2026-03-02': '3' })
  const other = points({ '2025-02-27': '7', '2025-02-28': '8', '2025-03-02': '9', '2025-03-03': '10' })
  assert.deepEqual(compareYears(main, other, -1), {
    days: ['2026-02-28', '2026-03-01', '2026-03-02'],
    lines: [
      { values: ['1', '2', '3'], ownDays: ['2026-02-28', '2026-03-01', '2026-03-02'], points: main },
      {
        values: ['8', '8', '9'],
        ownDays: ['2025-02-28', '2025-03-01', '2025-03-02'],
        points: other.slice(1, 3),
      },
    ],
  })
  assert.equal(compareYears(main, [], -1), undefined)
})

test('29 February is left out unless both years have it', () => {
  const leap = points({ '2024-02-28': '1', '2024-02-29': '2', '2024-03-01': '3' })
  const common = points({ '2026-02-28': '4', '2026-03-01': '5' })
  assert.deepEqual(compareYears(common, leap, -2)?.days, ['2026-02-28', '2026-03-01'])
  assert.deepEqual(compareYears(common, leap, -2)?.lines[1].values, ['1', '3'])
  assert.deepEqual(compareYears(leap, common, 2)?.days, ['2024-02-28', '2024-03-01'])
  assert.deepEqual(compareYears(leap, common, 2)?.lines[0].points.length, 2)
  const older = points({ '2020-02-28': '6', '2020-02-29': '7', '2020-03-01': '8' })
  assert.deepEqual(compareYears(leap, older, -4)?.lines[1].values, ['6', '7', '8'])
})
