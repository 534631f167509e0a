import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeColumn, toCoveredDays } from '../../../../src/domain/rates/column.ts'
import { UNKNOWN_DAYS } from '../../../../src/domain/rates/covered-days.ts'
import { EMPTY_DAYS, findHoles, findPairHoles, type SeriesDays } from '../../../../src/domain/rates/holes.ts'
import { addDays, dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { type Interval, toIntervals } from '../../../../src/values/intervals.ts'
import { assertProperty, fc } from '../../../support/fast-check.ts'
import { holesOfPair } from '../../../support/rates/pair-answers.ts'

const FIRST = dayNumber('2026-01-01')

test('holesOf equals a plain walk over the days, for one series and for two', () => {
  const days = fc
    .uniqueArray(fc.nat(40), { maxLength: 35 })
    .map((found) => found.toSorted((a, b) => a - b).map((day) => FIRST + day))
  const start = fc.option(fc.integer({ min: -5, max: 45 }), { nil: undefined })
  const range = fc.tuple(fc.integer({ min: -10, max: 50 }), fc.integer({ min: -10, max: 50 }))
  fc.assert(
    fc.property(days, days, start, start, range, (one, two, startOne, startTwo, [first, last]) => {
      const series = [
        { covered: one, start: startOne },
        { covered: two, start: startTwo },
      ]
      for (const requested of [series.slice(0, 1), series]) {
        const missing: string[] = []
        for (let day = FIRST + first; day <= FIRST + last; day += 1) {
          const isMissing = requested.some(
            ({ covered, start }) =>
              !covered.includes(day) &&
              (covered.length === 0 || day < Math.max(...covered)) &&
              (start === undefined || day >= FIRST + start),
          )
          if (isMissing) missing.push(isoDate(day))
        }
        const days = requested.map(({ covered, start }) =>
          toSeriesDays(
            toIntervals(covered.map(isoDate)),
            start === undefined ? undefined : isoDate(FIRST + start),
          ),
        )
        const range = { from: isoDate(FIRST + first), to: isoDate(FIRST + last) }
        assert.deepEqual(findHoles(days, range), toIntervals(missing))
      }
    }),
  )
})

test('findPairHoles equals a plain walk over the days of two legs', async () => {
  const days = fc
    .uniqueArray(fc.nat(20), { minLength: 1, maxLength: 20 })
    .map((found) => found.toSorted((a, b) => a - b).map((day) => isoDate(FIRST + day)))
  const leg = fc.record({ covered: days, values: days })
  let earlier = 0
  const property = fc.property(leg, leg, fc.nat(20), fc.nat(20), (one, two, first, length) => {
    const range = { from: isoDate(FIRST + first), to: isoDate(FIRST + first + length) }
    const legs = [one, two].map(({ covered, values }) =>
      toSeriesDays(toIntervals(covered), undefined, values),
    )
    const expected = holesOfPair(
      [one, two].map(({ covered, values }) => ({
        series: {
          ...{ base: 'EUR', quote: 'USD', rateType: 'referencia', covered: new Set(covered) },
          values: new Map(values.map((day) => [day, { value: '1', roundedTo: undefined }])),
        },
        inverse: false,
      })),
      range,
    )
    assert.deepEqual(findPairHoles(legs, range), expected)
    if (expected[0] && expected[0].from < range.from) earlier += 1
  })
  await assertProperty(property, 1000, () => earlier > 50)
  assert.ok(earlier > 50, `${earlier} with days before the range`)
})

test('holesOf takes the day of the first value for the first day after 366 covered days without one', () => {
  const first = '2026-05-01'
  const range = { from: '1990-01-01', to: '2026-05-02' }
  const after = (days: number) =>
    toSeriesDays([{ from: addDays(first, -days), to: '2026-05-31' }], undefined, [first])
  assert.deepEqual(findHoles([after(EMPTY_DAYS)], range), [])
  const shorter = [{ from: '1990-01-01', to: addDays(first, -EMPTY_DAYS) }]
  assert.deepEqual(findHoles([after(EMPTY_DAYS - 1)], range), shorter)
})

test('holesOf names all days of a series that was never synchronized, from its first day on', () => {
  assert.deepEqual(findHoles([toSeriesDays([], '1983-01-01')], { from: '1982-12-30', to: '1983-01-05' }), [
    { from: '1983-01-01', to: '1983-01-05' },
  ])
})

test('holesOf is null without a record of the covered days', () => {
  const unknown = { ...toSeriesDays([]), covered: UNKNOWN_DAYS }
  assert.equal(findHoles([toSeriesDays([]), unknown], { from: '2026-01-01', to: '2026-01-02' }), null)
})

function toSeriesDays(
  covered: readonly Interval[],
  startsOn?: string,
  values: readonly string[] = [],
): SeriesDays {
  const column = makeColumn(
    Int32Array.from(values, dayNumber),
    values.map(() => '1'),
  )
  return { column, covered: toCoveredDays(covered), startsOn }
}
