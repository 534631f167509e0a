// The history of one series: which range, which points (decisions 2.8).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays } from '../../../src/dates.ts'
import { inventedValue } from '../../../src/demo/invented-rates.ts'
import { detailOf, openApp } from '../support.ts'

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

test('gives every field, the last 90 days and today when no date is given', async () => {
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
  // From a day after today, without an end: nothing, though the dollar of tomorrow is stored.
  ['?from=2026-03-25', TOMORROW, TOMORROW, 0],
  ['?from=2026-03-26', '2026-03-26', '2026-03-26', 0],
  ['?from=2999-12-31', '2999-12-31', '2999-12-31', 0],
  ['?from=2026-03-25&to=2026-03-25', TOMORROW, TOMORROW, 1],
]
for (const [query, from, to, count] of ranges) {
  test(`applies ${query} as ${from} to ${to}`, async () => {
    const answer = await history(2, query)
    assert.deepEqual([answer.date_from, answer.date_to, answer.count], [from, to, count])
    assert.equal(answer.points.length, count)
    for (const { rate_date, value } of answer.points) {
      assert.ok(rate_date >= from && rate_date <= to, rate_date)
      assert.equal(value, inventedValue('318', rate_date))
    }
  })
}

test('lists points in order of their days and fills no weekend', async () => {
  const { points, count, rate_type } = await history(3, '?from=2026-03-13&to=2026-03-24')
  assert.equal(rate_type, 'referencia')
  assert.deepEqual(
    points.map(({ rate_date }) => rate_date.slice(-2)),
    ['13', '16', '17', '18', '19', '20', '23', '24'],
  )
  assert.equal(count, 8)
  assert.equal((await history(3, '?from=2026-03-21&to=2026-03-22')).count, 0)
})

test("does not show tomorrow's dollar unless asked for", async () => {
  assert.equal((await history(1)).points.at(-1)?.rate_date, TODAY)
  assert.equal((await history(1, `?to=${TOMORROW}`)).points.at(-1)?.rate_date, TOMORROW)
})

test('shows the day after today once it is today', async () => {
  const own = await openApp({ now: '2026-03-24T12:00:00Z', backfillFrom: '2026-03-01' })
  await own.sync()
  const ask = () => own.json<History>(`/api/v1/series/1/history?from=${TOMORROW}`)
  assert.equal((await ask()).count, 0)
  own.clock.now = new Date('2026-03-25T12:00:00Z')
  const { date_from, date_to, count } = await ask()
  assert.deepEqual([date_from, date_to, count], [TOMORROW, TOMORROW, 1])
})

test('knows each of the 47 series by its id', async () => {
  for (let id = 1; id <= 47; id += 1) assert.equal((await history(id)).series_id, id)
})

for (const id of ['0', '48', '-1', '-0', '99999999999999999999999999', '9007199254740993']) {
  test(`has no series ${id}`, async () => {
    await detailOf(app, `/api/v1/series/${id}/history`, 404)
  })
}

test('checks the range before it looks for the series', async () => {
  const { status } = await app.get('/api/v1/series/999/history?from=2026-03-02&to=2026-03-01')
  assert.equal(status, 422)
})

test('knows no path of a series but its history', async () => {
  for (const path of ['/api/v1/series/1', '/api/v1/series//history', '/api/v1/series/1/history/2']) {
    assert.equal(await detailOf(app, path, 404), 'Not found')
  }
})
