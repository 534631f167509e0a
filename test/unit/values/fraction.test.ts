// Exact fractions: sums, and rounding to 15 digits. decimal.test.ts tests `ratio`.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Fraction, isLess, quotient, sum, toDecimal } from '../../../src/values/fraction.ts'
import { fc } from '../../support/fast-check.ts'
import { rounded } from '../domain/support.ts'

const ties: [value: string, nearest: string][] = [
  ['1.000000000000005', '1'],
  ['1.000000000000015', '1.00000000000002'],
  ['1.000000000000025', '1.00000000000002'],
  ['1.0000000000000050000000000000000000000000001', '1.00000000000001'],
  ['1.0000000000000049999999999999999999999999999', '1'],
  ['0.0001000000000000025', '0.000100000000000002'],
  ['0.0001000000000000035', '0.000100000000000004'],
  ['999999999999999.5', '1000000000000000'],
  ['999999999999998.5', '999999999999998'],
  ['9999999999999995', '10000000000000000'],
  ['1234567890123450', '1234567890123450'],
  ['12345678901234650', '12345678901234600'],
  ['496.44', '496.44'],
  ['100', '100'],
  ['0', '0'],
  ['-496.44', '-496.44'],
  ['-1.000000000000015', '-1.00000000000002'],
  ['-0.5', '-0.5'],
]
for (const [value, nearest] of ties) {
  test(`toDecimal rounds ${value} to ${nearest}`, () => {
    assert.equal(toDecimal(quotient([value], [])), nearest)
    if (value === '0') return
    assert.equal(toDecimal(quotient([value, '7'], ['7'])), nearest)
    assert.equal(toDecimal(quotient(['1'], ['3'])), '0.333333333333333')
  })
}

const fraction = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 40n }), fc.bigInt({ min: 1n, max: 10n ** 40n }))
  .map(([over, under]): Fraction => ({ over, under }))

test('toDecimal rounds any fraction like long division', () => {
  fc.assert(
    fc.property(fraction, (one) => assert.equal(toDecimal(one), rounded(one, 15))),
    { numRuns: 5000 },
  )
})

test('sum is exact in any order of the terms', () => {
  fc.assert(
    fc.property(fc.array(fraction, { minLength: 1, maxLength: 9 }), (terms) => {
      const [first, ...rest] = terms
      const total = rest.reduce(
        (a, b) => ({ over: a.over * b.under + b.over * a.under, under: a.under * b.under }),
        first as Fraction,
      )
      for (const result of [sum(terms), sum(terms.toReversed())]) {
        assert.equal(result.over * total.under, total.over * result.under)
      }
    }),
  )
  assert.throws(() => sum([]), RangeError)
})

test('quotient, sum and isLess handle negative numbers', () => {
  assert.equal(toDecimal(quotient(['1'], ['-4'])), '-0.25')
  assert.equal(toDecimal(quotient(['-1'], ['-4'])), '0.25')
  assert.equal(toDecimal(sum([quotient(['1'], ['3']), quotient(['-1'], ['3'])])), '0')
  assert.equal(isLess(quotient(['1'], ['-4']), quotient(['1'], ['4'])), true)
})

test('isLess compares exactly', () => {
  const third = quotient(['1'], ['3'])
  assert.equal(isLess(quotient(['0.3333333333333333333333333333333'], []), third), true)
  assert.equal(isLess(third, quotient(['0.3333333333333333333333333333333'], [])), false)
  assert.equal(isLess(third, quotient(['2'], ['6'])), false)
  assert.throws(() => quotient(['1'], ['0']), RangeError)
})
