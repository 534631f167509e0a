import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeColumn } from '../../../../src/domain/rates/column.ts'
import type { SeriesHistory } from '../../../../src/domain/rates/queries.ts'
import { createHistoryEncoder } from '../../../../src/http/rates/history-encoder.ts'
import type { SeriesRow } from '../../../../src/store/rates/series.ts'
import { isoDate } from '../../../../src/values/dates.ts'

const COUNT = 10_000
const days = Int32Array.from({ length: COUNT }, (_, at) => 4748 + at)
const values = Array.from({ length: COUNT }, (_, at) => String(at * 7))
const column = makeColumn(days, values)
const series = { id: 1, external_code: '317', base_currency: 'USD', quote_currency: 'CRC' } as SeriesRow
const HISTORY: Omit<SeriesHistory, 'column' | 'first' | 'end'> = {
  ...{ provider: 'bccr', series, from: '1983-01-01', to: '2010-05-18', holes: [] },
}
const EDGES = [0, 1, 4095, 4096, 4097, 8191, 8192, 9999, 10_000]

test('any range of a column is encoded, across its stored blocks', () => {
  const { encode } = createHistoryEncoder()
  for (const first of EDGES) {
    for (const end of EDGES.filter((edge) => edge >= first)) {
      const answer = JSON.parse(Buffer.from(encode({ ...HISTORY, column, first, end })).toString())
      const points = values
        .slice(first, end)
        .map((value, at) => ({ rate_date: isoDate(4748 + first + at), value }))
      assert.deepEqual([answer.count, answer.points], [end - first, points], `${first} to ${end}`)
    }
  }
})

test('the encoder reads no more of a long column than the range needs', () => {
  const read = new Set<number>()
  const watched = new Proxy(column.days, {
    get(target, name) {
      if (typeof name === 'string' && /^\d+$/.test(name)) read.add(Number(name))
      const value = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const { encode } = createHistoryEncoder()
  encode({ ...HISTORY, column: { ...column, days: watched }, first: 9000, end: 9010 })
  assert.equal(Math.min(...read), 8192)
})
