// Tests the model of the rates with cases made by hand, so that its disagreement with the program is evidence.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Window } from '../../../src/providers/provider.ts'
import { EUR, JPY, listDays, selectCatalogue, XDR } from './memory-bank.ts'
import { expectedAnswer, type Question } from './rates-answers.ts'
import { beginRun, coveredIntervals, createRatesModel, keepAnswer, type RatesModel } from './rates-model.ts'

const CATALOGUE = selectCatalogue(['CRC', 'EUR', 'JPY', 'XDR'])
const NAMES: Record<string, string> = { [XDR]: 'Derechos Especiales de Giro' }
const TODAY = '2026-03-24'
const AGES_AFTER = '2999-12-31'

type Given = {
  /** `317`, `520`, or `520/333` for one series of the table alone. */
  of: string
  days: Window
  fetchedOn?: string
  supportsSingleSeries?: boolean
  roundedTo?: number
  listed?: string[]
  /** By code: one value for every day, or one for each; undefined is a day without a row. */
  rows?: Record<string, string | ((day: string) => string | undefined)>
}

function give(
  model: RatesModel,
  { of, days, rows = {}, fetchedOn = TODAY, roundedTo, ...rest }: Given,
): void {
  const [table, alone] = of.startsWith('520') ? of.split('/') : ['1', of]
  const observations = Object.entries(rows).flatMap(([code, value]) =>
    listDays(days.from, days.to).flatMap((day) => {
      const text = typeof value === 'string' ? value : value(day)
      return text === undefined ? [] : [{ code, day, value: text, roundedTo }]
    }),
  )
  const listed = (rest.listed ?? Object.keys(rows)).map((code) => ({ code, name: NAMES[code] ?? code }))
  keepAnswer(model, {
    ask: { table: table ?? '1', indicator: alone, window: days },
    supportsSingleSeries: rest.supportsSingleSeries ?? true,
    fetchedOn,
    answer: { listed, observations },
  })
}

function buildModel(...given: Given[]): RatesModel {
  const model = createRatesModel(CATALOGUE)
  beginRun(model)
  for (const one of given) give(model, one)
  return model
}

const from = (first: string, last: string): Window => ({ from: first, to: last })
const hole = (first: string, last: string) => `the days from ${first} to ${last} have not been synchronized`
const dollars = (days: Window, rest: Partial<Given> = {}): Given[] => [
  { of: '317', days, rows: { 317: '500' }, ...rest },
  { of: '318', days, rows: { 318: '510' }, ...rest },
]
const latest = (on: string, base = 'USD', quote = 'CRC'): Question => ({ kind: 'latest', base, quote, on })
const venta = (on: string): Question => conversion('USD', 'CRC', on)

function conversion(
  source: string,
  target: string,
  on: string,
  type: 'compra' | 'venta' = 'venta',
): Question {
  return { kind: 'convert', amount: '1', from: source, to: target, type, on, details: true }
}

/** Short form of an answer: text of a 404, else day, both sides, missing and rounded fields. */
function shortAnswer(model: RatesModel, question: Question): unknown {
  const expected = expectedAnswer(model, question, TODAY)
  if (expected.status === 404) return expected.details ?? 404
  const body = expected.body as Record<string, unknown>
  if (question.kind !== 'latest') return [body.rate_date, body.rate, body.rounded_to].filter(Boolean)
  const { rate_date, compra, venta, referencia, missing, rounded_to } = body
  const values = referencia === null ? [compra, venta] : [referencia]
  return [rate_date, ...values, missing, rounded_to].filter((one) => one !== undefined)
}

