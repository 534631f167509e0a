import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isoOf } from '../../../src/dates.ts'
import { makeColumn } from '../../../src/domain/rates/column.ts'
import type { RateSnapshot } from '../../../src/domain/rates/rate-cache.ts'
import { encodePoints } from '../../../src/http/rates/history-encoder.ts'
import { createLruCache } from '../../../src/lru.ts'

const COUNT = 10_000
const days = Int32Array.from({ length: COUNT }, (_, at) => 4748 + at)
const values = Array.from({ length: COUNT }, (_, at) => String(at * 7))
const column = makeColumn(days, values)
const EDGES = [0, 1, 4095, 4096, 4097, 8191, 8192, 9999, 10_000]

test('writes any range of a column, whichever blocks it is kept in', () => {
  const snapshot = { pieces: createLruCache(10_000_000) } as unknown as RateSnapshot
  for (const first of EDGES) {
    for (const end of EDGES.filter((edge) => edge >= first)) {
      const text = Buffer.from(encodePoints(snapshot, 1, column, first, end)).toString()
      const points = values
        .slice(first, end)
        .map((value, at) => ({ rate_date: isoOf(4748 + first + at), value }))
      assert.deepEqual(JSON.parse(`[${text}]`), points, `${first} to ${end}`)
    }
  }
})

test('reads no more of a long column than the range needs', () => {
  const read = new Set<number>()
  const watched = new Proxy(column.days, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) read.add(Number(name))
      const found = Reflect.get(target, name, target)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
  const snapshot = { pieces: createLruCache(10_000_000) } as unknown as RateSnapshot
  encodePoints(snapshot, 1, { ...column, days: watched }, 9000, 9010)
  assert.equal(Math.min(...read), 8192)
})
