// Every 422: which parameter, why, and the value sent (decisions#paths, #unknown-names and #errors).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Item, openApp, validationItems } from './support.ts'

const app = await openApp()
await app.sync({ from: '2026-03-16', to: '2026-03-25' })

const DAYS = [
  '',
  'x',
  'today',
  '2026-3-4',
  '20260304',
  '2026-02-29',
  '2026-13-01',
  '2026-00-10',
  '2026-04-31',
]
const ODD_DAYS = [
  '1899-12-31',
  '3000-01-01',
  '2026-03-24T00:00:00Z',
  ' 2026-03-24',
  '2026-03-24%0A',
  '٢٠٢٦-03-24',
]
const CURRENCIES = ['', 'US', 'USDD', 'U5D', 'U D', '%24US', 'ÜSD', 'USD%00']
const BOOLEANS = ['', '2', 'si', 'truee', 'null', 'tr%20ue', '-1', 'y', 't']
const AMOUNTS = [
  '',
  '0',
  '0.000',
  '-0',
  '-5',
  '.',
  '-',
  '%2B',
  '%2B-5',
  '1.2.3',
  '1,000',
  '1e30',
  '1e-21',
  '1e999999999',
  '-1e3',
  '0e5',
  '1e',
  'e3',
  '1e+3',
  '0x10',
  'NaN',
  'Infinity',
  '-Infinity',
  '%20',
  '1%200',
  '- 1',
  '1_000',
  '١',
  `1${'0'.repeat(30)}`,
  `0.${'0'.repeat(20)}1`,
]

const table: [path: string, name: string, type: string, values: string[]][] = [
  ['/api/v1/providers?', 'only_enabled', 'boolean', BOOLEANS],
  ['/api/v1/series?', 'only_enabled', 'boolean', BOOLEANS],
  ['/api/v1/series?', 'base', 'currency', CURRENCIES],
  ['/api/v1/series?', 'quote', 'currency', CURRENCIES],
  ['/api/v1/series?', 'provider', 'provider', ['']],
  ['/api/v1/rates/latest?', 'base', 'currency', CURRENCIES],
  ['/api/v1/rates/latest?', 'quote', 'currency', CURRENCIES],
  ['/api/v1/rates/latest?', 'on', 'date', [...DAYS, ...ODD_DAYS]],
  ['/api/v1/rates/latest?', 'provider', 'provider', ['']],
  ['/api/v1/rates?', 'on', 'date', [...DAYS, ...ODD_DAYS]],
  ['/api/v1/rates?', 'base', 'currency', CURRENCIES],
  ['/api/v1/rates?', 'quote', 'currency', CURRENCIES],
  ['/api/v1/rates?', 'provider', 'provider', ['']],
  ['/api/v1/rates?', 'exact', 'boolean', BOOLEANS],
  ['/api/v1/series/1/history?', 'from', 'date', [...DAYS, ...ODD_DAYS]],
  ['/api/v1/series/1/history?', 'to', 'date', [...DAYS, ...ODD_DAYS]],
  ['/api/v1/convert?from=USD&to=CRC&', 'amount', 'decimal', AMOUNTS],
  ['/api/v1/convert?amount=1&to=CRC&', 'from', 'currency', CURRENCIES],
  ['/api/v1/convert?amount=1&from=USD&', 'to', 'currency', CURRENCIES],
  ['/api/v1/convert?amount=1&from=USD&to=CRC&', 'provider', 'provider', ['']],
  ['/api/v1/convert?amount=1&from=USD&to=CRC&', 'type', 'rate_type', ['', 'sell', 'venta%20']],
  ['/api/v1/convert?amount=1&from=USD&to=CRC&', 'on', 'date', [...DAYS, ...ODD_DAYS]],
  [
    '/api/v1/sync/runs?',
    'limit',
    'limit',
    ['', '0', '-1', '201', '1000', '1.5', 'x', '1e1', '%201', '0x1', '+5'],
  ],
  ['/api/v1/sync/runs?', 'provider', 'provider', ['', '%00']],
]
for (const [path, name, type, values] of table) {
  test(`a wrong ${name} of ${path.replace(/\?.*/, '')} is a 422`, async () => {
    for (const value of values) {
      const items = await validationItems(app, `${path}${name}=${value}`)
      const input = decodeURIComponent(value.replaceAll('+', ' '))
      isItem(items, { loc: ['query', name], type, input })
    }
  })
}

test('a series id that is no integer is a 422', async () => {
  for (const id of ['abc', '1.0', '1e2', '0x1', '%201', '1%20', '+1', '--1', '1%2F2', '٣']) {
    const items = await validationItems(app, `/api/v1/series/${id}/history`)
    isItem(items, { loc: ['path', 'series_id'], type: 'integer', input: decodeURIComponent(id) })
  }
})

