import assert from 'node:assert/strict'
import { test } from 'node:test'
import { scaled } from '../../../faults/scale.ts'
import { fc } from '../../../support/fast-check.ts'
import { ask, convertUnit, openShapes, printedNumber, readJson, TODAY } from '../support.ts'

const app = await openShapes()
const venta = (await app.json<{ venta: string }>('/api/v1/rates/latest')).venta
const onDay = async (day: string) =>
  (await app.json<{ venta: string }>(`/api/v1/rates/latest?on=${day}`)).venta

test('the answer of one day has amount, base, date and rates, in this order and with the stored digits', async () => {
  const body = `{"amount":1.0,"base":"USD","date":"${TODAY}","rates":{"CRC":${venta}}}`
  for (const path of ['/v1/latest', '/v1/current', '/compat/frankfurter/v1/latest', `/v1/${TODAY}`]) {
    assert.deepEqual(await ask(app, `${path}?base=usd&symbols=crc`), [200, body], path)
  }
  const success = body.replace('{', '{"success":true,')
  assert.deepEqual(await ask(app, '/latest?from=USD&to=CRC'), [200, success])
  assert.deepEqual(await ask(app, `/${TODAY}/?from=USD&to=CRC`), [200, success])
})

test('from outranks base and to outranks symbols; the defaults are the euro and all rates', async () => {
  const one = await readJson<{ base: string; rates: object }>(
    app,
    '/v1/latest?from=USD&base=EUR&to=CRC&symbols=JPY',
  )
  assert.deepEqual([one.base, Object.keys(one.rates)], ['USD', ['CRC']])
  const all = await readJson<{ base: string; rates: object }>(app, '/v1/latest')
  const codes = Object.keys(all.rates)
  assert.deepEqual([all.base, codes.length, codes], ['EUR', 46, codes.toSorted()])
  assert.ok(!codes.includes('EUR'))
})

test('the amount multiplies, exactly unless the result must be rounded', async () => {
  const cents = BigInt(Math.round(Number(venta) * 100)) * 3n
  const [, body] = await ask(app, '/v1/latest?base=USD&symbols=CRC&amount=3')
  assert.ok(body.startsWith('{"amount":3.0,'))
  assert.equal(Math.round(Number(printedNumber(body, '"CRC":')) * 100), Number(cents))
  assert.ok((await ask(app, '/v1/latest?base=USD&symbols=CRC&amount=2.50'))[1].startsWith('{"amount":2.5,'))
})

test('a period has its first and last day and ascending dates, and may be open at its end', async () => {
  type Period = { start_date: string; end_date: string; rates: Record<string, Record<string, number>> }
  const period = await readJson<Period>(app, '/v1/2026-03-01..2026-03-05?base=USD&symbols=CRC')
  const days = ['2026-03-01', '2026-03-02', '2026-03-03', '2026-03-04', '2026-03-05']
  assert.deepEqual(Object.keys(period.rates), days)
  assert.deepEqual([period.start_date, period.end_date], ['2026-03-01', '2026-03-05'])
  for (const day of days) assert.equal(String(period.rates[day]?.CRC), String(Number(await onDay(day))))
  const open = await readJson<Period>(app, '/v1/2026-03-20..?base=USD&symbols=CRC')
  assert.deepEqual([open.start_date, open.end_date], ['2026-03-20', TODAY])
})

type Days = { start_date: string; end_date: string; rates: Record<string, Record<string, number>> }
// 2026-03-21 is a Saturday; the dollar in colones has a value of each day.
for (const [period, symbols, dates] of [
  ['2026-03-21..2026-03-22', 'USD', ['2026-03-20']],
  ['2026-03-22..2026-03-22', 'USD,JPY', ['2026-03-20']],
  ['2026-03-21..2026-03-23', 'USD', ['2026-03-20', '2026-03-23']],
  ['2026-03-22..', 'JPY', ['2026-03-20', '2026-03-23', '2026-03-24']],
  ['2026-03-20..2026-03-22', 'USD', ['2026-03-20']],
  ['2026-03-20..2026-03-20', 'USD', ['2026-03-20']],
  ['2026-03-21..2026-03-22', 'CRC', ['2026-03-21', '2026-03-22']],
  ['2026-03-21..2026-03-22', 'USD,CRC', ['2026-03-21', '2026-03-22']],
  ['2026-03-21..2026-03-22', '', ['2026-03-21', '2026-03-22']],
] as const) {
  test(`the period ${period} of EUR in ${symbols || 'all'} begins on ${dates[0]}`, async () => {
    for (const path of [`/v1/${period}`, `/${period}`, `/compat/frankfurter/v1/${period}`]) {
      const answer = await readJson<Days>(app, `${path}?base=EUR&symbols=${symbols}`)
      assert.deepEqual(Object.keys(answer.rates), dates)
      assert.deepEqual([answer.start_date, answer.end_date], [dates[0], dates.at(-1)])
      const single = await readJson<{ rates: object }>(app, `/v1/${dates[0]}?base=EUR&symbols=${symbols}`)
      if (symbols !== '' && symbols !== 'USD,CRC') assert.deepEqual(answer.rates[dates[0]], single.rates)
    }
  })
}

