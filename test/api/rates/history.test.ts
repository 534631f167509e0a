// The history of one series: which range, which points (decisions#history).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { addDays } from '../../../src/values/dates.ts'
import { errorDetail, openApp } from '../support.ts'

type History = {
  provider: string
  series_id: number
  external_code: string
  pair: string
  rate_type: string
  date_from: string
  date_to: string
  count: number
  points: { rate_date: string; value: string }[]
}

const TODAY = '2026-03-24'
const TOMORROW = '2026-03-25'
const app = await openApp({ backfillFrom: '2025-11-01' })
await app.sync()

const history = (id: number, query = '') => app.json<History>(`/api/v1/series/${id}/history${query}`)

test('a history without dates has every field, and the last 90 days up to today', async () => {
  const { points, ...about } = await history(1)
  assert.deepEqual(about, {
    provider: 'bccr',
    series_id: 1,
    external_code: '317',
    pair: 'USD/CRC',
    rate_type: 'compra',
    date_from: '2025-12-24',
    date_to: TODAY,
    count: 91,
  })
  assert.deepEqual(
    points,
    Array.from({ length: 91 }, (_, at) => {
      const rate_date = addDays('2025-12-24', at)
      return { rate_date, value: inventedValue('317', rate_date) }
    }),
  )
})

const ranges: [query: string, from: string, to: string, count: number][] = [
  ['?to=2026-03-10', '2025-12-10', '2026-03-10', 91],
  ['?from=2026-03-10', '2026-03-10', TODAY, 15],
  ['?from=2026-03-24', TODAY, TODAY, 1],
  ['?from=2026-03-10&to=2026-03-12', '2026-03-10', '2026-03-12', 3],
  ['?from=2026-03-10&to=2026-03-10', '2026-03-10', '2026-03-10', 1],
  ['?to=2999-12-31', '2999-10-02', '2999-12-31', 0],
  ['?from=2026-03-24&to=2999-12-31', TODAY, '2999-12-31', 2],
  ['?from=1900-01-01&to=2025-10-31', '1900-01-01', '2025-10-31', 0],
  ['?from=1900-01-01&to=2025-11-01', '1900-01-01', '2025-11-01', 1],
  ['?from=1900-01-01&to=2999-12-31', '1900-01-01', '2999-12-31', 145],
  ['?to=1900-01-31', '1900-01-01', '1900-01-31', 0],
  // A range from tomorrow, without an end: empty, though the dollar of tomorrow is stored.
  ['?from=2026-03-25', TOMORROW, TOMORROW, 0],
  ['?from=2026-03-26', '2026-03-26', '2026-03-26', 0],
  ['?from=2999-12-31', '2999-12-31', '2999-12-31', 0],
  ['?from=2026-03-25&to=2026-03-25', TOMORROW, TOMORROW, 1],
]
for (const [query, from, to, count] of ranges) {
  test(`${query} is applied as ${from} to ${to}`, async () => {
    const answer = await history(2, query)
    assert.deepEqual([answer.date_from, answer.date_to, answer.count], [from, to, count])
    assert.equal(answer.points.length, count)
    for (const { rate_date, value } of answer.points) {
      assert.ok(rate_date >= from && rate_date <= to, rate_date)
      assert.equal(value, inventedValue('318', rate_date))
    }
  })
}

test('points are in order of their days, without weekends', async () => {
  const { points, count, rate_type } = await history(3, '?from=2026-03-13&to=2026-03-24')
  assert.equal(rate_type, 'referencia')
  assert.deepEqual(
    points.map(({ rate_date }) => rate_date.slice(-2)),
    ['13', '16', '17', '18', '19', '20', '23', '24'],
  )
  assert.equal(count, 8)
  assert.equal((await history(3, '?from=2026-03-21&to=2026-03-22')).count, 0)
})

test("tomorrow's dollar is included on request alone", async () => {
  assert.equal((await history(1)).points.at(-1)?.rate_date, TODAY)
  assert.equal((await history(1, `?to=${TOMORROW}`)).points.at(-1)?.rate_date, TOMORROW)
})

test('the day after today is included once it is today', async () => {
  const own = await openApp({ now: '2026-03-24T12:00:00Z', backfillFrom: '2026-03-01' })
  await own.sync()
  const ask = () => own.json<History>(`/api/v1/series/1/history?from=${TOMORROW}`)
  assert.equal((await ask()).count, 0)
  own.clock.now = new Date('2026-03-25T12:00:00Z')
  const { date_from, date_to, count } = await ask()
  assert.deepEqual([date_from, date_to, count], [TOMORROW, TOMORROW, 1])
})

test('each of the 47 series has a history by its id', async () => {
  for (let id = 1; id <= 47; id += 1) assert.equal((await history(id)).series_id, id)
})

for (const id of ['0', '48', '-1', '-0', '99999999999999999999999999', '9007199254740993']) {
  test(`the series ${id} is a 404`, async () => {
    await errorDetail(app, `/api/v1/series/${id}/history`, 404)
  })
}

test('the range is validated before the series', async () => {
  const { status } = await app.get('/api/v1/series/999/history?from=2026-03-02&to=2026-03-01')
  assert.equal(status, 422)
})

test('a series has no other path than its history', async () => {
  for (const path of ['/api/v1/series/1', '/api/v1/series//history', '/api/v1/series/1/history/2']) {
    assert.equal(await errorDetail(app, path, 404), 'Not found')
  }
})
