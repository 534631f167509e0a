// /rates/latest and /rates: the day of the answer, and empty fields (decisions#currencies, #day and #tables).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { errorDetail, openApp } from '../support.ts'

type Latest = {
  provider: string
  pair: string
  rate_date: string
  compra: string | null
  venta: string | null
  referencia: string | null
}
type Rate = {
  provider: string
  series_id: number
  external_code: string
  pair: string
  base_currency: string
  quote_currency: string
  rate_type: string
  rate_date: string
  value: string
}

const FRIDAY = '2026-03-20'
const SATURDAY = '2026-03-21'
const SUNDAY = '2026-03-22'
const MONDAY = '2026-03-23'
const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const HALF_DAY = '2026-03-18'

const app = await openApp({
  bank: {
    // A day without a published sale, and a value with needless digits.
    value: (code, day) => {
      if (code === '318' && day === HALF_DAY) return null
      return code === '317' && day === '2026-03-17' ? '496.44000000' : undefined
    },
  },
})
await app.sync()

const latest = (query = '') => app.json<Latest>(`/api/v1/rates/latest${query}`)
const rates = (query = '') => app.json<Rate[]>(`/api/v1/rates${query}`)

test("/rates/latest has today's dollar, although tomorrow's is stored", async () => {
  assert.deepEqual(await latest(), {
    provider: 'bccr',
    pair: 'USD/CRC',
    rate_date: TODAY,
    compra: inventedValue('317', TODAY),
    venta: inventedValue('318', TODAY),
    referencia: null,
  })
  assert.equal((await latest(`?on=${TOMORROW}`)).rate_date, TOMORROW)
  assert.notEqual(inventedValue('318', TODAY), inventedValue('318', TOMORROW))
})

test('/rates/latest has referencia alone for a parity', async () => {
  assert.deepEqual(await latest('?base=EUR&quote=USD'), {
    provider: 'bccr',
    pair: 'EUR/USD',
    rate_date: TODAY,
    compra: null,
    venta: null,
    referencia: inventedValue('333', TODAY),
  })
})

test("/rates/latest of a weekend has Friday's parity and its date", async () => {
  for (const day of [SATURDAY, SUNDAY]) {
    const { rate_date, referencia } = await latest(`?base=USD&quote=JPY&on=${day}`)
    assert.deepEqual([rate_date, referencia], [FRIDAY, inventedValue('325', FRIDAY)])
  }
  assert.equal((await latest(`?base=USD&quote=JPY&on=${MONDAY}`)).rate_date, MONDAY)
})

test('/rates/latest never mixes days: a side that was not published on the day is null', async () => {
  const answer = await latest(`?on=${HALF_DAY}`)
  assert.equal(answer.rate_date, HALF_DAY)
  assert.equal(answer.compra, inventedValue('317', HALF_DAY))
  assert.equal(answer.venta, null)
  const dates = (await rates(`?on=${HALF_DAY}&quote=crc`)).map(({ rate_date }) => rate_date)
  assert.deepEqual(dates, [HALF_DAY, '2026-03-17'], 'the list says of each value which day it is of')
})

test('values are in canonical form', async () => {
  assert.equal((await latest('?on=2026-03-17')).compra, '496.44')
})

test('/rates/latest of a far future day has the newest value', async () => {
  assert.equal((await latest('?on=2999-12-31')).rate_date, TOMORROW)
  assert.equal((await latest('?base=USD&quote=JPY&on=2999-12-31')).rate_date, TODAY)
})

test('currencies are read in any case and answered in upper case', async () => {
  for (const query of [
    '?base=usd&quote=crc',
    '?base=Usd&quote=cRC',
    '?base=USD&quote=CRC',
    '?provider=bccr',
  ]) {
    assert.deepEqual(await latest(query), await latest())
  }
})

test('/convert and /history read type in any case and answer in lower case', async () => {
  for (const path of ['/api/v1/convert?amount=1&from=USD&to=CRC', '/api/v1/history?base=USD&quote=CRC']) {
    for (const type of ['VENTA', 'Compra']) {
      const answer = await app.json<{ rate_type: string }>(`${path}&type=${type}`)
      assert.deepEqual(answer, await app.json(`${path}&type=${type.toLowerCase()}`))
      assert.equal(answer.rate_type, type.toLowerCase())
    }
  }
})

const missing: [title: string, query: string, words: RegExp][] = [
  ['a pair against its direction', '?base=CRC&quote=USD', /CRC\/USD/],
  ['a pair that only a chain would give', '?base=JPY&quote=CRC', /JPY\/CRC/],
  ['a currency into itself', '?base=USD&quote=USD', /USD\/USD/],
  ['an unknown currency', '?base=XXX', /XXX\/CRC/],
  ['an unknown provider', '?provider=nobody', /nobody/],
  ['the provider in other letters', '?provider=BCCR', /BCCR/],
  ['a day before the first value', '?on=2025-12-31', /2025-12-31/],
  ['the first day there is', '?on=1900-01-01', /1900-01-01/],
]
for (const [title, query, words] of missing) {
  test(`/rates/latest is a 404 for ${title}`, async () => {
    assert.match(await errorDetail(app, `/api/v1/rates/latest${query}`, 404), words)
  })
}

