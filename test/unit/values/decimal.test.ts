import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  applyRounding,
  boundedDecimal,
  canonicalDecimal,
  canonicalNumber,
  isInRange,
  product,
  ROUNDING_MODES,
  ratio,
  withinHalfUnit,
} from '../../../src/values/decimal.ts'
import { fc } from '../../support/fast-check.ts'
import { formatFraction, inverted, parseFraction, rounded, times } from '../domain/support.ts'

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
  test(`canonicalDecimal converts ${JSON.stringify(text.slice(0, 30))} to ${form?.slice(0, 30) ?? 'no decimal'}`, () => {
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
  test(`canonicalNumber converts ${text} to ${form?.slice(0, 30) ?? 'none'}`, () => {
    assert.equal(canonicalNumber(text), form)
  })
}

const decimal = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 45n }), fc.nat(40))
  .map(([digits, decimals]) => formatFraction({ over: digits, under: 10n ** BigInt(decimals) }))

test('canonicalDecimal leaves a canonical form unchanged', () => {
  fc.assert(fc.property(decimal, (text) => assert.equal(canonicalDecimal(text), text)))
})

test('product multiplies exactly', () => {
  fc.assert(
    fc.property(decimal, decimal, (a, b) =>
      assert.equal(product(a, b), formatFraction(times(parseFraction(a), parseFraction(b)))),
    ),
  )
})

test('ratio divides products and rounds once, half to even, to 15 digits', () => {
  const factors = fc.array(decimal, { maxLength: 2 })
  fc.assert(
    fc.property(factors, factors, (over, under) => {
      let exact = parseFraction('1')
      for (const factor of over) exact = times(exact, parseFraction(factor))
      for (const factor of under) exact = times(exact, inverted(parseFraction(factor)))
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
  test(`withinHalfUnit of ${decimals} decimals is ${so} for ${a} and ${b}`, () => {
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
  test(`isInRange is ${so} for ${value} from ${low} to ${high}`, () => {
    assert.equal(isInRange(value, low, high), so)
  })
}

const MOST = { whole: 30, fraction: 20 }
const bounded: [text: string, form: string | undefined][] = [
  ['1e3', '1000'],
  ['1E3', '1000'],
  ['1e+3', '1000'],
  ['1e-05', '0.00001'],
  ['1.5e1', '15'],
  ['-12.50E-1', '-1.25'],
  ['.5e1', '5'],
  ['5.e-1', '0.5'],
  ['0012.3400e0002', '1234'],
  ['100e-2', '1'],
  ['0e999999999999', '0'],
  ['-0.0e5', '0'],
  ['1e29', `1${'0'.repeat(29)}`],
  ['1e30', undefined],
  [`1${'0'.repeat(30)}`, undefined],
  [`1${'0'.repeat(30)}e-1`, `1${'0'.repeat(29)}`],
  [`000${'9'.repeat(30)}`, '9'.repeat(30)],
  ['9'.repeat(31), undefined],
  ['1e-20', `0.${'0'.repeat(19)}1`],
  ['1e-21', undefined],
  ['10e-21', `0.${'0'.repeat(19)}1`],
  [`1.${'0'.repeat(10_000)}`, '1'],
  [`0.${'0'.repeat(10_000)}1e10001`, '1'],
  [`1.${'1'.repeat(20)}`, `1.${'1'.repeat(20)}`],
  [`1.${'1'.repeat(21)}`, undefined],
  ['1e999999999', undefined],
  ['1e-999999999', undefined],
  [`1e${'9'.repeat(10_000)}`, undefined],
  [`1e-${'9'.repeat(10_000)}`, undefined],
  [`1e${'0'.repeat(10_000)}3`, '1000'],
  ['', undefined],
  ['.', undefined],
  ['e5', undefined],
  ['.e5', undefined],
  ['1e', undefined],
  ['1e1.5', undefined],
  ['1e 5', undefined],
  ['1e5e5', undefined],
  ['0x1p3', undefined],
  ['NaN', undefined],
  ['Infinity', undefined],
]
for (const [text, form] of bounded) {
  test(`boundedDecimal converts ${text.slice(0, 30)} to ${form?.slice(0, 30) ?? 'nothing'}`, () => {
    assert.equal(boundedDecimal(text, MOST), form)
  })
}

test('boundedDecimal equals the exact fraction for any exponent', () => {
  const part = fc.stringMatching(/^\d{0,25}$/)
  const property = fc.property(part, part, fc.integer({ min: -40, max: 40 }), (whole, fraction, exponent) => {
    fc.pre(whole + fraction !== '')
    const text = `${whole}.${fraction}e${exponent}`
    const result = boundedDecimal(text, { whole: 100, fraction: 100 })
    const power = `1${'0'.repeat(Math.abs(exponent))}`
    const plain = parseFraction(canonicalDecimal(`${whole}.${fraction}`) ?? '')
    const scale = exponent < 0 ? inverted(parseFraction(power)) : parseFraction(power)
    assert.equal(result, formatFraction(times(plain, scale)))
    assert.equal(canonicalDecimal(result ?? ''), result)
  })
  fc.assert(property)
})

const roundings: [value: string, decimals: number, halfUp: string, halfEven: string, down: string][] = [
  ['2.5', 0, '3', '2', '2'],
  ['3.5', 0, '4', '4', '3'],
  ['2.5', 2, '2.50', '2.50', '2.50'],
  ['2', 20, `2.${'0'.repeat(20)}`, `2.${'0'.repeat(20)}`, `2.${'0'.repeat(20)}`],
  ['2.345', 2, '2.35', '2.34', '2.34'],
  ['2.3450000000000000001', 2, '2.35', '2.35', '2.34'],
  ['0.004', 2, '0.00', '0.00', '0.00'],
  ['0.005', 2, '0.01', '0.00', '0.00'],
  ['0.0000000000000000000000001', 0, '0', '0', '0'],
  ['999.999', 2, '1000.00', '1000.00', '999.99'],
  [`${'9'.repeat(60)}.995`, 2, `1${'0'.repeat(60)}.00`, `1${'0'.repeat(60)}.00`, `${'9'.repeat(60)}.99`],
]
for (const [value, decimals, ...expected] of roundings) {
  test(`applyRounding rounds ${value.slice(0, 30)} to ${decimals} decimals, in three modes`, () => {
    assert.deepEqual(
      ROUNDING_MODES.map((mode) => applyRounding(value, { decimals, mode })),
      expected,
    )
    assert.equal(applyRounding(value, undefined), value)
  })
}

test('applyRounding equals the exact quotient and its remainder', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,60}$/)
  const property = fc.property(digits, fc.nat(45), fc.nat(20), (text, places, decimals) => {
    const [units, under] = [BigInt(text) * 10n ** BigInt(decimals), 10n ** BigInt(places)]
    const [whole, twice] = [units / under, (units % under) * 2n]
    const isTie = twice === under
    const results = {
      down: whole,
      'half-up': whole + (twice >= under ? 1n : 0n),
      'half-even': whole + (twice > under || (isTie && whole % 2n === 1n) ? 1n : 0n),
    }
    const value = formatFraction({ over: BigInt(text), under })
    for (const mode of ROUNDING_MODES) {
      const scaled = String(results[mode]).padStart(decimals + 1, '0')
      const at = scaled.length - decimals
      const expected = decimals === 0 ? scaled : `${scaled.slice(0, at)}.${scaled.slice(at)}`
      assert.equal(applyRounding(value, { decimals, mode }), expected)
    }
  })
  fc.assert(property)
})
