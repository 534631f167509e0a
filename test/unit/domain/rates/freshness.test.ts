import assert from 'node:assert/strict'
import { test } from 'node:test'
import { benchmarkSide, dueDay, isBenchmark, staleness } from '../../../../src/domain/rates/freshness.ts'
import { bccr } from '../../../../src/providers/bccr/bccr.ts'
import { makeSeries } from '../support.ts'

const TODAY = '2026-03-24'
const WORKDAYS = {
  timeZone: 'Europe/Helsinki',
  publication: { time: '16:00', days: 'working days' },
  benchmark: { base: 'EUR', quote: 'USD', noun: 'euro', staleDays: 4 },
} as const

const ages: [newest: string | undefined, ageDays: number | undefined, words: string | undefined][] = [
  ['2026-03-25', -1, undefined],
  [TODAY, 0, undefined],
  ['2026-03-22', 2, undefined],
  ['2026-03-21', 3, 'the newest venta of the dollar is of 2026-03-21, 3 days ago'],
  ['2025-12-14', 100, 'the newest venta of the dollar is of 2025-12-14, 100 days ago'],
  [undefined, undefined, 'the dollar has no value of venta'],
]
for (const [newest, ageDays, words] of ages) {
  test(`a side whose newest value is ${newest ? `of ${newest}` : 'none'} is ${words ? 'stale' : 'fresh'}`, () => {
    const side = benchmarkSide('venta', newest, TODAY)
    assert.deepEqual(side, { rateType: 'venta', newest, ageDays })
    assert.equal(staleness(bccr, side, TODAY), words)
  })
}

test('the dollar is that in colones, in this direction', () => {
  assert.ok(isBenchmark(bccr, makeSeries(1, 'USD', 'CRC', 'compra')))
  assert.ok(!isBenchmark(bccr, makeSeries(2, 'CRC', 'USD', 'compra')))
  assert.ok(!isBenchmark(bccr, makeSeries(3, 'EUR', 'USD', 'referencia')))
  assert.ok(isBenchmark(WORKDAYS, makeSeries(3, 'EUR', 'USD', 'referencia')))
})

// Helsinki is UTC+2 until 2026-03-29, then UTC+3.
const due: [now: string, bank: string, other: string][] = [
  ['2026-03-24T06:00:00Z', '2026-03-24', '2026-03-23'],
  ['2026-03-24T05:59:59Z', '2026-03-23', '2026-03-23'],
  ['2026-03-24T13:59:59Z', '2026-03-24', '2026-03-23'],
  ['2026-03-24T14:00:00Z', '2026-03-24', '2026-03-24'],
  ['2026-03-30T12:59:59Z', '2026-03-30', '2026-03-27'],
  ['2026-03-30T13:00:00Z', '2026-03-30', '2026-03-30'],
  ['2026-03-28T20:00:00Z', '2026-03-28', '2026-03-27'],
  ['2026-03-29T20:00:00Z', '2026-03-29', '2026-03-27'],
]
for (const [now, bank, other] of due) {
  test(`at ${now} the bank's values of ${bank} are due, and those of another bank of ${other}`, () => {
    const clock = () => new Date(now)
    assert.deepEqual([dueDay(bccr, clock), dueDay(WORKDAYS, clock)], [bank, other])
  })
}

test('a side is as old as it is, and stale by the day that was due', () => {
  const monday = '2026-03-30'
  const side = benchmarkSide('referencia', '2026-03-23', monday)
  assert.equal(staleness(WORKDAYS, side, '2026-03-27'), undefined)
  const words = 'the newest referencia of the euro is of 2026-03-23, 7 days ago'
  assert.equal(staleness(WORKDAYS, side, monday), words)
})
