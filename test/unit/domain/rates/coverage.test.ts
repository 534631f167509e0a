import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addDays, dayOf, isoOf } from '../../../src/dates.ts'
import { dayNumbersOf } from '../../../src/domain/rates/column.ts'
import { holeBetween, isCovered } from '../../../src/domain/rates/coverage.ts'
import { runsOf } from '../../../src/intervals.ts'

const FIRST = dayOf('2026-01-01')

test('a hole is what a plain walk over the days finds, on any coverage', () => {
  const covered = fc.uniqueArray(fc.nat(40), { maxLength: 35 }).map((days) => days.toSorted((a, b) => a - b))
  fc.assert(
    fc.property(covered, fc.nat(40), fc.nat(60), (days, valueAt, at) => {
      const set = dayNumbersOf(runsOf(days.map((one) => isoOf(FIRST + one))))
      const last = Math.min(at, days.at(-1) ?? valueAt)
      const missing: number[] = []
      for (let one = valueAt + 1; one <= last; one += 1) if (!days.includes(one)) missing.push(one)
      const hole = holeBetween(set, FIRST + valueAt, FIRST + at)
      const [first, end] = [missing[0], missing.at(-1)]
      const expected =
        first === undefined || end === undefined
          ? undefined
          : { from: isoOf(FIRST + first), to: isoOf(FIRST + end) }
      assert.deepEqual(hole, expected)
      assert.equal(isCovered(set, FIRST + at), days.includes(at))
    }),
  )
})

test('after the newest covered day the last value goes on answering', () => {
  const covered = dayNumbersOf([{ from: '2026-01-01', to: '2026-01-10' }])
  assert.equal(holeBetween(covered, dayOf('2026-01-09'), dayOf('2030-01-01')), undefined)
  assert.equal(holeBetween(new Int32Array(), FIRST, FIRST + 100), undefined)
  assert.equal(addDays('2026-01-10', 0), '2026-01-10')
})
