import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, type IsoDate } from '../../../src/values/dates.ts'
import {
  addInterval,
  difference,
  findGaps,
  findInterval,
  type Interval,
  subtractInterval,
  toIntervals,
} from '../../../src/values/intervals.ts'
import { fc } from '../../support/fast-check.ts'

const FIRST = '2026-01-01'
const day = (at: number) => addDays(FIRST, at)
const someDays = fc
  .uniqueArray(fc.nat(40), { maxLength: 30 })
  .map((days) => days.toSorted((a, b) => a - b).map(day))
const someInterval = fc
  .tuple(fc.nat(40), fc.nat(12))
  .map(([from, length]) => ({ from: day(from), to: day(from + length) }))

function listDays(set: readonly Interval[]): Set<IsoDate> {
  const days = new Set<IsoDate>()
  for (const { from, to } of set) for (let at = from; at <= to; at = addDays(at, 1)) days.add(at)
  return days
}

/** Returns true for an ascending set, neither overlapping nor adjacent. */
function isSound(set: readonly Interval[]): boolean {
  return set.every(({ from, to }, at) => from <= to && (at === 0 || addDays(set[at - 1]?.to ?? '', 1) < from))
}

test('addInterval, subtractInterval, findGaps and findInterval agree with sets of days', () => {
  fc.assert(
    fc.property(someDays, someInterval, (days, interval) => {
      const set = toIntervals(days)
      const [plain, other] = [new Set(days), listDays([interval])]
      assert.ok(isSound(set))
      assert.deepEqual(listDays(set), plain)
      assert.ok(isSound(addInterval(set, interval)))
      assert.deepEqual(listDays(addInterval(set, interval)), new Set([...plain.union(other)].sort()))
      assert.ok(isSound(subtractInterval(set, interval)))
      assert.deepEqual(listDays(subtractInterval(set, interval)), plain.difference(other))
      assert.deepEqual(listDays(findGaps(set, interval)), other.difference(plain))
      for (let at = 0; at < 60; at += 1)
        assert.equal(findInterval(set, day(at)) !== undefined, plain.has(day(at)))
    }),
  )
})

test('difference agrees with sets of days', () => {
  fc.assert(
    fc.property(someDays, someDays, (days, others) => {
      const rest = difference(toIntervals(days), toIntervals(others))
      assert.ok(isSound(rest))
      assert.deepEqual(listDays(rest), new Set(days).difference(new Set(others)))
    }),
  )
})
