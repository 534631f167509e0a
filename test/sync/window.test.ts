import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  coverageAfter,
  forwardFrom,
  REREAD_DAYS,
  rereads,
  windowDown,
  windowsOf,
  windowUp,
} from '../../src/sync/window.ts'
import { dayAfter, daysFrom } from '../support/paper-bank.ts'

const TOMORROW = '2026-03-25'

// edge of what is covered, tomorrow, where the reading begins
const FORWARD: [string, string | undefined, string][] = [
  ['an empty series: the last fifteen days', undefined, '2026-03-10'],
  ['a fresh one: the last fifteen days', '2026-03-25', '2026-03-10'],
  ['one of today: the last fifteen days', '2026-03-24', '2026-03-10'],
  ['one of yesterday: fifteen days up to its edge', '2026-03-23', '2026-03-09'],
  ['one of long ago: fifteen days up to its edge', '2025-06-15', '2025-06-01'],
  ['an edge ahead of a clock set back: the last fifteen days', '2026-09-01', '2026-03-10'],
]
for (const [what, edge, expected] of FORWARD) {
  test(`reading forward begins, for ${what}`, () => assert.equal(forwardFrom(edge, TOMORROW), expected))
}

test('a window upward has so many days and ends on the last day at the latest', () => {
  assert.deepEqual(windowUp('2026-03-01', 10, TOMORROW), { from: '2026-03-01', to: '2026-03-10' })
  assert.deepEqual(windowUp('2026-03-20', 10, TOMORROW), { from: '2026-03-20', to: TOMORROW })
  assert.deepEqual(windowUp(TOMORROW, 1, TOMORROW), { from: TOMORROW, to: TOMORROW })
})

test('a window downward ends the day before the edge and never begins before the floor', () => {
  assert.deepEqual(windowDown('2026-03-11', 10, '2026-01-01'), { from: '2026-03-01', to: '2026-03-10' })
  assert.deepEqual(windowDown('2026-01-05', 10, '2026-01-01'), { from: '2026-01-01', to: '2026-01-04' })
  assert.deepEqual(windowDown('2024-03-01', 1, '1983-01-01'), { from: '2024-02-29', to: '2024-02-29' })
})

const RANGES: [string, string, string | undefined][] = [
  ['2026-01-01', '2026-01-01', undefined],
  ['2026-01-01', '2026-03-01', undefined],
  ['2026-01-01', '2026-03-01', '2026-02-11'],
  ['2026-01-01', '2026-03-01', '2026-03-01'],
  ['2026-01-01', '2026-03-01', '2026-02-28'],
  ['2026-01-01', '2026-03-01', '2026-01-01'],
  ['2026-01-01', '2026-03-01', '2025-12-31'],
  ['2026-01-01', '2026-03-01', '2020-01-01'],
  ['2026-01-01', '2026-03-01', '2027-01-01'],
]
for (const [from, to, edge] of RANGES) {
  test(`a range ${from} to ${to} around the edge ${edge} is cut without overlap or hole, outward from it`, () => {
    const [up = [], down = []] = windowsOf({ from, to }, 10, edge)
    const asked = [...up, ...down].flatMap((window) => daysFrom(window.from, window.to))
    assert.deepEqual(asked.toSorted(), daysFrom(from, to))
    for (const window of [...up, ...down]) assert.ok(daysFrom(window.from, window.to).length <= 10)
    assert.deepEqual(
      up,
      up.toSorted((a, b) => (a.from < b.from ? -1 : 1)),
    )
    assert.deepEqual(
      down,
      down.toSorted((a, b) => (a.from < b.from ? 1 : -1)),
    )
    if (edge !== undefined) {
      const split = dayAfter(edge, -REREAD_DAYS)
      assert.ok(up.every((window) => window.from > split))
      assert.ok(down.every((window) => window.to <= split))
    }
  })
}

const KNOWN = { from: '2026-01-01', to: '2026-02-20' }
const NO = { begin: false, advance: false }

// asked from, asked to, newest value, expected from, expected to
const MOVES: [string, string, string, string | undefined, string, string][] = [
  ['forward to the newest value', '2026-02-06', '2026-02-28', '2026-02-25', '2026-01-01', '2026-02-25'],
  ['not forward on an empty answer', '2026-02-06', '2026-02-28', undefined, '2026-01-01', '2026-02-20'],
  ['not past late values', '2026-02-07', '2026-02-28', '2026-02-28', '2026-01-01', '2026-02-20'],
  ['not past days that only join', '2026-02-21', '2026-02-28', '2026-02-28', '2026-01-01', '2026-02-20'],
  ['not over a day between', '2026-02-22', '2026-02-28', '2026-02-28', '2026-01-01', '2026-02-20'],
  ['never back', '2026-01-15', '2026-02-19', '2026-02-12', '2026-01-01', '2026-02-20'],
  ['backward on an empty answer', '2025-12-01', '2025-12-31', undefined, '2025-12-01', '2026-02-20'],
  ['backward when the days overlap', '2025-12-01', '2026-01-02', '2026-01-02', '2025-12-01', '2026-02-20'],
  ['not backward over a day', '2025-12-01', '2025-12-30', '2025-12-30', '2026-01-01', '2026-02-20'],
  ['both ways at once', '2025-12-01', '2026-03-31', '2026-03-05', '2025-12-01', '2026-03-05'],
]
for (const [what, from, to, newest, coveredFrom, coveredTo] of MOVES) {
  test(`the edges move ${what}`, () => {
    const expected = { from: coveredFrom, to: coveredTo }
    assert.deepEqual(coverageAfter(KNOWN, { from, to }, newest, NO), expected)
    assert.deepEqual(coverageAfter(KNOWN, { from, to }, newest, { ...NO, begin: true }), expected)
  })
}

test('days that join move the edge once the last covered days were read again', () => {
  const may = { ...NO, advance: true }
  const next = (from: string) => coverageAfter(KNOWN, { from, to: '2026-02-28' }, '2026-02-27', may)
  assert.deepEqual(next('2026-02-21'), { from: '2026-01-01', to: '2026-02-27' })
  assert.deepEqual(next('2026-02-22'), KNOWN)
})

test('the whole of a short interval is read again with its beginning', () => {
  const short = { from: '2026-02-18', to: '2026-02-20' }
  assert.equal(rereads(short, { from: '2026-02-18', to: '2026-02-20' }), true)
  assert.equal(rereads(short, { from: '2026-02-19', to: '2026-02-28' }), false)
  assert.equal(rereads(short, { from: '2026-02-18', to: '2026-02-19' }), false)
})

test('coverage begins with the first value, from the first day asked for', () => {
  const asked = { from: '2026-03-11', to: TOMORROW }
  const may = { begin: true, advance: false }
  const begun = { from: '2026-03-11', to: '2026-03-20' }
  assert.deepEqual(coverageAfter(undefined, asked, '2026-03-20', may), begun)
  assert.equal(coverageAfter(undefined, asked, undefined, may), undefined)
})

test('a run over a range does not begin the coverage of a series', () => {
  const asked = { from: '1990-01-01', to: '1990-12-31' }
  assert.equal(coverageAfter(undefined, asked, '1990-12-31', NO), undefined)
})
