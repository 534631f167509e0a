import assert from 'node:assert/strict'
import { test } from 'node:test'
import { currenciesOf, foreignOf } from '../../src/web/words/currencies.ts'
import { formatsIn } from '../../src/web/words/formats.ts'
import { breaksIn, byDay, rangeOf } from '../../src/web/words/history.ts'

const points = (...days: string[]) => days.map((rate_date, index) => ({ rate_date, value: `${index + 1}` }))

test('a span ends at the newest day, and a range of its own wins', () => {
  const span = (span: '1m' | '1y' | 'all') => rangeOf({ span, from: '', to: '' }, '2026-11-23')
  assert.deepEqual(span('1m'), { from: '2026-10-23', to: '2026-11-23' })
  assert.deepEqual(span('1y'), { from: '2025-11-23', to: '2026-11-23' })
  assert.deepEqual(span('all'), { from: '1900-01-01', to: '2026-11-23' })
  const own = { from: '2025-10-01', to: '2026-09-30' }
  assert.deepEqual(rangeOf({ span: '1m', ...own }, '2026-11-23'), own)
})

test('lines of different days meet on every day of any of them, and no value is invented', () => {
  const merged = byDay([
    { name: 'compra', points: points('2026-01-01', '2026-01-03') },
    { name: 'venta', points: points('2026-01-02', '2026-01-03') },
  ])
  assert.deepEqual(merged, {
    days: ['2026-01-01', '2026-01-02', '2026-01-03'],
    lines: [
      { name: 'compra', values: ['1', undefined, '2'] },
      { name: 'venta', values: [undefined, '1', '2'] },
    ],
  })
  assert.deepEqual(byDay([{ name: 'venta', points: points('2026-01-02') }]).days, ['2026-01-02'])
  assert.deepEqual(byDay([]).days, [])
})

test('a line breaks off where there are no values for more than ten days', () => {
  assert.deepEqual(breaksIn(['2026-01-01', '2026-01-11', '2026-01-22', '2026-01-23']), [2])
})

test('a parity is of the currency that is not the dollar, and names are the language’s', () => {
  const series = [
    ['USD', 'CRC', 'Tipo cambio compra'],
    ['USD', 'JPY', 'Yen Japonés'],
    ['EUR', 'USD', 'Euro'],
    ['XDR', 'USD', 'Derechos Especiales de Giro'],
  ].map(([base_currency = '', quote_currency = '', name = ''], id) => {
    return { id, name, base_currency, quote_currency, rate_type: 'referencia' }
  })
  assert.deepEqual(series.map(foreignOf), ['USD', 'JPY', 'EUR', 'XDR'])
  assert.deepEqual(
    currenciesOf(series, formatsIn('en')).map(({ code, name }) => `${code} ${name}`),
    ['CRC Costa Rican Colón', 'USD US Dollar', 'EUR Euro', 'JPY Japanese Yen', 'XDR Special Drawing Rights'],
  )
})