const coverage: [title: string, given: Given[], code: string, covered: string][] = [
  [
    'a valid answer covers its window, with values or without',
    [
      {
        of: '317',
        days: from('2026-03-01', '2026-03-09'),
        rows: { 317: (day) => (day < '2026-03-04' ? '1' : undefined) },
      },
    ],
    '317',
    '2026-03-01..2026-03-09',
  ],
  [
    'an empty answer for one series covers it',
    [{ of: '318', days: from('2026-03-01', '2026-03-09') }],
    '318',
    '2026-03-01..2026-03-09',
  ],
  [
    'a table covers what it lists',
    [{ of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR] }],
    EUR,
    '2026-03-01..2026-03-09',
  ],
  [
    'a table does not cover what it does not list',
    [{ of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR] }],
    JPY,
    '',
  ],
  [
    'nor when it is asked for again, where the series could be asked for alone',
    [
      { of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR] },
      { of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR] },
    ],
    JPY,
    '',
  ],
  [
    'but once the series was asked for alone',
    [
      { of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR] },
      { of: `520/${JPY}`, days: from('2026-03-01', '2026-03-04'), listed: [] },
    ],
    JPY,
    '2026-03-01..2026-03-04',
  ],
  [
    'or twice, where that is impossible',
    [
      { of: '520', days: from('2026-03-01', '2026-03-09'), listed: [EUR], supportsSingleSeries: false },
      { of: '520', days: from('2026-03-04', '2026-03-12'), listed: [EUR], supportsSingleSeries: false },
    ],
    JPY,
    '2026-03-04..2026-03-09',
  ],
  [
    'days without a value that had not begun are not covered',
    [
      {
        of: '317',
        days: from('2026-03-20', '2026-03-25'),
        fetchedOn: '2026-03-22',
        rows: { 317: (day) => (day < '2026-03-22' ? '1' : undefined) },
      },
    ],
    '317',
    '2026-03-20..2026-03-22',
  ],
  [
    "tomorrow's value covers tomorrow",
    [
      {
        of: '317',
        days: from('2026-03-20', '2026-03-25'),
        fetchedOn: '2026-03-22',
        rows: { 317: (day) => (day < '2026-03-24' ? '1' : undefined) },
      },
    ],
    '317',
    '2026-03-20..2026-03-23',
  ],
  [
    'a row later than tomorrow is rejected',
    [{ of: '317', days: from('2026-03-20', '2026-03-25'), fetchedOn: '2026-03-22', rows: { 317: '1' } }],
    '317',
    '2026-03-20..2026-03-23',
  ],
  ...['-1', '0', '0.00', 'abc', '1.2.3'].map((value): [string, Given[], string, string] => [
    `the day of the row ${value} is not covered`,
    [
      {
        of: '317',
        days: from('2026-03-01', '2026-03-09'),
        rows: { 317: (day) => (day === '2026-03-05' ? value : '1') },
      },
    ],
    '317',
    '2026-03-01..2026-03-04 2026-03-06..2026-03-09',
  ]),
  [
    'a later answer covers the day of a rejected row',
    [
      {
        of: '317',
        days: from('2026-03-01', '2026-03-09'),
        rows: { 317: (day) => (day === '2026-03-05' ? '0' : '1') },
      },
      { of: '317', days: from('2026-03-05', '2026-03-05') },
    ],
    '317',
    '2026-03-01..2026-03-09',
  ],
  [
    'a rejected row makes its day unknown again',
    [
      { of: '317', days: from('2026-03-01', '2026-03-09') },
      { of: '317', days: from('2026-03-05', '2026-03-05'), rows: { 317: '0' } },
    ],
    '317',
    '2026-03-01..2026-03-04 2026-03-06..2026-03-09',
  ],
]
for (const [title, given, code, covered] of coverage) {
  test(title, () => {
    const series = buildModel(...given).series.find((one) => one.code === code)
    assert.ok(series)
    assert.equal(
      coveredIntervals(series)
        .map((one) => `${one.from}..${one.to}`)
        .join(' '),
      covered,
    )
  })
}

test('the model requests a series twice in one run, not in two', () => {
  const table: Given = {
    of: '520',
    days: from('2026-03-01', '2026-03-09'),
    listed: [EUR],
    supportsSingleSeries: false,
  }
  const model = buildModel(table)
  beginRun(model)
  give(model, table)
  assert.equal(model.series.find(({ code }) => code === JPY)?.covered.size, 0)
})

