import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  canonicalDecimal,
  canonicalNumber,
  isBetween,
  product,
  ratio,
  withinHalfUnit,
} from '../src/decimal.ts'
import { decimalOf, fractionOf, inverted, rounded, times } from './domain/support.ts'

const canonical: [text: string, form: string | undefined][] = [
  ['496.44000000', '496.44'],
  ['0', '0'],
  ['-0', '0'],
  ['-0.000', '0'],
  ['+5', '5'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['-.50', '-0.5'],
  ['007.10', '7.1'],
  ['100', '100'],
  ['0.000100', '0.0001'],
  [`${'9'.repeat(60)}.${'1'.repeat(60)}`, `${'9'.repeat(60)}.${'1'.repeat(60)}`],
  ['', undefined],
  ['.', undefined],
  ['-', undefined],
  ['+', undefined],
  ['+-1', undefined],
  ['1.2.3', undefined],
  ['1,5', undefined],
  ['1e3', undefined],
  ['0x1', undefined],
  [' 1', undefined],
  ['1\n', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
  ['١', undefined],
]
for (const [text, form] of canonical) {
  test(`writes ${JSON.stringify(text.slice(0, 30))} as ${form?.slice(0, 30) ?? 'no decimal'}`, () => {
    assert.equal(canonicalDecimal(text), form)
    assert.equal(canonicalNumber(text), text === '1e3' ? '1000' : form)
  })
}

const numbers: [text: string, form: string | undefined][] = [
  ['1.5E-05', '0.000015'],
  ['1.5e+3', '1500'],
  ['-2E0', '-2'],
  ['1E-99', `0.${'0'.repeat(98)}1`],
  ['1E100', undefined],
  ['.5e1', undefined],
  ['1e', undefined],
  ['1e1.5', undefined],
]
for (const [text, form] of numbers) {
  test(`reads the number ${text} as ${form?.slice(0, 30) ?? 'none'}`, () => {
    assert.equal(canonicalNumber(text), form)
  })
}

const decimal = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 45n }), fc.nat(40))
  .map(([digits, decimals]) => decimalOf({ over: digits, under: 10n ** BigInt(decimals) }))

test('a canonical form is its own canonical form', () => {
  fc.assert(fc.property(decimal, (text) => assert.equal(canonicalDecimal(text), text)))
})

test('multiplies exactly', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) =>
      assert.equal(product(a, b), decimalOf(times(fractionOf(a), fractionOf(b)))),
    ),
  )
})

test('divides products and rounds once, half to even, to 15 digits', () => {
  const factors = fc.array(decimal, { maxLength: 2 })
  fc.assert(
    fc.property(factors, factors, (over, under) => {
      let exact = fractionOf('1')
      for (const factor of over) exact = times(exact, fractionOf(factor))
      for (const factor of under) exact = times(exact, inverted(fractionOf(factor)))
      assert.equal(ratio(over, under), rounded(exact, 15))
    }),
    { numRuns: 2000 },
  )
})

const near: [a: string, b: string, decimals: number, so: boolean][] = [
  ['494.345', '494.35', 2, true],
  ['494.345', '494.34', 2, true],
  ['494.3449', '494.35', 2, false],
  ['494.344', '494.34', 2, true],
  ['494.3451', '494.34', 2, false],
  ['-1', '1', 0, false],
]
for (const [a, b, decimals, so] of near) {
  test(`${a} and ${b} ${so ? 'are' : 'are not'} the same to ${decimals} decimals`, () => {
    assert.equal(withinHalfUnit(a, b, decimals), so)
    assert.equal(withinHalfUnit(b, a, decimals), so)
  })
}

const bands: [value: string, low: string, high: string, so: boolean][] = [
  ['1', '1', '2', true],
  ['2', '1', '2', true],
  ['2.0000000000000000000000001', '1', '2', false],
  ['0.9999999999999999999999999', '1', '2', false],
]
for (const [value, low, high, so] of bands) {
  test(`${value} is ${so ? '' : 'not '}between ${low} and ${high}`, () => {
    assert.equal(isBetween(value, low, high), so)
  })
}
