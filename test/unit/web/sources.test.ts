import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Series } from '../../../src/web/api/responses.ts'
import { SOURCES } from '../../../src/web/i18n/source-texts.ts'
import { inLanguage } from '../../../src/web/i18n/table-texts.ts'
import { routeSeries, shortSourceText, sourceText } from '../../../src/web/model/files/sources.ts'
import type { Trend } from '../../../src/web/model/rates/history.ts'
import { loadHistoryTable } from '../../../src/web/rates/trend/history-download.ts'

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

test('loadHistoryTable has the values of the legs of both compared pairs, once each', async (t) => {
  const series = SERIES.map((one, at) => ({ ...one, id: at + 1 })) as unknown as Series[]
  const points = [{ rate_date: '2026-03-24', value: '1.5', rounded_to: 1 }]
  t.mock.method(globalThis, 'fetch', async (path: string) => {
    const url = new URL(path, 'http://localhost')
    if (url.pathname !== '/api/v1/rates') {
      assert.equal(url.search, '?from=2026-03-23&to=2026-03-24')
      return Response.json({ points })
    }
    assert.equal(url.searchParams.get('on'), '2026-03-22')
    return Response.json([{ series_id: 3, rate_date: '2026-03-20', value: '1.4' }])
  })
  const days = { from: '2026-03-23', to: '2026-03-24' }
  const trend: Trend = {
    ...{ days: ['2026-03-24'], holes: [] },
    lines: [{ name: 'main', label: 'Euro', values: ['600'], points: [] }],
  }
  const ranges = [
    { pair: 'EUR/CRC', ...days },
    { pair: 'USD/CRC', ...days },
  ] as const
  const { source, sources } = await loadHistoryTable([...ranges], trend, String, series, 'es')
  assert.match(source, /\(indicadores 317, compra, y 318, venta\) y paridad EUR\/USD/)
  assert.deepEqual(
    sources?.map(({ series, indicator, day }) => `${indicator} ${series} ${day}`),
    [
      ...['333 EUR/USD 2026-03-20', '333 EUR/USD 2026-03-24'],
      ...['317 USD/CRC compra 2026-03-24', '318 USD/CRC venta 2026-03-24'],
    ],
  )
  assert.deepEqual(
    sources?.map(({ value, rounding }) => [value, rounding]),
    [['1.4', ''], ...Array(3).fill(['1.5', '1'])],
  )
})
