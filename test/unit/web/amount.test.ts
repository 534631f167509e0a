import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AmountError, formatAmount, parseAmount } from '../../../src/web/model/amount.ts'
import { createFormats } from '../../../src/web/model/formats.ts'
import { fc } from '../../support/fast-check.ts'

const CODES = new Set(['CRC', 'USD', 'EUR', 'GBP', 'JPY', 'CAD', 'MXN'])
const read = (text: string) => parseAmount(text, CODES)
const reason = (text: string) => read(text).error

test('parseAmount reads the last separator as decimal, unless it repeats or is the only one before three digits', () => {
  const readings: Record<string, string> = {
    '15.000,50': '15000.5',
    '15,000.50': '15000.5',
    '15 000.50': '15000.5',
    '15 000,50': '15000.5',
    '15\u00a0000,50': '15000.5',
    '15\u202f000,5': '15000.5',
    "15'000.50": '15000.5',
    '15.000': '15000',
    '15,000': '15000',
    '15 000': '15000',
    '1.234.567': '1234567',
    '1,234,567': '1234567',
    '1.234.567,891': '1234567.891',
    '1,234.567': '1234.567',
    '15 000.500': '15000.5',
    '15,5': '15.5',
    '15.50': '15.5',
    '15,0001': '15.0001',
    '1500,50': '1500.5',
    '0,125': '0.125',
    '0.125': '0.125',
    ',5': '0.5',
    '.500': '0.5',
    '15,': '15',
    '007': '7',
    '+5': '5',
    '1234567890123456789012345': '1234567890123456789012345',
    '1234567890123456789.012345': '1234567890123456789.012345',
  }
  for (const [text, value] of Object.entries(readings)) {
    assert.deepEqual(read(text), { value, isSum: false, currency: undefined, hasYenSign: false }, text)
  }
})

test('parseAmount reads a code, a sign or a word before or behind the number', () => {
  const readings: Record<string, [value: string, currency: string]> = {
    '1500 USD': ['1500', 'USD'],
    'USD 1500': ['1500', 'USD'],
    '1500usd': ['1500', 'USD'],
    $1500: ['1500', 'USD'],
    '1500 $': ['1500', 'USD'],
    'US$ 1.500': ['1500', 'USD'],
    'us$1,500.25': ['1500.25', 'USD'],
    'USD$ 12': ['12', 'USD'],
    '₡1 500': ['1500', 'CRC'],
    '₡ 15.000': ['15000', 'CRC'],
    '€1.234,5': ['1234.5', 'EUR'],
    '£ 3': ['3', 'GBP'],
    '15 euros': ['15', 'EUR'],
    '1 euro': ['1', 'EUR'],
    '20 dólares': ['20', 'USD'],
    '20 dollars': ['20', 'USD'],
    '5000 colones': ['5000', 'CRC'],
    '5 COLÓN': ['5', 'CRC'],
    '300 yenes': ['300', 'JPY'],
    '7 libras esterlinas': ['7', 'GBP'],
    '1500 CAD': ['1500', 'CAD'],
    '1500 cad': ['1500', 'CAD'],
  }
  for (const [text, [value, currency]] of Object.entries(readings)) {
    assert.deepEqual(read(text), { value, isSum: false, currency, hasYenSign: false }, text)
  }
  assert.deepEqual(read('¥15000'), { value: '15000', isSum: false, currency: 'JPY', hasYenSign: true })
})

