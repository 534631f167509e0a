import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatAmount, parseAmount } from '../../../src/web/model/amount.ts'
import { createFormats } from '../../../src/web/model/formats.ts'

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
    '₡15.000': '15000',
    '$ 12.50': '12.5',
    '1234567890123456789012345': '1234567890123456789012345',
    '1234567890123456789.012345': '1234567890123456789.012345',
  }
  for (const [text, value] of Object.entries(readings)) assert.deepEqual(parseAmount(text), { value }, text)
})

test('parseAmount rejects ambiguous, empty, negative and too long text', () => {
  const unreadable = [
    '1.50.00',
    '15.00,5',
    '1.234,567.89',
    '15 00',
    '0 125',
    '0.125.000',
    '1,2 3',
    '1e5',
    '15k',
    '.',
    '1 234.567.890',
    '1.234.56',
  ]
  for (const text of unreadable) assert.deepEqual(parseAmount(text), { error: 'unreadable' }, text)
  for (const text of ['', '  ', '₡']) assert.deepEqual(parseAmount(text), { error: 'empty' }, text)
  for (const text of ['0', '0,00', '-5', '−5'])
    assert.deepEqual(parseAmount(text), { error: 'not-positive' }, text)
  assert.deepEqual(parseAmount('9'.repeat(61)), { error: 'too-long' })
})

test('parseAmount inverts formatAmount in both languages', () => {
  const digits = fc.stringMatching(/^[1-9]\d{0,24}$/)
  const decimals = fc.stringMatching(/^\d{0,8}[1-9]$/)
  const amount = fc.oneof(
    digits,
    fc.tuple(fc.oneof(digits, fc.constant('0')), decimals).map((parts) => parts.join('.')),
  )
  fc.assert(
    fc.property(amount, fc.constantFrom('es' as const, 'en' as const), (value, language) => {
      assert.deepEqual(parseAmount(formatAmount(value, createFormats(language).whole)), { value })
    }),
    {
      examples: [
        ['1.234', 'es'],
        ['1.234', 'en'],
        ['1234.567', 'es'],
        ['0.125', 'en'],
      ],
    },
  )
})
