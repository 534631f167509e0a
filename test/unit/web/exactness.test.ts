import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decimalText, divideRounded, parseScaled, subtract } from '../../../src/web/model/decimal.ts'
import { createFormats } from '../../../src/web/model/formats.ts'
import { computeStatistics } from '../../../src/web/model/statistics.ts'
import { significantDigits } from '../../../src/web/model/xlsx.ts'

const es = createFormats('es')
const en = createFormats('en')
const plain = (text: string) => text.replace(/\s/g, ' ')
const points = (...values: string[]) =>
  values.map((value, index) => ({ rate_date: `2026-01-0${index + 1}`, value }))

test('difference returns all digits', () => {
  assert.equal(subtract('487.07', '484.98'), '2.09')
  assert.equal(subtract('484.98', '487.07'), '-2.09')
  assert.equal(subtract('0.1', '0.3'), '-0.2')
  assert.equal(subtract('1234567890123456789012.345', '0.0000001'), '1234567890123456789012.3449999')
  assert.throws(() => parseScaled('1e5'), RangeError)
})

test('parseScaled inverts decimalText', () => {
  fc.assert(
    fc.property(fc.bigInt(), fc.nat(30), (units, scale) => {
      const text = decimalText({ units, scale })
      const result = parseScaled(text)
      assert.equal(result.units * 10n ** BigInt(scale), units * 10n ** BigInt(result.scale))
      assert.doesNotMatch(text, /^-?0\d|\.\d*0$|\.$/)
    }),
  )
})

test('divideRounded rounds to the nearest, half away from zero', () => {
  assert.deepEqual(
    [7n, 8n, -7n, -8n, 5n, -5n].map((one) => divideRounded(one, 5n)),
    [1n, 2n, -1n, -2n, 1n, -1n],
  )
  assert.equal(divideRounded(25n, 10n), 3n)
  assert.equal(divideRounded(-25n, 10n), -3n)
})

test('computeStatistics returns exact lowest, highest, mean and change', () => {
  const statistics = computeStatistics(points('500.1', '499.95', '501', '499.95', '500.33'))
  assert.deepEqual(statistics, {
    low: { rate_date: '2026-01-02', value: '499.95' },
    high: { rate_date: '2026-01-03', value: '501' },
    mean: '500.266',
    change: '0.23',
    percent: '0.05',
  })
  assert.equal(computeStatistics(points('1', '1', '2'))?.mean, '1.33')
  assert.equal(computeStatistics([]), undefined)
  assert.equal(computeStatistics(points('0', '2'))?.percent, undefined)
})

test('exact and whole write 25 digits', () => {
  assert.equal(plain(es.exact('1234567890123456789.012345')), '1 234 567 890 123 456 789,012345')
  assert.equal(en.exact('1234567890123456789.012345'), '1,234,567,890,123,456,789.012345')
  assert.equal(en.whole('9999999999999999999999999'), '9,999,999,999,999,999,999,999,999')
})

test('createFormats writes figures, days and currencies in the language', () => {
  assert.equal(plain(es.exact('487.1')), '487,10')
  assert.equal(plain(es.exact('1656.84')), '1 656,84')
  assert.equal(plain(es.rounded('62003.16965184135')), '62 003,17')
  assert.equal(en.rounded('0.000241927'), '0.000241927')
  assert.equal(en.rounded('0.5'), '0.50')
  assert.equal(es.signed('2.09'), '+2,09')
  assert.equal(en.signed('-2.1'), '-2.10')
  assert.equal(en.signed('0'), '0.00')
  assert.equal(en.percent('1142.2'), '+1,142.20 %')
  assert.equal(es.longDay('2026-11-21'), 'Sábado, 21 de noviembre de 2026')
  assert.equal(en.longDay('2026-11-21'), 'Saturday, November 21, 2026')
  assert.equal(es.currency('JPY'), 'Yen japonés')
  assert.equal(es.currency('QQQ'), undefined)
})

test('significantDigits ignores zeros in front', () => {
  assert.deepEqual(['0.0019803', '496.44', '4.13354464345609', '100'].map(significantDigits), [5, 5, 15, 3])
})
