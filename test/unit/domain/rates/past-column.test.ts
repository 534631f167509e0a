import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Column,
  columnDecimals,
  columnValue,
  EXACT,
  makeColumn,
} from '../../../../src/domain/rates/column.ts'
import { pastColumn, undoCoverage } from '../../../../src/domain/rates/history/past-column.ts'
import type { RateRevision } from '../../../../src/store/rates/change-log.ts'
import { dayNumber, isoDate } from '../../../../src/values/dates.ts'

const MONDAY = '2026-03-23'
const TUESDAY = '2026-03-24'
const WEDNESDAY = '2026-03-25'
const AT = 1000

const column = makeColumn(
  Int32Array.from([MONDAY, TUESDAY, WEDNESDAY].map(dayNumber)),
  ['501', '502.5', '503'],
  Int8Array.from([EXACT, EXACT, 2]),
)

function listValues(of: Column): [day: string, value: string, rounded?: number][] {
  return Array.from(of.days, (day, at) => {
    const rounded = columnDecimals(of, at)
    return rounded === undefined
      ? [isoDate(day), columnValue(of, at)]
      : [isoDate(day), columnValue(of, at), rounded]
  })
}

function revised(
  day: string,
  old: string,
  storedAt: number | null,
  rounded: number | null = null,
): RateRevision {
  return {
    ...{ id: 1, series_id: 1, rate_date: day, kind: 'correction', old_value: old, old_rounded_to: rounded },
    ...{ old_stored_at: storedAt, new_value: '1', replaced_at: 'later', run_id: 1 },
  }
}

const originalDays = { from: MONDAY, storedAt: AT }
const nothing = { name: 'series 1', stored: [originalDays], revisions: [], imported: [] }

const laterDays = (from: string) => ({ from, storedAt: AT + 1 })

test('a series of which nothing changed later is the one of now, without a copy', () => {
  assert.equal(pastColumn(column, nothing, AT), column)
})

test('pastColumn omits values stored later and has values replaced later', () => {
  const later = {
    ...nothing,
    stored: [originalDays, laterDays(TUESDAY)],
    revisions: [revised(TUESDAY, '502', AT)],
  }
  assert.deepEqual(listValues(pastColumn(column, later, AT)), [
    [MONDAY, '501'],
    [TUESDAY, '502'],
  ])
})

test('pastColumn has the first of two replaced values', () => {
  const revisions = [revised(TUESDAY, '502', AT - 1, 2), revised(TUESDAY, '502.1', AT + 1)]
  const past = pastColumn(
    column,
    { ...nothing, stored: [originalDays, laterDays(TUESDAY), { from: WEDNESDAY, storedAt: AT }], revisions },
    AT,
  )
  assert.deepEqual(listValues(past), [
    [MONDAY, '501'],
    [TUESDAY, '502', 2],
    [WEDNESDAY, '503', 2],
  ])
})

test('a replaced value that was stored later itself was not known', () => {
  const revisions = [revised(TUESDAY, '502', AT + 1), revised(TUESDAY, '502.1', AT + 2)]
  const past = pastColumn(column, { ...nothing, stored: [originalDays, laterDays(TUESDAY)], revisions }, AT)
  assert.deepEqual(listValues(past), [[MONDAY, '501']])
  assert.equal(past.rounded, undefined)
})

test('pastColumn omits values that were imported later, whatever their instants', () => {
  const revisions = [revised(TUESDAY, '502', AT - 5)]
  const imported = [{ from: MONDAY, to: TUESDAY }]
  assert.deepEqual(listValues(pastColumn(column, { ...nothing, revisions, imported }, AT)), [
    [WEDNESDAY, '503', 2],
  ])
})

test('a value that was discarded later is there, in the order of its day', () => {
  const discarded = (day: string, storedAt: number, rounded: number | null = null) => {
    return {
      ...revised(day, '700', storedAt, rounded),
      kind: 'discarded',
      new_value: null,
      run_id: null,
    } as const
  }
  const revisions = [
    discarded('2026-03-26', AT, 1),
    discarded('2026-03-20', AT),
    discarded('2026-03-27', AT + 1),
    discarded('2026-03-28', AT - 1),
  ]
  const imported = [{ from: '2026-03-28', to: '2026-03-28' }]
  assert.deepEqual(listValues(pastColumn(column, { ...nothing, revisions, imported }, AT)), [
    ['2026-03-20', '700'],
    [MONDAY, '501'],
    [TUESDAY, '502.5'],
    [WEDNESDAY, '503', 2],
    ['2026-03-26', '700', 1],
  ])
  const none = makeColumn(new Int32Array(), [])
  assert.deepEqual(listValues(pastColumn(none, { ...nothing, stored: [], revisions }, AT))[0], [
    '2026-03-20',
    '700',
  ])
})

test('a value that was discarded and stored anew is the first one before, and none between', () => {
  const revisions = [
    { ...revised(TUESDAY, '700', AT), replaced_at: 'first' },
    revised(TUESDAY, '502', AT + 2),
  ]
  const later = { ...nothing, stored: [originalDays, laterDays(TUESDAY), { from: WEDNESDAY, storedAt: AT }] }
  assert.deepEqual(listValues(pastColumn(column, { ...later, revisions }, AT))[1], [TUESDAY, '700'])
  assert.deepEqual(
    listValues(pastColumn(column, { ...later, revisions: revisions.slice(1) }, AT)).map(([day]) => day),
    [MONDAY, WEDNESDAY],
  )
})

test('a value of which it was not written down since when it was known is an error', () => {
  const revisions = [revised(TUESDAY, '502', null)]
  assert.throws(() => pastColumn(column, { ...nothing, revisions }, AT), {
    code: 'not-found',
    message: 'since when the value of 2026-03-24 had been known is not in the record',
  })
})

test('covered days are undone from the last change back', () => {
  const day = (at: string) => ({ from: at, to: at })
  const now = [{ from: '2026-03-01', to: WEDNESDAY }]
  const before = undoCoverage(now, [
    { kind: 'added', days: { from: TUESDAY, to: WEDNESDAY } },
    { kind: 'removed', days: day(TUESDAY) },
    { kind: 'added', days: day('2026-03-02') },
  ])
  assert.deepEqual(before, [day('2026-03-01'), { from: '2026-03-03', to: TUESDAY }])
})
