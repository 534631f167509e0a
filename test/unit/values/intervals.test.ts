import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays, type IsoDate } from '../src/dates.ts'
import { difference, gapsIn, type Interval, intervalAt, joined, runsOf, without } from '../src/intervals.ts'

const FIRST = '2026-01-01'
const day = (at: number) => addDays(FIRST, at)
const someDays = fc
  .uniqueArray(fc.nat(40), { maxLength: 30 })
  .map((days) => days.toSorted((a, b) => a - b).map(day))
const someInterval = fc
  .tuple(fc.nat(40), fc.nat(12))
  .map(([from, length]) => ({ from: day(from), to: day(from + length) }))

function daysOf(set: readonly Interval[]): Set<IsoDate> {
  const days = new Set<IsoDate>()
  for (const { from, to } of set) for (let at = from; at <= to; at = addDays(at, 1)) days.add(at)
  return days
}

/** Ascending, neither overlapping nor touching. */
function isSound(set: readonly Interval[]): boolean {
  return set.every(({ from, to }, at) => from <= to && (at === 0 || addDays(set[at - 1]?.to ?? '', 1) < from))
}

test('sets of days as intervals agree with plain sets', () => {
  fc.assert(
    fc.property(someDays, someInterval, (days, interval) => {
      const set = runsOf(days)
      const [plain, other] = [new Set(days), daysOf([interval])]
      assert.ok(isSound(set))
      assert.deepEqual(daysOf(set), plain)
      assert.ok(isSound(joined(set, interval)))
      assert.deepEqual(daysOf(joined(set, interval)), new Set([...plain.union(other)].sort()))
      assert.ok(isSound(without(set, interval)))
      assert.deepEqual(daysOf(without(set, interval)), plain.difference(other))
      assert.deepEqual(daysOf(gapsIn(set, interval)), other.difference(plain))
      for (let at = 0; at < 60; at += 1)
        assert.equal(intervalAt(set, day(at)) !== undefined, plain.has(day(at)))
    }),
  )
})

test('a difference is that of plain sets', () => {
  fc.assert(
    fc.property(someDays, someDays, (days, others) => {
      const rest = difference(runsOf(days), runsOf(others))
      assert.ok(isSound(rest))
      assert.deepEqual(daysOf(rest), new Set(days).difference(new Set(others)))
    }),
  )
})
