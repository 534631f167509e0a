import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decimalText, divideRounded, parseScaled, subtract } from '../../../src/web/model/decimal.ts'
import { significantDigits } from '../../../src/web/model/files/workbook.ts'
import { createFormats } from '../../../src/web/model/formats.ts'
import { computeStatistics } from '../../../src/web/model/rates/statistics.ts'
import { fc } from '../../support/fast-check.ts'

const es = createFormats('es')
const en = createFormats('en')
const plain = (text: string) => text.replace(/\s/g, ' ')
const points = (...values: string[]) =>
  values.map((value, index) => ({ date: `2026-01-0${index + 1}`, value }))

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

test('computeStatistics returns exact first, lowest, highest, mean, last and change', () => {
  const statistics = computeStatistics(points('500.1', '499.95', '501', '499.95', '500.33'))
  assert.deepEqual(statistics, {
    first: { date: '2026-01-01', value: '500.1' },
    low: { date: '2026-01-02', value: '499.95' },
    high: { date: '2026-01-03', value: '501' },
    last: { date: '2026-01-05', value: '500.33' },
    count: 5,
    mean: '500.266',
    change: '0.23',
    percent: '0.05',
  })
  assert.equal(computeStatistics(points('1', '1', '2'))?.mean, `1.${'3'.repeat(30)}1`)
  assert.equal(computeStatistics([]), undefined)
  assert.equal(computeStatistics(points('0', '2'))?.percent, undefined)
})

test('a mean is rounded once, from the exact fraction', () => {
  // 0.004975…: rounded to four places first, it would give 0.01.
  const hundredth = Array.from({ length: 201 }, (_, at) => (at < 100 ? '0.01' : '0.00'))
  assert.equal(en.cents(computeStatistics(points(...hundredth))?.mean ?? ''), '0.00')
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 10 ** 9 }), { minLength: 1, maxLength: 40 }), (all) => {
      const values = all.map((units) => decimalText({ units: BigInt(units), scale: 4 }))
      const mean = computeStatistics(values.map((value) => ({ date: '2026-01-01', value })))?.mean ?? ''
      const [sum, count] = [all.reduce((total, units) => total + BigInt(units), 0n), BigInt(all.length)]
      // floor((2 × sum × 100 + count × 10^4) / (2 × count × 10^4)) is the nearest hundredth, half up.
      const hundredths = (2n * sum * 100n + count * 10_000n) / (2n * count * 10_000n)
      assert.equal(
        en.cents(mean).replaceAll(',', ''),
        decimalText({ units: hundredths, scale: 2 })
          .replace(/^(\d+)$/, '$1.00')
          .replace(/(\.\d)$/, '$10'),
      )
    }),
  )
})

test('axis labels have the decimals of the step, and changes of cross rates those of the rate', () => {
  assert.deepEqual(
    [3.6, 3.8, 4].map((position) => es.axis(position, 1)),
    ['3,6', '3,8', '4,0'],
  )
  assert.equal(es.crossChange('38.954321', '545.612345'), '+38,95')
  assert.equal(es.crossChange('-4.005', '545.6'), '-4,01')
  assert.equal(en.crossChange('0.0001731234', '0.0192842'), '+0.000173123')
  assert.equal(es.crossChange('0', '4.1'), '0')
})

test('exact and whole write 25 digits', () => {
  assert.equal(plain(es.exact('1234567890123456789.012345')), '1 234 567 890 123 456 789,012345')
  assert.equal(en.exact('1234567890123456789.012345'), '1,234,567,890,123,456,789.012345')
  assert.equal(en.whole('9999999999999999999999999'), '9,999,999,999,999,999,999,999,999')
})

test('createFormats writes figures, days and currencies in the language', () => {
  assert.equal(plain(es.exact('487.1')), '487,10')
  assert.equal(plain(es.exact('1656.84')), '1 656,84')
  assert.equal(plain(es.result('62003.16965184135')), '62 003,17')
  assert.equal(en.result('0.00024192745'), '0.000241927')
  assert.equal(en.result('0.5'), '0.50')
  assert.equal(en.result('0.0100001'), '0.01')
  assert.equal(es.signed('2.09'), '+2,09')
  assert.equal(en.signed('-2.1'), '-2.10')
  assert.equal(en.signed('0'), '0.00')
  assert.equal(en.percent('1142.2'), '+1,142.20\u00a0%')
  assert.equal(es.longDay('2026-11-21'), 'Sábado, 21 de noviembre de 2026')
  assert.equal(en.longDay('2026-11-21'), 'Saturday, 21 November 2026')
  for (const formats of [es, en]) {
    assert.equal(formats.day('2026-03-04'), '04/03/2026')
    assert.equal(formats.shortDay('2026-03-04'), '04/03')
    assert.equal(formats.instant('2026-11-22T11:00:00Z'), '22/11/2026, 05:00')
    assert.equal(formats.time(Date.parse('2026-11-23T05:52:00Z')), '23:52')
  }
  assert.equal(es.currency('JPY'), 'Yen japonés')
  assert.equal(es.currency('QQQ'), undefined)
})

test('rounding is half away from zero, from the exact text', () => {
  assert.deepEqual(['1.005', '-1.005', '2.675', '0.125', '1.004999999999999999999'].map(en.cents), [
    '1.01',
    '-1.01',
    '2.68',
    '0.13',
    '1.00',
  ])
  assert.equal(en.result('0.00123456500'), '0.00123457')
  const units = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })
  fc.assert(
    fc.property(units, fc.integer({ min: 3, max: 12 }), (units, scale) => {
      const magnitude = units < 0n ? -units : units
      const step = 10n ** BigInt(scale - 2)
      const cents = magnitude / step + (2n * (magnitude % step) >= step ? 1n : 0n)
      const text = en.cents(decimalText({ units, scale })).replace(/[-,.]/g, '')
      assert.equal(BigInt(text), cents)
    }),
  )
})

test('cross writes six significant digits below 10, and at least two places', () => {
  const crosses = { '1.20534123': '1.20534', '0.0192842449': '0.0192842', '1.2': '1.20', '5': '5.00' }
  for (const [value, text] of Object.entries(crosses)) assert.equal(en.cross(value), text)
  const two = { '9.9999999': '10.00', '10.123456': '10.12', '594.172353': '594.17', '0': '0.00' }
  for (const [value, text] of Object.entries(two)) assert.equal(en.cross(value), text)
})

test('accounting encloses negative figures in parentheses', () => {
  assert.equal(plain(es.accounting('-1500', es.cents)), '(1 500,00)')
  assert.equal(plain(es.accounting('1500.255', es.cents)), '1 500,26')
  assert.equal(es.accounting('-0.1', es.exact), '(0,10)')
})

test('significantDigits ignores zeros in front', () => {
  assert.deepEqual(['0.0019803', '496.44', '4.13354464345609', '100'].map(significantDigits), [5, 5, 15, 3])
})