test('parseAmount adds and subtracts terms of one currency, and reads credit notes as negative', () => {
  const readings: Record<string, [value: string, isSum: boolean, currency?: string]> = {
    '100+50-12,5': ['137.5', true],
    '100 + 50 − 12.5': ['137.5', true],
    '100 USD + 50': ['150', true, 'USD'],
    '$100+$50': ['150', true, 'USD'],
    '1.500,25 + 1.000': ['2500.25', true],
    '10 - 25': ['-15', true],
    '-150': ['-150', false],
    '−150': ['-150', false],
    '- 150 USD': ['-150', false, 'USD'],
    '-$1.500': ['-1500', false, 'USD'],
    '(150)': ['-150', false],
    '(1.500,00 EUR)': ['-1500', false, 'EUR'],
    '( 100+50 )': ['-150', true],
    '-100+50': ['-50', true],
    '0.1+0.2': ['0.3', true],
  }
  for (const [text, [value, isSum, currency]] of Object.entries(readings)) {
    assert.deepEqual(read(text), { value, isSum, currency, hasYenSign: false }, text)
  }
})

test('parseAmount names the reason of refused text', () => {
  const reasons: Partial<Record<AmountError, string[]>> = {
    ambiguous: [
      ...['1.50.00', '15.00,5', '1.234,567.89', '15 00', '0 125', '0.125.000', '1,2 3', '1 234.567.890'],
      ...['1.234.56', '100,5+50.25', '1.500+12.5', '1.500+0.125'],
    ],
    'no-amount': [
      ...['1e5', '15k', '.', '12 mil', 'abc', '100+', '100++50', '-', '(-150)', '-(150)', '(150', '150)'],
      ...['$-150', '((150))', '5*3', '1500 pesos', '15 USD 3', '١٥', 'C$ 5', '100 libras de oro'],
    ],
    empty: ['', '  ', '₡', 'USD', 'euros'],
    percent: ['13 %', '13%', '100+13%'],
    zero: ['0', '0,00', '-0', '(0)', '0 USD'],
    'zero-sum': ['5-5', '100+50-150', '0+0', '(1-1)'],
    currencies: ['100 USD + 50 EUR', '$100+€5', '$1500 CAD', '€15 USD'],
    'too-long': ['9'.repeat(61), `${'9'.repeat(59)}+${'9'.repeat(59)}0`],
  }
  for (const [error, texts] of Object.entries(reasons)) {
    for (const text of texts ?? []) assert.equal(reason(text), error, text)
  }
  assert.deepEqual(read('1500 PAB'), { error: 'unknown-currency', code: 'PAB' })
  assert.equal(reason('1500 pab'), 'no-amount')
})

test('parseAmount accepts any code in upper case while the currencies are unknown', () => {
  assert.deepEqual(parseAmount('1500 PAB'), {
    ...{ value: '1500', isSum: false, currency: 'PAB', hasYenSign: false },
  })
  assert.equal(parseAmount('12 mil').error, 'no-amount')
})

test('a sum is exact', () => {
  const cents = fc.bigInt({ min: 1n, max: 10n ** 18n })
  const text = (units: bigint) => `${units / 100n},${String(units % 100n).padStart(2, '0')}`
  fc.assert(
    fc.property(cents, cents, (a, b) => {
      const { value = '' } = read(`${text(a)} + ${text(b)}`)
      const [whole = '', fraction = ''] = value.split('.')
      assert.equal(BigInt(whole + fraction.padEnd(2, '0')), a + b)
    }),
  )
})

test('parseAmount inverts formatAmount in both languages', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,24}$/)
  const decimals = fc.stringMatching(/^\d{0,8}[1-9]$/)
  const positive = fc.oneof(
    digits,
    fc.tuple(fc.oneof(digits, fc.constant('0')), decimals).map((parts) => parts.join('.')),
  )
  const amount = fc.tuple(fc.constantFrom('', '-'), positive).map((parts) => parts.join(''))
  fc.assert(
    fc.property(amount, fc.constantFrom('es' as const, 'en' as const), (value, language) => {
      assert.equal(parseAmount(formatAmount(value, createFormats(language).whole)).value, value)
    }),
    {
      examples: [
        ['1.234', 'es'],
        ['-1.234', 'en'],
        ['1234.567', 'es'],
        ['0.125', 'en'],
      ],
    },
  )
})
