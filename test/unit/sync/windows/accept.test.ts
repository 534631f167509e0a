import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Observation } from '../../../../src/providers/provider.ts'
import type { StoredRate } from '../../../../src/store/rates/rates.ts'
import { compareRates, isQuotedInversely, validateRows } from '../../../../src/sync/windows/accept.ts'

const ASKED = { from: '2026-03-10', to: '2026-03-25' }
const CODES = new Set(['317', '318'])
const DAY = '2026-03-24'

function row(value: string, other: Partial<Observation> = {}): Observation {
  return { code: '318', day: DAY, value, roundedTo: undefined, ...other }
}

// the bank's text, and the canonical value that is believed
const BELIEVED: [string, string][] = [
  ['496.44000000', '496.44'],
  ['0496.4', '496.4'],
  ['500', '500'],
  ['500.', '500'],
  ['.5', '0.5'],
  ['1.5E-05', '0.000015'],
  ['1.5e3', '1500'],
  ['5E+2', '500'],
  ['0.00000001', '0.00000001'],
  ['26345.123456789012345678', '26345.123456789012345678'],
]
for (const [text, value] of BELIEVED) {
  test(`believes ${text} as ${value}`, () => {
    const { accepted, rejected } = validateRows([row(text)], CODES, ASKED)
    assert.deepEqual(accepted, [{ code: '318', day: DAY, value, roundedTo: null }])
    assert.deepEqual(rejected, [])
  })
}

// fault of the row, row, reason
const REJECTED: [string, Observation, RegExp][] = [
  ['zero', row('0'), /0 is not positive/],
  ['zero with decimals', row('0.000'), /0 is not positive/],
  ['zero with an exponent', row('0e5'), /0 is not positive/],
  ['a negative value', row('-496.44'), /-496\.44 is not positive/],
  ['minus zero', row('-0'), /not positive/],
  ['nothing', row(''), /"" is not a decimal/],
  ['a word', row('null'), /"null" is not a decimal/],
  ['NaN', row('NaN'), /"NaN" is not a decimal/],
  ['Infinity', row('Infinity'), /"Infinity" is not a decimal/],
  ['hexadecimal', row('0x1F'), /not a decimal/],
  ['a decimal comma', row('496,44'), /not a decimal/],
  ['group marks', row('26,345.00'), /not a decimal/],
  ['a quoted quotation', row('"496.44"'), /not a decimal/],
  ['two points', row('4.96.44'), /not a decimal/],
  ['space within', row('496 44'), /not a decimal/],
  ['a lone point', row('.'), /not a decimal/],
  ['digits of another script', row('٤٩٦'), /not a decimal/],
  ['ten thousand digits', row('4'.repeat(10_000)), /is not a decimal/],
  ['a huge exponent', row('1e99'), /is not a decimal/],
  ['a vanishing value', row('1e-99'), /is not a decimal/],
  ['an endless exponent', row('1e999999999'), /is not a decimal/],
  ['another indicator', row('500', { code: '319' }), /319 on 2026-03-24: not the indicator asked for/],
  ['an indicator named like a prototype', row('500', { code: '__proto__' }), /not the indicator/],
  ['an indicator named like a method', row('500', { code: 'constructor' }), /not the indicator/],
  ['no indicator', row('500', { code: '' }), /not the indicator/],
  ['the day before those asked for', row('500', { day: '2026-03-09' }), /outside 2026-03-10 to 2026-03-25/],
  ['the day after those asked for', row('500', { day: '2026-03-26' }), /outside/],
  ['a day that is none', row('500', { day: '2026-02-30' }), /not a date/],
  ['a day of the wrong shape', row('500', { day: '24/03/2026' }), /not a date/],
  ['no day', row('500', { day: '' }), /not a date/],
  ['a day with something behind it', row('500', { day: '2026-03-241' }), /not a date/],
  ['a day with a note behind it', row('500', { day: '2026-03-24 (preliminar)' }), /not a date/],
]
for (const [what, observation, why] of REJECTED) {
  test(`rejects ${what}, in words`, () => {
    const { accepted, rejected } = validateRows(
      [row('500', { day: '2026-03-23' }), observation],
      CODES,
      ASKED,
    )
    assert.equal(accepted.length, 1, 'the row beside it is believed')
    assert.equal(rejected.length, 1)
    assert.match(rejected[0] ?? '', why)
    assert.ok((rejected[0]?.length ?? 0) < 160, 'the words are few')
  })
}

test('a value of any length costs few words, and so does an indicator of any length', () => {
  const { rejected } = validateRows(
    [
      row('9'.repeat(100_000)),
      row('1', { code: '9'.repeat(100_000) }),
      row('1', { day: '9'.repeat(100_000) }),
    ],
    CODES,
    ASKED,
  )
  assert.equal(rejected.length, 3)
  for (const words of rejected) assert.ok(words.length < 200, `${words.length} characters`)
})

test('the first and the last day of a window are valid', () => {
  const rows = [row('500', { day: ASKED.from }), row('501', { day: ASKED.to })]
  assert.equal(validateRows(rows, CODES, ASKED).accepted.length, 2)
})

test('a row that is given twice with the same value counts once', () => {
  const { accepted, rejected } = validateRows([row('500.10'), row('500.1')], CODES, ASKED)
  assert.deepEqual([accepted.length, rejected.length], [1, 0])
})

