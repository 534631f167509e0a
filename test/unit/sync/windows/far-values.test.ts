// Values of an answer that are too far from others of their series to be stored (decisions#jumps).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findFarValues, type JudgedAnswer } from '../../../../src/sync/windows/far-values.ts'
import { addDays } from '../../../../src/values/dates.ts'

const FIRST = '2026-03-01'
const TODAY = '2026-03-24'
const RUN = 9

/** Days from the first of March on with their values; `-` is a day without one. */
function days(text: string, first = FIRST): { rate_date: string; value: string }[] {
  const words = text.split(' ')
  return words.flatMap((value, at) => (value === '-' ? [] : [{ rate_date: addDays(first, at), value }]))
}

type Case = {
  stored?: string
  answer: string
  /** Values with the run that read them first: `5000@3`. */
  withheld?: string
  accepted?: string
  range?: JudgedAnswer['range']
  newestDay?: string
  first?: string
}

function far({ stored = '', answer, withheld = '', accepted, range, newestDay, first = FIRST }: Case) {
  const storedDays = days(stored || '-', first)
  return findFarValues({
    stored: storedDays,
    newestDay: newestDay ?? storedDays.at(-1)?.rate_date,
    withheld: days(withheld || '-', first).map(({ rate_date, value }) => ({
      ...{ rate_date, value: value.split('@')[0] ?? '', run_id: Number(value.split('@')[1]) },
      ...{ series_id: 1, rounded_to: null, far_from: 'neighbour' as const },
    })),
    answer: days(answer, first).map(({ rate_date: day, value }) => ({ day, value, roundedTo: null })),
    ...{ runId: RUN, acceptedDay: accepted, range, today: TODAY },
  })
}

function farDays(one: Case): string[] {
  return far(one).map(({ day, value }) => `${day.slice(8)} ${value}`)
}

const OLD = '2001-03-01'
const RANGE = { low: '400', high: '700' }