test('a 422 names the required parameters that are missing', async () => {
  const items = await validationItems(app, '/api/v1/convert')
  assert.deepEqual(
    items.map(({ loc, type }) => [loc, type]),
    ['amount', 'from', 'to'].map((name) => [['query', name], 'missing']),
  )
  for (const { msg } of items) assert.ok(msg.length > 0)
})

test('a 422 lists each bad parameter once, whatever its faults, path parameters too', async () => {
  const path = '/api/v1/series/abc/history?from=%zz&from=%ff&to=2026-02-30&x=%'
  const items = await validationItems(app, path)
  assert.deepEqual(items.map(({ loc, type }) => [loc.join('.'), type]).sort(), [
    ['path.series_id', 'integer'],
    ['query.from', 'encoding'],
    ['query.to', 'date'],
    ['query.x', 'encoding'],
  ])
  const all = await validationItems(app, '/api/v1/convert?amount=-1&from=1&to=&type=x&on=y&provider=')
  const names = ['amount', 'from', 'on', 'provider', 'to', 'type']
  assert.deepEqual(all.map(({ loc }) => loc[1]).sort(), names)
})

test('a parameter that cannot be decoded is not reported as missing', async () => {
  const items = await validationItems(app, '/api/v1/convert?amount=%zz&from=USD&to=CRC')
  isItem(items, { loc: ['query', 'amount'], type: 'encoding', input: '%zz' })
})

test('malformed percent-encoding is a 422 in every query, also of paths without parameters', async () => {
  const paths = [
    '/api/v1/health',
    '/api/v1/scheduler',
    '/api/v1/rates',
    '/healthz',
    '/readyz',
    '/openapi.json',
  ]
  for (const path of paths) {
    for (const value of ['%', '%z1', '%1', '%ff', '%c3', '%ed%a0%80']) {
      isItem(await validationItems(app, `${path}?q=${value}`), {
        loc: ['query', 'q'],
        type: 'encoding',
        input: value,
      })
    }
    assert.deepEqual((await validationItems(app, `${path}?%ff=1`))[0]?.loc, ['query', '%ff'])
  }
})

test('the last of a repeated parameter counts', async () => {
  const day = '2026-03-18'
  const right = await app.json<{ rate_date: string }>(`/api/v1/rates/latest?on=never&on=${day}`)
  assert.equal(right.rate_date, day)
  const items = await validationItems(app, `/api/v1/rates/latest?on=${day}&on=never`)
  isItem(items, { loc: ['query', 'on'], type: 'date', input: 'never' })
  await validationItems(app, `/api/v1/rates/latest?on=${day}&on=`)
})

test('escaped names and values are read like plain ones', async () => {
  const { rate_date } = await app.json<{ rate_date: string }>('/api/v1/rates/latest?%6fn=2026%2D03%2D18')
  assert.equal(rate_date, '2026-03-18')
})

test('names of Object.prototype are unknown parameters', async () => {
  const odd = 'x=1&__proto__=2&constructor=3&toString=4&ON=never&on[]=never&amount&=&'
  const unknown = ['ON', 'amount', 'constructor', 'on[]', 'toString', 'x']
  const items = await validationItems(app, `/api/v1/rates/latest?${odd}`)
  assert.deepEqual(
    items.map(({ loc, type }) => `${loc[1]} ${type}`).sort(),
    unknown.map((one) => `${one} unknown`),
  )
})

test('a name without a value is reported as empty', async () => {
  isItem(await validationItems(app, '/api/v1/rates?on'), { loc: ['query', 'on'], type: 'date', input: '' })
})

test("a range that ends before it begins is a 422 with the client's parameter names", async () => {
  const items = await validationItems(app, '/api/v1/series/1/history?from=2026-03-19&to=2026-03-18')
  isItem(items, { loc: ['query', 'from'], type: 'order', input: '2026-03-19' })
  const later = await validationItems(app, '/api/v1/series/1/history?from=2026-03-26&to=2026-03-25')
  isItem(later, { loc: ['query', 'from'], type: 'order', input: '2026-03-26' })
})

function isItem(items: Item[], expected: Omit<Item, 'msg'>): void {
  assert.equal(items.length, 1, JSON.stringify(items))
  const { msg, ...rest } = items[0] ?? { msg: '' }
  assert.deepEqual(rest, expected)
  assert.ok(msg.startsWith(String(expected.loc.at(-1))) && msg.length > 10, msg)
}