test('a disabled series retains its values and gets no new ones', () => {
  const days = from('2026-03-01', '2026-03-09')
  const model = buildModel({ of: '520', days, rows: { [EUR]: '1.1', [JPY]: '120' } })
  const euro = model.series.find(({ code }) => code === EUR)
  assert.ok(euro)
  euro.enabled = false
  give(model, { of: '520', days: from('2026-03-10', TODAY), rows: { [EUR]: '1.2', [JPY]: '120' } })
  assert.deepEqual([euro.values.size, euro.covered.size], [9, 9])
})

test('a code is learned by name, with the next free id', () => {
  const model = buildModel({ of: '520', days: from('2026-03-01', '2026-03-02'), rows: { [EUR]: '1.1' } })
  assert.equal(model.series.length, 4)
  give(model, { of: '520', days: from('2026-03-03', '2026-03-04'), rows: { [XDR]: '1.4' } })
  const newSeries = model.series.at(-1)
  assert.deepEqual([newSeries?.id, newSeries?.code, newSeries?.values.size], [5, XDR, 2])
})

const ISLANDS = [...dollars(from('1983-01-01', '1983-12-31')), ...dollars(from('2020-01-01', '2020-12-31'))]
const NEW_BOX: Given[] = [{ of: '317', days: from('2026-03-20', '2026-03-22'), rows: { 317: '500' } }]
const HALF = (days: number, rest: Partial<Given> = {}): Given[] => [
  ...dollars(from('2026-03-01', '2026-03-10')),
  { of: '317', days: from('2026-03-11', `2026-03-${10 + days}`), rows: { 317: '501' } },
  ...(Object.keys(rest).length > 0
    ? [{ of: '318', days: from('2026-03-11', `2026-03-${10 + days}`), ...rest }]
    : []),
]

