import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EMPTY_COLUMN } from '../../../../src/domain/rates/column.ts'
import type { RateSnapshot } from '../../../../src/domain/rates/rate-cache.ts'
import { answerBatch } from '../../../../src/http/rates/batch-answer.ts'
import { createInterleaver } from '../../../../src/runtime/interleave.ts'
import type { SeriesRow } from '../../../../src/store/rates/series.ts'

const SLICE = 500 // elements (decisions#batch)

test('answerBatch finds the routes of distinct pairs in slices', async () => {
  const codes = Array.from({ length: 2000 }, (_, at) => `${letter(at, 676)}${letter(at, 26)}${letter(at, 1)}`)
  const series = codes.map((code, id) => [
    `${code}/USD`,
    [{ id, rate_type: 'referencia', base_currency: code, quote_currency: 'USD' } as SeriesRow],
  ])
  const pairs = new Map(series as [string, SeriesRow[]][])
  let [routes, most] = [0, 0]
  const snapshot = {
    providers: [{ id: 1, code: 'bccr' }],
    pairs() {
      routes += 1
      most = Math.max(most, routes)
      return pairs
    },
    pivot: () => 'USD',
    historyStart: () => undefined,
    coveredDays: () => Int32Array.of(),
    columns: (requested: SeriesRow[]) => requested.map(() => EMPTY_COLUMN),
  } as unknown as RateSnapshot
  let isRunning = true
  const endTurn = () => {
    routes = 0
    if (isRunning) setImmediate(endTurn)
  }
  endTurn()
  const elements = codes.map((from) => ({ amount: '1', from, to: 'USD' }))
  await answerBatch(
    {
      cache: { snapshot: () => snapshot, read: (query) => query(snapshot) },
      past: { read: () => assert.fail('no instant is requested') },
      today: '2026-03-24',
      asOf: undefined,
      interleave: createInterleaver(),
    },
    { body: { list: [Buffer.from(JSON.stringify(elements))] }, answer: { add: () => {} } },
    { most: elements.length, maxBytes: 1_000_000 },
  )
  isRunning = false
  assert.ok(most <= SLICE, `${most} routes in a turn`)
})

function letter(at: number, place: number): string {
  return String.fromCharCode(65 + (Math.floor(at / place) % 26))
}
