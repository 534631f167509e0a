import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFormats } from '../../../../src/web/model/formats.ts'
import {
  firstRateDay,
  foreignCurrency,
  hasTwoSides,
  listedCurrencies,
} from '../../../../src/web/model/rates/currencies.ts'
import { lineBreaks, mergeLines, spanRange } from '../../../../src/web/model/rates/history.ts'

const points = (...days: string[]) => days.map((date, index) => ({ date, value: `${index + 1}` }))

test('dateRange ends a span at the newest day, and prefers an explicit range', () => {
  const span = (span: '1m' | '1y' | 'all') => spanRange({ span, from: '', to: '' }, '2026-11-23')
  assert.deepEqual(span('1m'), { from: '2026-10-23', to: '2026-11-23' })
  assert.deepEqual(span('1y'), { from: '2025-11-23', to: '2026-11-23' })
  assert.deepEqual(span('all'), { from: '1900-01-01', to: '2026-11-23' })
  const own = { from: '2025-10-01', to: '2026-09-30' }
  assert.deepEqual(spanRange({ span: '1m', ...own }, '2026-11-23'), own)
})

test('mergeLines returns the days of all lines, and adds no values', () => {
  const merged = mergeLines([
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
  assert.deepEqual(mergeLines([{ name: 'venta', points: points('2026-01-02') }]).days, ['2026-01-02'])
  assert.deepEqual(mergeLines([]).days, [])
})

test('lineBreaks breaks a line after more than ten days without values', () => {
  assert.deepEqual(lineBreaks(['2026-01-01', '2026-01-11', '2026-01-22', '2026-01-23']), [2])
})

test('foreignCurrency is not the dollar of a parity, and listCurrencies names currencies in the language', () => {
  const series = [
    ['USD', 'CRC', 'Tipo cambio compra'],
    ['USD', 'JPY', 'Yen Japonés'],
    ['EUR', 'USD', 'Euro'],
    ['XDR', 'USD', 'Derechos Especiales de Giro'],
  ].map(([base_currency = '', quote_currency = '', name = ''], id) => {
    return { id, name, base_currency, quote_currency, rate_type: 'referencia' }
  })
  assert.deepEqual(series.map(foreignCurrency), ['USD', 'JPY', 'EUR', 'XDR'])
  assert.deepEqual(
    listedCurrencies(series, createFormats('en')).map(({ code, name }) => `${code} ${name}`),
    ['CRC Costa Rican Colón', 'USD US Dollar', 'EUR Euro', 'JPY Japanese Yen', 'XDR Special Drawing Rights'],
  )
})

test('hasTwoSides is true for pairs with the colón, and firstRateDay is that of the youngest leg', () => {
  assert.deepEqual(['USD/CRC', 'CRC/USD', 'EUR/CRC', 'EUR/USD', 'XDR/EUR', 'CRC/CRC'].map(hasTwoSides), [
    true,
    true,
    true,
    false,
    false,
    false,
  ])
  const one = (base_currency: string, quote_currency: string, first_data_date: string | null) => {
    return { base_currency, quote_currency, first_data_date }
  }
  const series = [
    one('USD', 'CRC', '1983-01-03'),
    one('USD', 'CRC', '1983-01-01'),
    one('EUR', 'USD', '1999-01-04'),
    one('XDR', 'USD', '2003-02-05'),
    one('USD', 'VES', null),
  ]
  assert.deepEqual(
    ['USD/CRC', 'EUR/USD', 'EUR/CRC', 'CRC/XDR', 'VES/CRC', 'PAB/CRC'].map((pair) =>
      firstRateDay(pair, series),
    ),
    ['1983-01-03', '1999-01-04', '1999-01-04', '2003-02-05', undefined, undefined],
  )
})
