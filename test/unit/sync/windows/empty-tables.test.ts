// The bank sends "no data" for a whole table although it has data. No day may be skipped because of that.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { BankRequest } from '../../../../src/demo/bank.ts'
import { inventedValue } from '../../../../src/demo/invented-rates.ts'
import { addDays } from '../../../../src/values/dates.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'

const FLOOR = '2023-06-01'
const NOTHING = JSON.stringify({ estado: true, mensaje: 'No existen datos.', datos: [] })
const EURO = '333'

/** Opens an app whose bank sends an empty table 520 for windows that begin in some months. */
async function openDeaf(t: TestContext, months: string[], times: number): Promise<TestApp> {
  const emptyAnswers = new Map(months.map((month) => [month, times]))
  const isTable = ({ path }: BankRequest) => path.includes('/cuadro/520/')
  return startTestApp(t, {
    backfillFrom: FLOOR,
    bank: {
      faults: (request) => {
        const month = (request.query.fechaInicio ?? '').slice(0, 7).replace('/', '-')
        const more = emptyAnswers.get(month) ?? 0
        if (!isTable(request) || more === 0) return 'pass'
        emptyAnswers.set(month, more - 1)
        return { status: 200, headers: { 'content-type': 'application/json' }, body: NOTHING }
      },
    },
  })
}

/** Returns the days of the euro that the bank has published and the app lacks. */
async function missingDays(app: TestApp): Promise<string[]> {
  const series = await app.json<{ id: number; external_code: string }[]>('/api/v1/series?base=EUR')
  const path = `/api/v1/series/${series[0]?.id}/history?from=${FLOOR}&to=${app.clock.today()}`
  const { points } = await app.json<{ points: { rate_date: string }[] }>(path)
  const storedDays = new Set(points.map(({ rate_date }) => rate_date))
  const missing: string[] = []
  for (let day = FLOOR; day <= app.clock.today(); day = addDays(day, 1)) {
    if (inventedValue(EURO, day) !== undefined && !storedDays.has(day)) missing.push(day)
  }
  return missing
}

for (const [what, months, times] of [
  ['once for two quarters in a row', ['2025-12', '2025-09'], 1],
  ['twice for three quarters in a row', ['2025-12', '2025-09', '2025-06'], 2],
  ['three times for two quarters in a row', ['2025-09', '2025-06'], 3],
  ['always for one quarter', ['2025-06'], Number.POSITIVE_INFINITY],
  [
    'always for a year',
    ['2025-06', '2025-03', '2024-11', '2024-08', '2024-12', '2024-09'],
    Number.POSITIVE_INFINITY,
  ],
] as const) {
  test(`a table without data ${what} leaves no hole`, async (t) => {
    const app = await openDeaf(t, [...months], times)
    for (let run = 0; run < 3; run += 1) await app.sync()
    assert.deepEqual(await missingDays(app), [])
    const requestsBefore = app.bank.requests.length
    await app.sync()
    assert.ok(app.bank.requests.length - requestsBefore <= 6, 'it goes on asking for what it has')
  })
}
