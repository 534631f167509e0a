import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  findBeginning,
  lastFinalDay,
  nextWindow,
  pendingDays,
  REREAD_DAYS,
  splitWindows,
} from '../../../../src/sync/windows/plan.ts'
import { addDays } from '../../../../src/values/dates.ts'
import { addInterval, findGaps, type Interval, toIntervals } from '../../../../src/values/intervals.ts'
import { fc } from '../../../support/fast-check.ts'
import { listDays } from '../../../support/rates/memory-bank.ts'

const TOMORROW = '2026-03-25'
const FLOOR = '2025-01-01'

// final days, days to request
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
  test(`a run requests ${what}`, () => assert.deepEqual(pendingDays(final, FLOOR, TOMORROW), todo))
}

test('a day is requested for the last time on the day before it is omitted', () => {
  const today = '2026-03-24'
  const [newest] = pendingDays([{ from: FLOOR, to: lastFinalDay(today, today) }], FLOOR, addDays(today, 2))
  assert.equal(newest?.from, addDays(lastFinalDay(today, today), 1))
  assert.equal(lastFinalDay(today, today), addDays(addDays(today, 1), -REREAD_DAYS))
})

test('lastFinalDay ends with the newest value, unless the series has been silent for three months', () => {
  assert.equal(lastFinalDay('2026-03-24', '2026-02-01'), '2026-02-01')
  assert.equal(lastFinalDay('2026-03-24', '2025-12-22'), '2025-12-22')
  assert.equal(lastFinalDay('2026-03-24', '2025-12-21'), '2026-03-10')
})

test('windows from the newest to the oldest have each pending day once', () => {
  const gaps = fc
    .uniqueArray(fc.nat(300), { maxLength: 80 })
    .map((days) => toIntervals(days.toSorted((a, b) => a - b).map((one) => addDays('2025-01-01', one))))
  fc.assert(
    fc.property(gaps, fc.integer({ min: 1, max: 60 }), (missing, days) => {
      let windows: Interval[] = []
      let before = TOMORROW
      for (;;) {
        const window = nextWindow(missing, before, days)
        if (!window) break
        assert.ok(window.to < before && listDays(window.from, window.to).length <= days)
        assert.ok(
          missing.some(({ from, to }) => from <= window.to && to >= window.to),
          'it ends on a day that is missing',
        )
        windows = addInterval(windows, window)
        before = window.from
      }
      for (const gap of missing) assert.deepEqual(findGaps(windows, gap), [])
    }),
  )
})

test('a range is cut without overlap or hole, newest first', () => {
  const range = { from: '2026-01-01', to: '2026-03-01' }
  const windows = splitWindows(range, 10)
  assert.deepEqual(
    windows.flatMap(({ from, to }) => listDays(from, to)).toSorted(),
    listDays(range.from, range.to),
  )
  assert.deepEqual(windows[0], { from: '2026-02-20', to: '2026-03-01' })
  assert.ok(windows.every(({ from, to }) => listDays(from, to).length <= 10))
})

// covered days, oldest value, beginning of the history
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
  test(`the history begins: ${what}`, () => assert.equal(findBeginning({ covered, firstValue }), begins))
}
