// The catalogues of providers and series (decisions#provider, #series, #currencies, #booleans and #order).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { raiseRevision } from '../../../src/store/meta.ts'
import { updateProviderEnabled } from '../../../src/store/rates/providers.ts'
import { updateSeriesEnabled } from '../../../src/store/rates/series.ts'
import { until } from '../../support/terminal.ts'
import { asOtherProcess, openApp } from '../support.ts'

type Series = {
  id: number
  provider_id: number
  external_code: string
  name: string
  base_currency: string
  quote_currency: string
  rate_type: string
  unit: string | null
  periodicity: string | null
  first_data_date: string | null
  enabled: boolean
}

// The bank's own list of the 45 currencies of table 520, in alphabetical order; XDR is added from an answer.
const UNITS_OF_DOLLAR = ['AUD', 'EUR', 'GBP', 'XDR']
const LEARNED = 'XDR'
const PARITIES =
  'AED ARS AUD BDT BHD BOB BRL CAD CHF CLP CNY COP DKK DOP EGP EUR GBP GTQ HKD HNL IDR ILS INR JOD JPY KRW LKR ' +
  'MAD MXN MYR NIO NOK NZD PEN PLN RUB SEK SGD THB TWD UYU VES VND ZAR'

const app = await openApp()
const before = await app.json<Series[]>('/api/v1/series')
await app.sync()

test('/providers lists one provider, the central bank', async () => {
  assert.deepEqual(await app.json('/api/v1/providers'), [
    {
      id: 1,
      code: 'bccr',
      name: 'Banco Central de Costa Rica',
      country: 'CR',
      website: 'https://www.bccr.fi.cr',
      enabled: true,
    },
  ])
})

test('/series lists 47 currencies: both sides of the dollar, then the parities by currency, with XDR once it is known', async () => {
  const series = await app.json<Series[]>('/api/v1/series')
  const currencies = [...PARITIES.split(' '), LEARNED]
  const parities = currencies.map((one) => (UNITS_OF_DOLLAR.includes(one) ? `${one}/USD` : `USD/${one}`))
  const pairs = series.map(({ base_currency, quote_currency }) => `${base_currency}/${quote_currency}`)
  assert.deepEqual(pairs, ['USD/CRC', 'USD/CRC', ...parities])
  assert.deepEqual(
    series.map(({ id }) => id),
    pairs.map((_, at) => at + 1),
  )
  assert.equal(new Set(pairs.join('/').split('/')).size, 47)
  const types = series.map(({ rate_type }) => rate_type)
  assert.deepEqual(types, ['compra', 'venta', ...parities.map(() => 'referencia')])
  assert.deepEqual(
    before.map(({ id, external_code }) => `${id} ${external_code}`),
    series.slice(0, -1).map(({ id, external_code }) => `${id} ${external_code}`),
  )
})

test('/series has every field of a series', async () => {
  const [compra, venta] = await app.json<Series[]>('/api/v1/series?base=usd&quote=crc')
  assert.deepEqual(compra, {
    id: 1,
    provider_id: 1,
    external_code: '317',
    name: 'Tipo cambio compra',
    base_currency: 'USD',
    quote_currency: 'CRC',
    rate_type: 'compra',
    unit: 'CRC por USD',
    periodicity: 'diaria',
    first_data_date: '2026-01-01',
    enabled: true,
  })
  assert.deepEqual([venta?.id, venta?.external_code, venta?.rate_type], [2, '318', 'venta'])
  const [euro] = await app.json<Series[]>('/api/v1/series?base=EUR')
  assert.deepEqual([euro?.external_code, euro?.unit, euro?.rate_type], ['333', 'USD por EUR', 'referencia'])
  assert.equal(euro?.first_data_date, '2026-01-01')
})

