// Fields of every answer over a complete, exact store: those of the contract and no others (decisions#additions).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openApp } from '../support.ts'

const PROVIDER = ['id', 'code', 'name', 'country', 'website', 'enabled']
const SERIES = [
  'id',
  'provider_id',
  'external_code',
  'name',
  'base_currency',
  'quote_currency',
  'rate_type',
  'unit',
  'periodicity',
  'first_data_date',
  'enabled',
]
const RATE = [
  'provider',
  'series_id',
  'external_code',
  'pair',
  'base_currency',
  'quote_currency',
  'rate_type',
  'rate_date',
  'value',
]
const LATEST = ['provider', 'pair', 'rate_date', 'compra', 'venta', 'referencia']
const POINT = ['rate_date', 'value']
const HISTORY = [
  'provider',
  'series_id',
  'external_code',
  'pair',
  'rate_type',
  'date_from',
  'date_to',
  'count',
  'points',
]
const CONVERSION = [
  'provider',
  'rate_date',
  'rate_type',
  'from_currency',
  'to_currency',
  'amount',
  'rate',
  'result',
  'path',
  'via_pivot',
]
const RUN = [
  'id',
  'provider_id',
  'trigger',
  'status',
  'date_from',
  'date_to',
  'inserted',
  'updated',
  'unchanged',
  'message',
  'started_at',
  'finished_at',
]
const HEALTH = ['status', 'database', 'scheduler', 'providers', 'series', 'rates', 'last_sync']
const SCHEDULER = ['enabled', 'running', 'timezone', 'tasks']
const LEG = ['series_id', 'pair', 'rate_type', 'rate_date', 'value', 'inverse']

/** Every object of the answers, by its path. */
const answers: [path: string, keys: string[], count: number, inner?: [name: string, keys: string[]]][] = [
  ['/health', HEALTH, 1],
  ['/providers', PROVIDER, 1],
  ['/series', SERIES, 47],
  ['/series?only_enabled=true', SERIES, 47],
  ['/rates/latest', LATEST, 1],
  ['/rates/latest?on=2026-03-22', LATEST, 1],
  ['/rates/latest?on=2026-03-25', LATEST, 1],
  ['/rates/latest?on=2026-03-25', LATEST, 1],
  ['/rates/latest?on=2999-12-31', [...LATEST, 'future'], 1],
  ['/convert?amount=1&from=USD&to=CRC&on=2026-03-25', CONVERSION, 1],
  ['/convert?amount=1&from=USD&to=CRC&on=2026-03-26', [...CONVERSION, 'future'], 1],
  ['/rates/latest?on=2026-01-01', LATEST, 1],
  ['/rates/latest?base=EUR&quote=USD', LATEST, 1],
  ['/rates/latest?base=USD&quote=JPY&on=2026-03-22', LATEST, 1],
  ['/rates', RATE, 47],
  ['/rates?on=2026-03-22', RATE, 47],
  ['/rates?on=2999-12-31', RATE, 47],
  ['/rates?exact=true', RATE, 47],
  ['/series/1/history?from=2026-01-01', HISTORY, 1, ['points', POINT]],
  ['/series/1/history', [...HISTORY, 'holes'], 1, ['points', POINT]],
  ['/series/47/history?from=2026-01-01&to=2999-12-31', HISTORY, 1, ['points', POINT]],
  ['/convert?amount=1&from=USD&to=CRC', CONVERSION, 1],
  ['/convert?amount=1&from=CRC&to=USD&type=compra&on=2026-02-14', CONVERSION, 1],
  ['/convert?amount=1&from=EUR&to=CRC', CONVERSION, 1],
  ['/convert?amount=1&from=JPY&to=EUR&details=false', CONVERSION, 1],
  ['/convert?amount=1&from=USD&to=USD', CONVERSION, 1],
  ['/convert?amount=1&from=JPY&to=CRC&details=true', [...CONVERSION, 'legs'], 1, ['legs', LEG]],
  ['/convert?amount=1&from=USD&to=CRC&details=true', [...CONVERSION, 'legs'], 1, ['legs', LEG]],
  ['/sync/runs', RUN, 2],
  ['/scheduler', SCHEDULER, 1],
]

const app = await openApp()
await app.sync()
await app.sync()

for (const [path, keys, count, [name, innerKeys] = []] of answers) {
  test(`the answer to ${path} has the contract's keys`, async () => {
    const body = await app.json<object | object[]>(`/api/v1${path}`)
    const rows = Array.isArray(body) ? body : [body]
    assert.equal(rows.length, count)
    for (const one of rows) {
      sameKeys(one, keys)
      if (name === undefined) continue
      const inner = (one as Record<string, object[]>)[name] ?? []
      assert.ok(inner.length > 0)
      for (const part of inner) sameKeys(part, innerKeys ?? [])
    }
  })
}

const errors: [path: string, status: number, itemKeys?: string[]][] = [
  ['/rates/latest?base=XXX', 404],
  ['/rates/latest?on=2025-12-31', 404],
  ['/convert?amount=1&from=XXX&to=USD', 404],
  ['/series/48/history', 404],
  ['/nothing', 404],
  ['/rates/latest?on=yesterday', 422, ['loc', 'msg', 'type', 'input']],
]
for (const [path, status, itemKeys] of errors) {
  test(`the ${status} of ${path} has detail alone`, async () => {
    const response = await app.get(`/api/v1${path}`)
    assert.equal(response.status, status)
    const body = (await response.json()) as { detail: string | object[] }
    assert.deepEqual(Object.keys(body), ['detail'])
    assert.equal(typeof body.detail, itemKeys ? 'object' : 'string')
    for (const item of itemKeys ? (body.detail as object[]) : []) {
      sameKeys(item, itemKeys ?? [])
    }
  })
}

test('the 401 has detail alone', async () => {
  const response = await fetch(`${app.app.url}/api/v1/rates/latest`)
  assert.equal(response.status, 401)
  assert.deepEqual(Object.keys((await response.json()) as object), ['detail'])
})

function sameKeys(row: object, expected: string[]): void {
  assert.deepEqual(Object.keys(row).toSorted(), expected.toSorted())
}
