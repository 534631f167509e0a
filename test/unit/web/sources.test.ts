import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SOURCES } from '../../../src/web/i18n/sources.ts'
import { inLanguage } from '../../../src/web/i18n/table.ts'
import { routeSeries, shortSourceText, sourceText } from '../../../src/web/model/files/sources.ts'

const one = (
  base_currency: string,
  quote_currency: string,
  external_code: string,
  rate_type: 'compra' | 'venta' | 'referencia' = 'referencia',
) => ({ base_currency, quote_currency, external_code, rate_type })
const SERIES = [
  one('USD', 'CRC', '317', 'compra'),
  one('USD', 'CRC', '318', 'venta'),
  one('EUR', 'USD', '333'),
  one('USD', 'JPY', '334'),
]
const sides = { compra: 'Compra', venta: 'Venta', referencia: 'Referencia' }
const TEXTS = { ...inLanguage(SOURCES, 'es'), sides }

test('routeSeries returns the series of the legs, and none for unknown currencies', () => {
  const codes = (base: string, quote: string) =>
    routeSeries(SERIES, base, quote).map(({ external_code }) => external_code)
  assert.deepEqual(codes('USD', 'CRC'), ['317', '318'])
  assert.deepEqual(codes('CRC', 'EUR'), ['317', '318', '333'])
  assert.deepEqual(codes('EUR', 'JPY'), ['333', '334'])
  assert.deepEqual(codes('JPY', 'USD'), ['334'])
  assert.deepEqual(codes('EUR', 'EUR'), [])
})

test('sourceText names indicators with their sides, and shortSourceText without', () => {
  const route = routeSeries(SERIES, 'EUR', 'CRC')
  assert.equal(
    sourceText(route, TEXTS),
    'tipo de cambio de referencia (indicadores 317, compra, y 318, venta) y paridad EUR/USD',
  )
  assert.equal(shortSourceText(route, TEXTS), 'indicadores 317 y 318 y paridad EUR/USD')
  assert.equal(shortSourceText(routeSeries(SERIES, 'EUR', 'JPY'), TEXTS), 'paridades EUR/USD y USD/JPY')
  assert.equal(shortSourceText([], TEXTS), '')
})