const answers: [title: string, given: Given[], question: Question, answer: unknown][] = [
  ['1983 answers for itself', ISLANDS, latest('1983-12-31'), ['1983-12-31', '500', '510']],
  ['and not for 2010', ISLANDS, latest('2010-05-05'), [hole('1984-01-01', '2010-05-05')]],
  ['nor for the day after', ISLANDS, venta('1984-01-01'), [hole('1984-01-01', '1984-01-01')]],
  ['the newest goes on answering', ISLANDS, latest(AGES_AFTER), ['2020-12-31', '500', '510']],
  ['nothing is before the first', ISLANDS, latest('1982-12-31'), 404],
  ['a new box shows the side that it has', NEW_BOX, latest(TODAY), ['2026-03-22', '500', null, ['venta']]],
  ['half of a day waits for three days', HALF(3), latest(TODAY), ['2026-03-10', '500', '510']],
  ['and not for four', HALF(4), latest(TODAY), ['2026-03-14', '501', null, ['venta']]],
  ['each day by itself', HALF(4), latest('2026-03-12'), ['2026-03-10', '500', '510']],
  ['"none" settles', HALF(4, { fetchedOn: TODAY }), latest(TODAY), ['2026-03-14', '501', null]],
  [
    '"none" of yesterday does not',
    HALF(4, { fetchedOn: '2026-03-13' }),
    latest(TODAY),
    ['2026-03-13', '501', null],
  ],
  ['a rejected row does not', HALF(2, { rows: { 318: '-1' } }), latest(TODAY), ['2026-03-10', '500', '510']],
  [
    'a value of a later day settles, but does not cover',
    [...HALF(2, { rows: { 318: '-1' } }), ...dollars(from('2026-03-13', '2026-03-13'))],
    latest('2026-03-12'),
    ['2026-03-12', '501', null, ['venta']],
  ],
  [
    'the days that are named are those of both sides',
    [
      ...dollars(from('2026-03-01', '2026-03-04')),
      { of: '317', days: from('2026-03-07', '2026-03-12'), rows: { 317: '1' } },
      { of: '318', days: from('2026-03-06', '2026-03-12'), rows: { 318: '1' } },
    ],
    latest('2026-03-05'),
    [hole('2026-03-05', '2026-03-05')],
  ],
  [
    'the least of the sides is what is rounded',
    [
      { of: '317', days: from('2026-03-01', '2026-03-04'), rows: { 317: '500' }, roundedTo: 3 },
      { of: '318', days: from('2026-03-01', '2026-03-04'), rows: { 318: '510' }, roundedTo: 2 },
    ],
    latest(TODAY),
    ['2026-03-04', '500', '510', 2],
  ],
  [
    'an exact value stands against a rounded one that agrees',
    [
      ...dollars(from(TODAY, TODAY), { rows: { 318: '510.125' } }),
      ...dollars(from(TODAY, TODAY), { rows: { 318: '510.13' }, roundedTo: 2 }),
    ],
    venta(TODAY),
    [TODAY, '510.125'],
  ],
  [
    'and not against one that disagrees',
    [
      ...dollars(from(TODAY, TODAY), { rows: { 318: '510.125' } }),
      ...dollars(from(TODAY, TODAY), { rows: { 318: '510.14' }, roundedTo: 2 }),
    ],
    venta(TODAY),
    [TODAY, '510.14', 2],
  ],
  [
    'an exact value replaces the rounded one, even of the same digits',
    [...dollars(from(TODAY, TODAY), { roundedTo: 2 }), ...dollars(from(TODAY, TODAY))],
    venta(TODAY),
    [TODAY, '510'],
  ],
  [
    'a chain has the older day and the least decimals',
    [
      ...dollars(from('2026-03-01', TODAY), { roundedTo: 2 }),
      {
        of: '520',
        days: from('2026-03-01', TODAY),
        rows: { [EUR]: (day) => (day < '2026-03-21' ? '1.2' : undefined) },
      },
    ],
    conversion('EUR', 'CRC', TODAY, 'compra'),
    ['2026-03-20', '600', 2],
  ],
  [
    'the hole of one leg is enough, and the side of the other leg is its own',
    [
      ...dollars(from('2026-03-01', '2026-03-10')),
      ...dollars(from('2026-03-15', TODAY)),
      { of: '520', days: from('2026-03-01', TODAY), rows: { [EUR]: '1.2' } },
    ],
    conversion('EUR', 'CRC', '2026-03-12'),
    [hole('2026-03-11', '2026-03-12')],
  ],
]
for (const [title, given, question, answer] of answers) {
  test(title, () => assert.deepEqual(shortAnswer(buildModel(...given), question), answer))
}

test('a list leaves out the series with a hole', () => {
  const model = buildModel(...ISLANDS, { of: '520', days: from('1983-01-01', TODAY), rows: { [EUR]: '1.2' } })
  const expected = expectedAnswer(model, { kind: 'rates', on: '2010-05-05', exact: false }, TODAY)
  assert.deepEqual(
    (expected as { body: { external_code: string }[] }).body.map((one) => one.external_code),
    [EUR],
  )
})

test('legs are what an auditor needs', () => {
  const model = buildModel(...dollars(from(TODAY, TODAY), { roundedTo: 2 }), {
    of: '520',
    days: from(TODAY, TODAY),
    rows: { [JPY]: '150' },
  })
  const { body } = expectedAnswer(model, conversion('CRC', 'JPY', TODAY), TODAY) as {
    body: Record<string, unknown>
  }
  assert.deepEqual(
    [body.rate, body.result, body.path, body.rate_type],
    ['0.294117647058824', '0.294117647058824', 'CRC -> USD -> JPY', 'venta'],
  )
  const leg = { rate_date: TODAY, rate_type: 'venta', pair: 'USD/CRC' }
  assert.deepEqual(body.legs, [
    { ...leg, series_id: 2, value: '510', inverse: true, rounded_to: 2 },
    { ...leg, series_id: 4, pair: 'USD/JPY', rate_type: 'referencia', value: '150', inverse: false },
  ])
})