const cases: [title: string, one: Case, expected: string[]][] = [
  ['a value of five times is near', { stored: '500', answer: '- 2500' }, []],
  ['a value above five times is far', { stored: '500', answer: '- 2500.01' }, ['02 2500.01']],
  ['a fifth is near', { stored: '500', answer: '- 100' }, []],
  ['less than a fifth is far', { stored: '500', answer: '- 99.99' }, ['02 99.99']],
  ['a value 31 days later is compared', { stored: '500', answer: `${'- '.repeat(31)}5000` }, ['01 5000']],
  ['a value 32 days later is not', { stored: '500', answer: `${'- '.repeat(32)}5000` }, []],
  ['a spike within an answer is far', { stored: '500', answer: '500 500 5000 500 500 500' }, ['03 5000']],
  [
    'a stored value after the spike is compared too',
    { stored: '- - - 500', answer: '500 500 5000 500' },
    ['03 5000'],
  ],
  ['a spike at the begin of an answer is far', { stored: '- - 500', answer: '5000 500 500' }, ['01 5000']],
  ['a spike without any stored value is far', { answer: '5000 500 500 500 500', first: OLD }, ['01 5000']],
  ['a far value of a stored day does not replace it', { stored: '500 500', answer: '500 5000' }, ['02 5000']],
  ['a correction within the factor is near', { stored: '500 500', answer: '500 1000' }, []],
  [
    'a whole answer that is ten times too high is far',
    { stored: '500 500 500 500', answer: '5000 5000 5000 5000 5000 5000 5000 5000' },
    ['01 5000', '02 5000', '03 5000', '04 5000', '05 5000', '06 5000', '07 5000', '08 5000'],
  ],
  [
    'a part of an answer that contradicts stored values confirms nothing',
    { stored: '500 500 500 500 500', answer: '500 500 500 500 5000 5000 5000 5000 5000' },
    ['05 5000', '06 5000', '07 5000', '08 5000', '09 5000'],
  ],
  [
    'older days beside a stored level are far as a whole',
    { stored: '- - - - - 1', answer: '1000 1000 1000 1000 1000' },
    ['01 1000', '02 1000', '03 1000', '04 1000', '05 1000'],
  ],
  [
    'a new currency is confirmed by its answer',
    { stored: '- - - - - - - 1', answer: '1000 1000 1000 1 1 1 1 1' },
    [],
  ],
  [
    'two days before it do not suffice',
    { stored: '- - - - - - - 1', answer: '- 1000 1000 1 1 1 1 1' },
    ['02 1000', '03 1000'],
  ],
  ['nor do two later days', { stored: '500 500 500', answer: '500 500 500 5 5 5' }, ['04 5', '05 5', '06 5']],
  ['three later days suffice', { stored: '500 500 500', answer: '500 500 500 5 5 5 5' }, []],
  [
    'a level that returns is no currency',
    { stored: '500', answer: '500 500 500 5000 5000 5000 5000 500 500 500 500' },
    ['04 5000', '05 5000', '06 5000', '07 5000'],
  ],
  [
    'a day left in the old unit is far, and hides no new currency',
    { answer: '1000 1000 1000 1000 1000 1 1 1 1000 1 1 1 1', first: OLD },
    ['09 1000'],
  ],
  [
    'such a day beside stored values is far too',
    { stored: `${'- '.repeat(13)}1`, answer: '1000 1000 1000 1000 1000 1 1 1 1000 1 1 1 1', first: OLD },
    ['09 1000'],
  ],
  [
    'so is an odd value just before a new currency',
    { answer: '1000 1000 1000 1000 1000 10 1000 1 1 1 1 1', first: OLD },
    ['06 10'],
  ],
  [
    'a contradiction far from a new currency does not deny it',
    { stored: `${'- '.repeat(60)}1 1`, answer: `${'1000 '.repeat(20)}${'1 '.repeat(40)}1 9000`, first: OLD },
    ['01 9000'],
  ],
  [
    'a week of errors before the last day is no currency',
    { answer: '500 500 500 500 500 500 500 500 500 5 5 5 5 5 5 5 500', first: OLD },
    ['10 5', '11 5', '12 5', '13 5', '14 5', '15 5', '16 5'],
  ],
  [
    'three later days of other runs confirm a value',
    { stored: '500', withheld: '- 5@1 5@2 5@3', answer: '500 5 5 5 5' },
    [],
  ],
  [
    'later days of its own run do not',
    { stored: '500', withheld: '- 5@1 5@1 5@1 5@1', answer: '500 5 5 5 5' },
    ['02 5', '03 5', '04 5', '05 5'],
  ],
  [
    'another value of its day begins anew',
    { stored: '500', withheld: '- 5@1 5@9', answer: '500 6 5 5' },
    ['02 6', '03 5', '04 5'],
  ],
  ['two of other runs do not', { stored: '500', withheld: '- 5@1 5@2', answer: '500 5 5' }, ['02 5', '03 5']],
  [
    'a later day beyond the factor of two does not count',
    { stored: '500', withheld: '- 5@1 5@2 11@3', answer: '500 5 5 11' },
    ['02 5', '03 5', '04 11'],
  ],
  [
    'withheld days outside of the answer count',
    { stored: '500', withheld: '- 5@1 5@2 5@3 5@4', answer: '- 5' },
    [],
  ],
  [
    'a level that contradicts stored values is not confirmed by later days',
    {
      stored: '500 500 500',
      withheld: '- - - 50000@1 50000@2 50000@3',
      answer: '- - 50000 50000 50000 50000 50000',
    },
    ['03 50000', '04 50000', '05 50000', '06 50000', '07 50000'],
  ],
  [
    'a contradiction of another level does not count',
    { stored: '500 500 500', withheld: '- - - 5@1 5@2 5@3', answer: '500 50000 500 5 5 5 5' },
    ['02 50000'],
  ],
  [
    'days after a hole confirm no value before a stored one',
    { stored: '- - - - - - 500', withheld: '- 5000@2 5000@3 5000@4 5000@5', answer: '5000 - - - -' },
    ['01 5000'],
  ],
  [
    'a value beside withheld ones alone is far',
    { withheld: `${'- '.repeat(20)}5000@9`, answer: '5000 5000', first: OLD },
    ['01 5000', '02 5000'],
  ],
  ['the operator accepts a day', { stored: '500', answer: '- 5000', accepted: '2026-03-02' }, []],
  [
    'the operator replaces a stored value',
    { stored: '500 500 500', answer: '500 5000 500', accepted: '2026-03-02' },
    [],
  ],
  [
    'days near an accepted one are near',
    { stored: '500 - - 5000', withheld: '- 5000@1 5000@1', answer: '500 5000 5000' },
    [],
  ],
  [
    'without a stored value the plausible range counts',
    { answer: '5000 5000 5000', range: RANGE },
    ['01 5000', '02 5000', '03 5000'],
  ],
  ['a value within a fifth to five times is plausible', { answer: '80 80', range: RANGE }, []],
  ['a value above it is not', { answer: '3501', range: RANGE }, ['01 3501']],
  ['a plausible value may be far from its neighbours', { answer: '90 90 900', range: RANGE }, ['03 900']],
  [
    'a new currency is judged by its own values',
    { answer: '500000 500000 500000 500 500 500 500', range: RANGE },
    [],
  ],
  ['older days have no range', { answer: '20 20', range: RANGE, first: OLD }, []],
  [
    'a stored value within a year replaces the range',
    { answer: '5000', range: RANGE, newestDay: '2025-03-01' },
    [],
  ],
  ['an older stored value does not', { answer: '5000', range: RANGE, newestDay: '2025-02-01' }, ['01 5000']],
]
for (const [title, one, expected] of cases) {
  test(`findFarValues: ${title}`, () => {
    assert.deepEqual(farDays(one), expected)
  })
}

test('a far value has its reference and the run that read it first', () => {
  const [again, range] = [
    far({ stored: '500', withheld: '- 5000@3', answer: '500 5000' }),
    far({ answer: '5000', range: RANGE }),
  ].map(([one]) => one)
  assert.deepEqual([again?.farFrom, again?.runId, again?.reference?.value], ['neighbour', 3, '500'])
  assert.deepEqual([range?.farFrom, range?.runId, range?.reference], ['range', RUN, undefined])
})

test('later days confirm no value that is far from the plausible range', () => {
  const one: Case = {
    withheld: '5000@1 5000@2 5000@3 5000@4',
    answer: '5000 5000 5000 5000 5000',
    range: RANGE,
  }
  assert.equal(far(one).length, 5)
})