test('a reversed period is a 404', async () => {
  for (const period of ['2026-03-22..2026-03-21', '2026-03-22..2026-03-19']) {
    const answer = await ask(app, `/v1/${period}?base=EUR&symbols=USD`)
    assert.deepEqual(answer, [404, '{"message":"not found"}'], period)
  }
})

for (const [title, path, status, message] of [
  ['an unknown base', '/v1/latest?base=XXX', 404, 'not found'],
  ['no known symbol', '/v1/latest?base=USD&symbols=XXX,YYY', 404, 'not found'],
  ['a day before the data', '/v1/1999-01-04?base=USD', 404, 'not found'],
  ['the base as the only symbol', '/v1/latest?base=USD&symbols=USD', 422, 'bad currency pair'],
  ['an amount of nothing', '/v1/latest?amount=0', 422, 'invalid amount'],
  ['an amount that is none', '/v1/latest?amount=x', 422, 'invalid amount'],
  ['an impossible date', '/v1/2026-02-31', 422, 'invalid date'],
  ['another path', '/v1/nothing', 404, 'not found'],
  ['a side that is none', '/v1/latest?tipo=medio', 400, 'tipo must be compra or venta'],
] as const) {
  test(`${title} is ${status}`, async () => {
    assert.deepEqual(await ask(app, path), [status, JSON.stringify({ message })])
  })
}

test('unknown symbols beside known ones are left out, a future day is today, and /currencies has names', async () => {
  const { rates } = await readJson<{ rates: object }>(app, '/v1/latest?base=USD&symbols=CRC,XXX')
  assert.deepEqual(Object.keys(rates), ['CRC'])
  assert.equal((await readJson<{ date: string }>(app, '/v1/2030-01-01?base=USD&symbols=CRC')).date, TODAY)
  const names = await readJson<Record<string, string>>(app, '/v1/currencies')
  assert.equal(names.CRC, 'Costa Rican Colón')
})

test('a weekend has the last parity and its own dollar', async () => {
  const sunday = '2026-03-22'
  const euro = await readJson<{ date: string }>(app, `/v1/${sunday}?base=EUR&symbols=CRC`)
  assert.equal(euro.date, sunday)
  const yen = await readJson<{ date: string }>(app, `/v1/${sunday}?base=EUR&symbols=JPY`)
  assert.equal(yen.date, '2026-03-20')
})

test('websites may read every answer, and Vary names its headers', async () => {
  const { headers } = await fetch(`${app.app.url}/v1/latest`, { headers: { Origin: 'https://a.example' } })
  assert.equal(headers.get('access-control-allow-origin'), '*')
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
  assert.match(headers.get('vary') ?? '', /X-API-Key, apikey, Authorization/)
  const etag = headers.get('etag') ?? ''
  const again = await fetch(`${app.app.url}/v1/latest`, { headers: { 'If-None-Match': etag } })
  assert.equal(again.status, 304)
})

test('v1 has the number of /convert, for any pair, side and day', async () => {
  const codes = Object.keys(await readJson(app, '/v1/currencies'))
  const code = fc.constantFrom(...codes)
  const day = fc
    .integer({ min: 0, max: 81 })
    .map((n) => new Date(Date.UTC(2026, 0, 2 + n)).toISOString().slice(0, 10))
  const property = fc.asyncProperty(
    code,
    code,
    fc.constantFrom('compra', 'venta'),
    day,
    async (from, to, side, on) => {
      fc.pre(from !== to)
      const [, body] = await ask(app, `/v1/${on}?base=${from}&symbols=${to}&tipo=${side}`)
      assert.equal(printedNumber(body, `"${to}":`), await convertUnit(app, from, to, side, on), body)
    },
  )
  await fc.assert(property, { numRuns: scaled({ short: 50, long: 200 }) })
})