test('/series has the newest day with a value only with details=true', async () => {
  const plain = await (await app.get('/api/v1/series')).text()
  assert.equal(await (await app.get('/api/v1/series?details=false')).text(), plain)
  assert.doesNotMatch(plain, /last_data_date/)
  const detailed = await app.json<(Series & { last_data_date: string | null })[]>(
    '/api/v1/series?details=true',
  )
  assert.equal(JSON.stringify(detailed.map(({ last_data_date: _, ...row }) => row)), plain)
  // The dollar of tomorrow is published in the evening before; the parities end with their last working day.
  assert.deepEqual(
    detailed.slice(0, 3).map(({ last_data_date: day }) => day),
    await Promise.all([1, 2, 3].map(newestDay)),
  )
  const empty = await openApp()
  const [first] = await empty.json<object[]>('/api/v1/series?details=true')
  assert.ok(first && 'last_data_date' in first && first.last_data_date === null)
  await empty.sync({ from: '2026-03-20', to: '2026-03-22' })
  const [filled] = await empty.json<{ last_data_date: string }[]>(
    '/api/v1/series?details=1&base=usd&quote=crc',
  )
  assert.equal(filled?.last_data_date, '2026-03-22')
})

async function newestDay(id: number): Promise<string | undefined> {
  const path = `/api/v1/series/${id}/history?from=2026-01-01&to=2999-12-31`
  return (await app.json<{ points: { rate_date: string }[] }>(path)).points.at(-1)?.rate_date
}

test('/series has null for a series without data', () => {
  for (const { first_data_date, unit, enabled } of before) {
    assert.equal(first_data_date, null)
    assert.equal(typeof unit, 'string')
    assert.equal(enabled, true)
  }
})

const filters: [query: string, count: number][] = [
  ['', 47],
  ['?provider=bccr', 47],
  ['?provider=BCCR', 0],
  ['?provider=nobody', 0],
  ['?base=USD', 43],
  ['?base=uSd', 43],
  ['?quote=usd', 4],
  ['?base=JPY', 0],
  ['?quote=JPY', 1],
  ['?base=XXX', 0],
  ['?quote=CRC', 2],
  ['?base=EUR&quote=USD', 1],
  ['?base=USD&quote=EUR', 0],
  ['?provider=bccr&base=usd&quote=crc&only_enabled=true', 2],
  ['?provider=nobody&base=usd', 0],
]
for (const [query, count] of filters) {
  test(`/series has ${count} series with ${query || 'no filter'}`, async () => {
    assert.equal((await app.json<Series[]>(`/api/v1/series${query}`)).length, count)
  })
}

const TRUE = ['true', 'TRUE', 'True', '1', 'yes', 'YES', 'on', 'On']
const FALSE = ['false', 'FALSE', 'False', '0', 'no', 'No', 'off', 'OFF']

test('only_enabled leaves out disabled providers and series, in every spelling', async () => {
  const own = await openApp()
  await own.sync({ from: '2026-03-23', to: '2026-03-24' })
  await asOtherProcess(own, async (db) => {
    await updateSeriesEnabled(db, 1, false, own.clock.read().getTime())
    await raiseRevision(db)
  })
  const all = async (path: string) => (await own.json<{ id: number; enabled: boolean }[]>(path)).length
  const one = async () => (await all('/api/v1/series?only_enabled=true')) === 46
  await until(one)
  await asOtherProcess(own, async (db) => {
    await updateProviderEnabled(db, 'bccr', false, own.clock.read().getTime())
    await raiseRevision(db)
  })
  const isDisabled = async () => (await all('/api/v1/providers?only_enabled=true')) === 0
  await until(isDisabled)
  for (const [spellings, providers, series] of [
    [TRUE, 0, 0], // a series of a disabled provider is not synchronized either
    [FALSE, 1, 47],
  ] as const) {
    for (const spelling of spellings) {
      assert.equal(await all(`/api/v1/providers?only_enabled=${spelling}`), providers, spelling)
      assert.equal(await all(`/api/v1/series?only_enabled=${spelling}`), series, spelling)
    }
  }
  const [provider] = await own.json<{ enabled: boolean }[]>('/api/v1/providers')
  assert.equal(provider?.enabled, false)
  const [compra, venta] = await own.json<Series[]>('/api/v1/series')
  assert.deepEqual([compra?.enabled, venta?.enabled], [false, true])

  // Their stored values are still served (decisions#tables).
  const latest = await own.json<{ compra: string | null }>('/api/v1/rates/latest')
  assert.notEqual(latest.compra, null)
  assert.equal((await own.json<unknown[]>('/api/v1/rates')).length, 47)
  assert.equal((await own.json<{ count: number }>('/api/v1/series/1/history')).count, 2)
  await own.json('/api/v1/convert?amount=1&from=USD&to=CRC&type=compra')
})
