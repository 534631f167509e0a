import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFormats } from '../../../../src/web/model/formats.ts'
import { countryNames } from '../../../../src/web/model/rates/countries.ts'
import {
  type CurrencyRow,
  currencyRows,
  orderRows,
  type SORT_KEYS,
  sortRows,
  type UnitRate,
  unitConversions,
} from '../../../../src/web/model/rates/currency-rows.ts'
import { matchesQuery } from '../../../../src/web/model/search.ts'

const es = createFormats('es')
const name = (code: string) => es.currency(code) ?? code
const leg = (
  pair: string,
  rate_date: string,
  value: string,
  rate_type: 'compra' | 'venta' | 'referencia',
) => {
  return { pair, rate_date, value, rate_type, inverse: pair.startsWith('USD/') && pair !== 'USD/CRC' }
}
const dollar = (side: 'compra' | 'venta', value: string) => leg('USD/CRC', '2026-11-22', value, side)
const yen = leg('USD/JPY', '2026-11-20', '119.256', 'referencia')

test('unitConversions has both sides of each currency, and the sale a month before', () => {
  const conversions = unitConversions(['USD', 'EUR'], '2026-03-31')
  assert.deepEqual(
    conversions.map(({ from, type, on }) => [from, type, on]),
    ['USD', 'EUR'].flatMap((code) => [
      [code, 'compra', '2026-03-31'],
      [code, 'venta', '2026-03-31'],
      [code, 'venta', '2026-02-28'],
    ]),
  )
  assert.ok(conversions.every(({ amount, to }) => amount === '1' && to === 'CRC'))
})

test('currencyRows has colones, the exact change and the published values', () => {
  const answers: UnitRate[] = [
    { rate: '487.07', legs: [dollar('compra', '487.07')] },
    { rate: '492.95', legs: [dollar('venta', '492.95')] },
    { rate: '489.61', legs: [dollar('venta', '489.61')] },
    { rate: '4.08424', legs: [yen, dollar('compra', '487.07')] },
    { rate: '4.13354', legs: [yen, dollar('venta', '492.95')] },
    {},
    ...[1, 2, 3].map(() => ({})),
    ...[1, 2, 3].map(() => ({ reason: 'not_synchronized' })),
  ]
  const none = { buy: undefined, sell: undefined, change: undefined, pair: '', values: [], day: '' }
  assert.deepEqual(currencyRows(['USD', 'JPY', 'XDR', 'AUD'], answers), [
    {
      ...{ code: 'USD', buy: '487.07', sell: '492.95', isMissing: false },
      change: '0.68', // 3.34 / 489.61 = 0.006821…
      ...{ pair: 'USD/CRC', values: ['487.07', '492.95'], day: '2026-11-22' },
    },
    {
      ...{ code: 'JPY', buy: '4.08424', sell: '4.13354', change: undefined, isMissing: false },
      ...{ pair: 'USD/JPY', values: ['119.256'], day: '2026-11-20' },
    },
    { code: 'AUD', ...none, isMissing: true },
  ])
})

const row = (code: string, figures: Partial<CurrencyRow> = {}): CurrencyRow => ({
  ...{ code, buy: undefined, sell: undefined, change: undefined, isMissing: false },
  ...{ pair: '', values: [], day: '', ...figures },
})

test('orderRows begins with the dollar, the euro and the other main currencies', () => {
  const codes = ['THB', 'COP', 'AUD', 'EUR', 'ARS', 'USD', 'CAD']
  assert.deepEqual(
    orderRows(
      codes.map((code) => row(code)),
      name,
    ).map(({ code }) => code),
    ['USD', 'EUR', 'CAD', 'COP', 'THB', 'AUD', 'ARS'], // Baht, Dólar, Peso
  )
})

test('sortRows compares figures as decimals and names as words, and puts missing values last', () => {
  const rows = [
    row('COP', { sell: '0.124749', change: '-1.5', pair: 'USD/COP', values: ['3951.52'], day: '2026-11-20' }),
    row('XDR'),
    row('USD', {
      sell: '492.95',
      change: '0.68',
      pair: 'USD/CRC',
      values: ['487.07', '492.95'],
      day: '2026-11-22',
    }),
    row('JPY', { sell: '4.13354', change: '-0.2', pair: 'USD/JPY', values: ['119.256'], day: '2026-11-20' }),
  ]
  const order = (key: (typeof SORT_KEYS)[number], isDescending: boolean) =>
    sortRows(rows, { key, isDescending }, name)
      .map(({ code }) => code)
      .join(' ')
  assert.equal(order('sell', true), 'USD JPY COP XDR')
  assert.equal(order('sell', false), 'COP JPY USD XDR')
  assert.equal(order('change', false), 'COP JPY USD XDR')
  assert.equal(order('value', true), 'COP USD JPY XDR')
  assert.equal(order('day', true), 'USD COP JPY XDR')
  assert.equal(order('pair', false), 'COP USD JPY XDR')
  assert.equal(order('name', false), 'XDR USD COP JPY') // Derechos, Dólar, Peso, Yen
  assert.equal(order('buy', true), 'COP XDR USD JPY', 'rows without a value stay in their order')
})

test('a search finds code, name and country in both languages', () => {
  const finds = (query: string, code: string) =>
    matchesQuery(query, [code, name(code), ...countryNames(code)])
  for (const [query, code] of [
    ['japon', 'JPY'],
    ['Japan', 'JPY'],
    ['tailandés', 'THB'],
    ['tailandia', 'THB'],
    ['colón', 'CRC'],
    ['alemania', 'EUR'],
    ['panama', 'USD'],
    ['nicaragüense', 'NIO'],
    ['reino unido', 'GBP'],
    ['xdr', 'XDR'],
  ] as const)
    assert.ok(finds(query, code), `${query} finds ${code}`)
  assert.ok(!finds('japon', 'CNY'))
  assert.equal(name('THB'), 'Baht tailandés')
  assert.equal(name('CNY'), 'Yuan chino')
})
