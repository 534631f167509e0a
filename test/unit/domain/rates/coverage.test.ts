import assert from 'node:assert/strict'
import { test } from 'node:test'
import { toCoveredDays } from '../../../../src/domain/rates/column.ts'
import { findHole, isCovered } from '../../../../src/domain/rates/covered-days.ts'
import { addDays, dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { toIntervals } from '../../../../src/values/intervals.ts'
import { fc } from '../../../support/fast-check.ts'

const FIRST = dayNumber('2026-01-01')

test('a hole is what a plain walk over the days finds, on any coverage', () => {
  const covered = fc.uniqueArray(fc.nat(40), { maxLength: 35 }).map((days) => days.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(covered, fc.nat(40), fc.nat(60), (days, valueAt, at) => {
      const set = toCoveredDays(toIntervals(days.map((one) => isoDate(FIRST + one))))
      const last = Math.min(at, days.at(-1) ?? valueAt)
      const missing: number[] = []
      for (let one = valueAt + 1; one <= last; one += 1) if (!days.includes(one)) missing.push(one)
      const hole = findHole(set, FIRST + valueAt, FIRST + at)
      const [first, end] = [missing[0], missing.at(-1)]
      const expected =
        first === undefined || end === undefined
          ? undefined
          : { from: isoDate(FIRST + first), to: isoDate(FIRST + end) }
      assert.deepEqual(hole, expected)
      assert.equal(isCovered(set, FIRST + at), days.includes(at))
    }),
  )
})

test('after the newest covered day the last value goes on answering', () => {
  const covered = toCoveredDays([{ from: '2026-01-01', to: '2026-01-10' }])
  assert.equal(findHole(covered, dayNumber('2026-01-09'), dayNumber('2030-01-01')), undefined)
  assert.equal(findHole(new Int32Array(), FIRST, FIRST + 100), undefined)
  assert.equal(addDays('2026-01-10', 0), '2026-01-10')
})
