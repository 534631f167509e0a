import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send } from '../support.ts'
import { KEY, openKeyedApp, readJson, SUNDAY, seconds, sendKeyEachWay, TODAY } from './keyed-support.ts'

type Failed = { result: string; 'error-type': string }

const app = await openKeyedApp()
const inPath = `/v6/${KEY}`

async function keyed(path: string): Promise<Record<string, unknown>> {
  const { status, body } = await send(`${app.app.url}${inPath}${path}`)
  assert.equal(status, 200, body)
  return JSON.parse(body) as Record<string, unknown>
}

/** The entries of an answer after the three that every answer begins with. */
function afterHead(body: Record<string, unknown>): [string, unknown][] {
  const entries = Object.entries(body)
  const names = ['result', 'documentation', 'terms_of_use']
  assert.deepEqual(
    entries.slice(0, 3).map(([name]) => name),
    names,
  )
  assert.equal(body.result, 'success')
  return entries.slice(3)
}

const TIMES = [
  ['time_last_update_unix', seconds(TODAY, '00:00:00')],
  ['time_last_update_utc', 'Tue, 24 Mar 2026 00:00:00 +0000'],
  ['time_next_update_unix', seconds('2026-03-25', '00:00:00')],
  ['time_next_update_utc', 'Wed, 25 Mar 2026 00:00:00 +0000'],
]

test('v6 latest with a key in the path has a table with the base first', async () => {
  const [rates, ...head] = afterHead(await keyed('/latest/usd')).reverse()
  assert.deepEqual(head.reverse(), [...TIMES, ['base_code', 'USD']])
  assert.equal(rates?.[0], 'conversion_rates')
  const table = Object.entries(rates?.[1] as Record<string, number>)
  assert.deepEqual([table[0], table.length], [['USD', 1], 47])
  assert.equal(Object.fromEntries(table).CRC, 500)
})

test('v6 latest without a key in the path calls its table rates', async () => {
  const body = await readJson(app, '/v6/latest/USD')
  assert.equal((body.rates as Record<string, number>).CRC, 500)
  assert.equal('conversion_rates' in body, false)
  assert.equal(Object.keys(body)[1], 'provider')
})

test('v4 latest has base, date and rates', async () => {
  const { provider, rates, ...body } = await readJson(app, '/v4/latest/CRC')
  assert.equal(typeof provider, 'string')
  assert.deepEqual(body, { base: 'CRC', date: TODAY, time_last_updated: seconds(TODAY, '00:00:00') })
  assert.deepEqual(Object.entries(rates as object)[0], ['CRC', 1])
  assert.equal((rates as Record<string, number>).USD, 0.002)
})

test('v4 latest has neither a status nor an error', async () => {
  for (const path of ['/latest/USD', '/pair/USD/CRC', '/codes', '/quota', '/history/USD/2026/3/20']) {
    const body = await keyed(path)
    assert.equal('status' in body || 'error' in body, false, path)
  }
})

test('pair has a rate, and a result if an amount is requested', async () => {
  const pair = [
    ['base_code', 'EUR'],
    ['target_code', 'CRC'],
    ['conversion_rate', 625],
  ]
  assert.deepEqual(afterHead(await keyed('/pair/EUR/CRC')), [...TIMES, ...pair])
  const ten = [...TIMES, ...pair, ['conversion_result', 6250]]
  assert.deepEqual(afterHead(await keyed('/pair/eur/crc/10')), ten)
})

test('codes has pairs of code and name', async () => {
  const [[name, codes] = []] = afterHead(await keyed('/codes'))
  assert.equal(name, 'supported_codes')
  assert.ok((codes as string[][]).some(([code, called]) => code === 'CRC' && called === 'Costa Rican Colón'))
})

test('history has the day in three numbers, with or without an amount', async () => {
  for (const day of ['2026/3/22', '2026/03/22']) {
    const { conversion_rates: rates, ...body } = Object.fromEntries(
      afterHead(await keyed(`/history/USD/${day}`)),
    )
    assert.deepEqual(body, { year: 2026, month: 3, day: 22, base_code: 'USD' })
    assert.equal((rates as Record<string, number>).CRC, 500)
  }
  const { conversion_amounts: amounts, requested_amount } = await keyed('/history/USD/2026/3/22/2.5')
  assert.equal(requested_amount, 2.5)
  assert.deepEqual(Object.entries(amounts as object)[0], ['USD', 2.5])
  assert.equal((amounts as Record<string, number>).CRC, 1250)
})

test('a day in the future is answered as today', async () => {
  const { year, month, day } = await keyed('/history/USD/2027/1/1')
  assert.deepEqual([year, month, day], [2026, 3, 24])
})

test('quota is never used up', async () => {
  const { plan_quota, requests_remaining, refresh_day_of_month } = await keyed('/quota')
  assert.equal(plan_quota, requests_remaining)
  assert.ok(Number(requests_remaining) > 0 && refresh_day_of_month === 1)
})

test('tipo selects the side of the dollar', async () => {
  assert.equal((await keyed('/pair/USD/CRC?tipo=compra')).conversion_rate, 490.5)
})

for (const [path, status, type] of [
  ['/compat/exchangerate-api/v6/nothing', 404, 'malformed-request'],
  ['/v4/latest', 404, 'malformed-request'],
  ['/v6/latest/QQQ', 404, 'unsupported-code'],
  ['/v4/latest/QQQ', 404, 'unsupported-code'],
  ['/v6/pair/USD/QQQ', 404, 'unsupported-code'],
  ['/v6/pair/QQQ/USD', 404, 'unsupported-code'],
  ['/v6/pair/USD/CRC/0', 400, 'malformed-request'],
  ['/v6/latest/USD?tipo=media', 400, 'malformed-request'],
  ['/v6/history/USD/2026/2/31', 400, 'malformed-request'],
  ['/v6/history/USD/2025/12/31', 404, 'no-data-available'],
] as const) {
  test(`${path} is ${type}`, async () => {
    assert.deepEqual(await readJson<Failed>(app, path, status), { result: 'error', 'error-type': type })
  })
}

test('a currency that is not stored is logged', () => {
  assert.ok(app.logLines.some((line) => line.includes('not held') && line.includes('exchangerate-api')))
})

test('a key outside of the path is accepted in each way', async () => {
  for (const path of ['/v6/latest/USD', '/v4/latest/USD', '/v6/pair/USD/CRC']) {
    for (const [way, { status, body }] of await sendKeyEachWay(app, path)) {
      assert.equal(status, 200, `${path} ${way}`)
      assert.match(body, /:500[,}]/, way)
    }
  }
})

test('no key and a wrong key are invalid-key', async () => {
  for (const path of [
    '/v6/latest/USD',
    '/v6/wrong/latest/USD',
    '/v6/wrong/pair/USD/CRC',
    `/v6/${app.key}/codes`,
  ]) {
    const { status, body } = await send(app.app.url + path)
    assert.equal(status, 401, path)
    assert.equal((JSON.parse(body) as Failed)['error-type'], 'invalid-key')
  }
  assert.equal(app.logLines.join('').includes(KEY), false)
})

test('a table on a Sunday has the date of the Sunday', async () => {
  const { day } = await keyed(`/history/EUR/${SUNDAY.replaceAll('-', '/')}`)
  assert.equal(day, 22)
})