test('a row that is given with two values is not believed at all, however often each comes', () => {
  const { accepted, rejected } = validateRows([row('500'), row('501'), row('500'), row('501')], CODES, ASKED)
  assert.deepEqual(accepted, [])
  assert.deepEqual(rejected, ['318 on 2026-03-24: given twice with two values'])
})

test('a contradiction on one day leaves the other days and the other series alone', () => {
  const rows = [row('500'), row('501'), row('499', { code: '317' }), row('498', { day: '2026-03-23' })]
  const { accepted } = validateRows(rows, CODES, ASKED)
  assert.deepEqual(
    accepted.map(({ code, day }) => `${code} ${day}`),
    ['317 2026-03-24', '318 2026-03-23'],
  )
})

const BAND = { low: '0.48', high: '1.1' }
const QUOTED: [string, typeof BAND | undefined, boolean][] = [
  ['0.65', BAND, false],
  ['1.53', BAND, true],
  ['1.1', BAND, false],
  ['1.32', BAND, false], // exactly 20 percent above
  ['1.3201', BAND, true],
  ['0.384', BAND, false], // exactly 20 percent below
  ['0.3839', BAND, false], // its inverse is outside too
  ['150', BAND, false],
  ['150', undefined, false],
]
for (const [value, band, inverse] of QUOTED) {
  test(`${value} in the band ${band?.low} to ${band?.high} is ${inverse ? '' : 'not '}the other way round`, () => {
    assert.equal(isQuotedInversely(value, band), inverse)
  })
}

const IDS = new Map([['318', 2]])

function change(value: string, roundedTo: number | null, old: [string, number | null] | undefined) {
  const storedRates: StoredRate[] = old
    ? [{ series_id: 2, rate_date: DAY, value: old[0], rounded_to: old[1], stored_at: 7 }]
    : []
  return compareRates([{ code: '318', day: DAY, value, roundedTo }], IDS, storedRates)
}

// case, new value, rounded to, old value, rounded to, outcome, whether it is written
const CHANGES: [string, string, number | null, [string, number | null] | undefined, string, boolean][] = [
  ['a new value', '500', null, undefined, 'inserted', true],
  ['a new rounded value', '500', 2, undefined, 'inserted', true],
  ['the same value', '500', null, ['500', null], 'unchanged', false],
  ['the same rounded value', '500', 2, ['500', 2], 'unchanged', false],
  ['another exact value', '501', null, ['500', null], 'updated', true],
  ['another rounded value', '500.01', 2, ['500', 2], 'updated', true],
  ['an exact value for a rounded one', '494.344', null, ['494.34', 2], 'updated', true],
  ['an exact value that confirms a rounded one', '494.34', null, ['494.34', 2], 'unchanged', true],
  ['a rounded value that equals an exact one', '494.34', 2, ['494.34', null], 'unchanged', false],
  ['a rounded value within half a unit', '494.34', 2, ['494.344', null], 'unchanged', false],
  ['a rounded value half a unit above', '494.35', 2, ['494.345', null], 'unchanged', false],
  ['a rounded value half a unit below', '494.34', 2, ['494.345', null], 'unchanged', false],
  ['a rounded value just farther than half', '494.34', 2, ['494.3451', null], 'updated', true],
  ['a value rounded to whole units, within half', '494', 0, ['494.5', null], 'unchanged', false],
  ['a value rounded to whole units, farther', '494', 0, ['494.51', null], 'updated', true],
  ['a less rounded value that agrees', '494.344', 3, ['494.34', 2], 'updated', true],
  ['the same value, less rounded', '494.34', 3, ['494.34', 2], 'unchanged', true],
  ['the same value, more rounded', '494.3', 1, ['494.3', 2], 'unchanged', false],
  ['a more rounded value that agrees', '494.3', 1, ['494.34', 2], 'unchanged', false],
  ['a more rounded value that does not agree', '494.5', 1, ['494.34', 2], 'updated', true],
]
/** Filters revisions in which a rounded value became exact or less rounded. */
const REFINED = new Set([
  'an exact value for a rounded one',
  'an exact value that confirms a rounded one',
  'a less rounded value that agrees',
  'the same value, less rounded',
])
for (const [what, value, roundedTo, old, becomes, written] of CHANGES) {
  test(`${what} is ${becomes}${written ? ' and written' : ''}`, () => {
    const changes = change(value, roundedTo, old)
    const counts = { inserted: 0, updated: 0, unchanged: 0, [becomes]: 1 }
    const { inserted, updated, unchanged } = changes
    assert.deepEqual({ inserted, updated, unchanged }, counts)
    const write = { series_id: 2, rate_date: DAY, value, rounded_to: roundedTo }
    assert.deepEqual(changes.writes, written ? [write] : [])
    const revision = {
      series_id: 2,
      rate_date: DAY,
      kind: REFINED.has(what) ? 'refined' : 'correction',
      old_value: old?.[0],
      old_rounded_to: old?.[1],
      old_stored_at: 7,
      new_value: value,
    }
    assert.deepEqual(changes.revisions, written && old ? [revision] : [])
  })
}

test('a value of a series without an id changes nothing', () => {
  const changes = compareRates([{ code: '317', day: DAY, value: '1', roundedTo: null }], IDS, [])
  assert.deepEqual([changes.inserted, changes.writes], [0, []])
})