test('the 404 of a pair that only /convert knows has its path in `see`, with the same day', async () => {
  const read = async (query: string) => {
    const response = await app.get(`/api/v1/rates/latest?${query}`)
    assert.equal(response.status, 404)
    return (await response.json()) as { detail: string; see?: string }
  }
  for (const query of ['base=EUR', 'base=EUR&on=2026-03-20', 'base=CRC&quote=JPY&on=2026-03-20']) {
    const { detail, see } = await read(query)
    const { base = '', quote = 'CRC', on = TODAY } = Object.fromEntries(new URLSearchParams(query))
    assert.equal(see, `/api/v1/convert?amount=1&from=${base}&to=${quote}&on=${on}`)
    assert.match(detail, /inverts and chains pairs$/)
    const { from_currency, to_currency } = await app.json<Record<string, string>>(see)
    assert.deepEqual([from_currency, to_currency], [base, quote])
  }
  app.clock.now = new Date(app.clock.now.getTime() + 1000) // later than the commits of the sync
  const asOf = app.clock.now.toISOString()
  const { see = '' } = await read(`base=EUR&as_of=${asOf}`)
  assert.equal(new URLSearchParams(see.split('?')[1]).get('as_of'), asOf)
  assert.equal((await app.get(see)).status, 200)
  for (const query of ['base=XXX', 'base=EUR&quote=XXX', 'on=2025-12-31', 'provider=nobody']) {
    const { detail, see } = await read(query)
    assert.equal(see, undefined)
    assert.doesNotMatch(detail, /convert/)
  }
})

test('/rates lists every series of the day, by id, with every field', async () => {
  const all = await rates()
  assert.equal(all.length, 47)
  assert.deepEqual(
    all.map(({ series_id }) => series_id),
    all.map((_, at) => at + 1),
  )
  assert.deepEqual(all[1], {
    provider: 'bccr',
    series_id: 2,
    external_code: '318',
    pair: 'USD/CRC',
    base_currency: 'USD',
    quote_currency: 'CRC',
    rate_type: 'venta',
    rate_date: TODAY,
    value: inventedValue('318', TODAY),
  })
  for (const { external_code, rate_date, value } of all) {
    assert.equal(value, inventedValue(external_code, rate_date))
    assert.equal(rate_date, TODAY)
  }
})

const lists: [query: string, count: number, days: string[]][] = [
  [`?on=${SUNDAY}`, 47, [FRIDAY, SUNDAY]],
  [`?on=${SUNDAY}&exact=true`, 2, [SUNDAY]],
  [`?on=${SUNDAY}&exact=1`, 2, [SUNDAY]],
  [`?on=${SUNDAY}&exact=YES`, 2, [SUNDAY]],
  [`?on=${SUNDAY}&exact=False`, 47, [FRIDAY, SUNDAY]],
  [`?on=${SUNDAY}&exact=0`, 47, [FRIDAY, SUNDAY]],
  [`?on=${MONDAY}&exact=on`, 47, [MONDAY]],
  [`?on=${TOMORROW}&exact=true`, 2, [TOMORROW]],
  [`?on=${TOMORROW}`, 47, [TODAY, TOMORROW]],
  [`?on=${HALF_DAY}&exact=true&quote=CRC`, 1, [HALF_DAY]],
  ['?exact=true', 47, [TODAY]],
  ['?on=2026-01-01', 47, ['2026-01-01']],
  ['?on=2025-12-31', 0, []],
  ['?on=1900-01-01&exact=true', 0, []],
  ['?base=usd', 43, [TODAY]],
  ['?quote=USD', 4, [TODAY]],
  ['?base=USD&quote=JPY', 1, [TODAY]],
  ['?base=JPY&quote=USD', 0, []],
  ['?base=XXX', 0, []],
  ['?provider=bccr', 47, [TODAY]],
  ['?provider=nobody', 0, []],
]
for (const [query, count, days] of lists) {
  test(`/rates lists ${count} rates with ${query}`, async () => {
    const rows = await rates(query)
    assert.equal(rows.length, count)
    assert.deepEqual([...new Set(rows.map(({ rate_date }) => rate_date))].sort(), days)
  })
}

test("today is that of Costa Rica's clock, to the second of its midnight", async () => {
  const own = await openApp({ now: '2026-03-24T05:59:59.999Z' })
  await own.sync({ from: '2026-03-19', to: '2026-03-24' })
  const answer = async () => (await own.json<Latest>('/api/v1/rates/latest')).rate_date
  assert.equal(await answer(), MONDAY)
  assert.equal((await own.json<Rate[]>('/api/v1/rates'))[0]?.rate_date, MONDAY)
  own.clock.now = new Date('2026-03-24T06:00:00Z')
  assert.equal(await answer(), TODAY)
  assert.equal((await own.json<Rate[]>('/api/v1/rates'))[0]?.rate_date, TODAY)
})

test('rates are served while the bank is down', async () => {
  await app.bank.close()
  assert.equal((await latest()).rate_date, TODAY)
  assert.equal((await rates()).length, 47)
})
