import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays } from '../../src/dates.ts'
import { gapsIn, type Interval, joined, runsOf } from '../../src/intervals.ts'
import { beginningOf, daysToAsk, finalBy, nextWindow, REREAD_DAYS, windowsOf } from '../../src/sync/plan.ts'
import { daysFrom } from '../support/rates/memory-bank.ts'

const TOMORROW = '2026-03-25'
const FLOOR = '2025-01-01'

// what is final, what is to be asked for
const TODO: [string, Interval[], Interval[]][] = [
  ['of an empty series everything', [], [{ from: FLOOR, to: TOMORROW }]],
  [
    'of a whole one the newest days',
    [{ from: FLOOR, to: '2026-03-10' }],
    [{ from: '2026-03-10', to: TOMORROW }],
  ],
  [
    'a hole, and the newest days',
    [
      { from: FLOOR, to: '2025-05-01' },
      { from: '2025-06-01', to: '2026-03-09' },
    ],
    [
      { from: '2025-05-02', to: '2025-05-31' },
      { from: '2026-03-10', to: TOMORROW },
    ],
  ],
  [
    'what was asked for too early, together with what follows',
    [{ from: FLOOR, to: '2026-02-01' }],
    [{ from: '2026-02-02', to: TOMORROW }],
  ],
  [
    'nothing below the floor',
    [{ from: '1983-01-01', to: '2026-03-24' }],
    [{ from: '2026-03-10', to: TOMORROW }],
  ],
]
for (const [what, final, todo] of TODO) {
  test(`a run asks for ${what}`, () => assert.deepEqual(daysToAsk(final, FLOOR, TOMORROW), todo))
}

test('what one day asks for the last time is what the next day leaves out', () => {
  const today = '2026-03-24'
  const [newest] = daysToAsk([{ from: FLOOR, to: finalBy(today, today) }], FLOOR, addDays(today, 2))
  assert.equal(newest?.from, addDays(finalBy(today, today), 1))
  assert.equal(finalBy(today, today), addDays(addDays(today, 1), -REREAD_DAYS))
})

test('finalBy ends with the newest value, unless the series has been silent for three months', () => {
  assert.equal(finalBy('2026-03-24', '2026-02-01'), '2026-02-01')
  assert.equal(finalBy('2026-03-24', '2025-12-22'), '2025-12-22')
  assert.equal(finalBy('2026-03-24', '2025-12-21'), '2026-03-10')
})

test('windows from the newest to the oldest hold every day to be asked for, once', () => {
  const gaps = fc
    .uniqueArray(fc.nat(300), { maxLength: 80 })
    .map((days) => runsOf(days.toSorted((a, b) => a - b).map((one) => addDays('2025-01-01', one))))
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 60 }), (missing, days) => {
      let asked: Interval[] = []
      let before = TOMORROW
      for (;;) {
        const window = nextWindow(missing, before, days)
        if (!window) break
        assert.ok(window.to < before && daysFrom(window.from, window.to).length <= days)
        assert.ok(
          missing.some(({ from, to }) => from <= window.to && to >= window.to),
          'it ends on a day that is missing',
        )
        asked = joined(asked, window)
        before = window.from
      }
      for (const gap of missing) assert.deepEqual(gapsIn(asked, gap), [])
    }),
  )
})

test('a range is cut without overlap or hole, newest first', () => {
  const range = { from: '2026-01-01', to: '2026-03-01' }
  const windows = windowsOf(range, 10)
  assert.deepEqual(
    windows.flatMap(({ from, to }) => daysFrom(from, to)).toSorted(),
    daysFrom(range.from, range.to),
  )
  assert.deepEqual(windows[0], { from: '2026-02-20', to: '2026-03-01' })
  assert.ok(windows.every(({ from, to }) => daysFrom(from, to).length <= 10))
})

// what is covered, the oldest value, where the history begins
const BEGINNINGS: [string, Interval[], string | undefined, string | undefined][] = [
  ['not known without anything', [], undefined, undefined],
  ['not known before a year was asked for', [{ from: '2025-06-01', to: TOMORROW }], '2025-07-01', undefined],
  ['366 days before the oldest value', [{ from: '2024-05-31', to: TOMORROW }], '2025-06-01', '2024-05-31'],
  ['not known after 365 days', [{ from: '2024-06-01', to: TOMORROW }], '2025-06-01', undefined],
  [
    '366 days back, where there is no value at all',
    [{ from: '2025-03-25', to: TOMORROW }],
    undefined,
    '2025-03-25',
  ],
  [
    'not in a hole above older values',
    [
      { from: '1983-01-01', to: '1983-12-31' },
      { from: '2020-01-01', to: TOMORROW },
    ],
    '1983-01-01',
    undefined,
  ],
]
for (const [what, covered, firstValue, begins] of BEGINNINGS) {
  test(`the history begins: ${what}`, () => assert.equal(beginningOf({ covered, firstValue }), begins))
}
