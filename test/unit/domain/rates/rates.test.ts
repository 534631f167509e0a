import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Column, toCoveredDays } from '../../../../src/domain/rates/column.ts'
import { latestOfPair, type PairSide, pointRange, rateOn } from '../../../../src/domain/rates/rates.ts'
import type { SeriesRow } from '../../../../src/store/rates/series.ts'
import { addDays, dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { fc } from '../../../support/fast-check.ts'
import { makeSeries, makeTestColumn } from '../support.ts'

// Thursday, Friday, Monday.
const EURO = makeTestColumn({ '2026-03-19': '1.15', '2026-03-20': '1.16', '2026-03-23': '1.17' })
const EMPTY = makeTestColumn({})
const COMPRA = makeSeries(1, 'USD', 'CRC', 'compra')
const VENTA = makeSeries(2, 'USD', 'CRC', 'venta')

/** Sides that were requested on each day of the month. */
function requestedSides(series: SeriesRow[], columns: Column[]): PairSide[] {
  const covered = toCoveredDays([{ from: '2026-03-01', to: '2026-03-31' }])
  return columns.map((column, at) => ({
    rateType: series[at]?.rate_type ?? 'referencia',
    enabled: true,
    column,
    covered,
  }))
}

/** Returns the days of a range of a column. */
function selectDays(column: Column, from: string, to: string): string[] {
  const { first, end } = pointRange(column, from, to)
  return [...column.days.subarray(first, end)].map(isoDate)
}

const lookups: [day: string, answer: string | undefined, exact: string | undefined][] = [
  ['2026-03-18', undefined, undefined],
  ['2026-03-19', '2026-03-19 1.15', '2026-03-19 1.15'],
  ['2026-03-20', '2026-03-20 1.16', '2026-03-20 1.16'],
  ['2026-03-21', '2026-03-20 1.16', undefined],
  ['2026-03-22', '2026-03-20 1.16', undefined],
  ['2026-03-23', '2026-03-23 1.17', '2026-03-23 1.17'],
  ['2999-12-31', '2026-03-23 1.17', undefined],
  ['1900-01-01', undefined, undefined],
]
for (const [day, answer, exact] of lookups) {
  test(`answers ${day} with ${answer ?? 'nothing'}`, () => {
    const answerText = (point = rateOn(EURO, day)) => point && `${point.rate_date} ${point.value}`
    assert.equal(answerText(), answer)
    const only = rateOn(EURO, day, true)
    assert.equal(only && `${only.rate_date} ${only.value}`, exact)
  })
}

test('has no answer in a series without values', () => {
  assert.equal(rateOn(EMPTY, '2026-03-20'), undefined)
  assert.equal(rateOn(EMPTY, '2026-03-20', true), undefined)
  assert.deepEqual(selectDays(EMPTY, '1900-01-01', '2999-12-31'), [])
  assert.equal(latestOfPair(requestedSides([COMPRA], [EMPTY]), '2026-03-20'), undefined)
  assert.equal(latestOfPair([], '2026-03-20'), undefined)
})

test('finds days before 1970, whose numbers are negative', () => {
  const old = makeTestColumn({ '1900-01-01': '2.15', '1969-12-31': '6.62', '1970-01-01': '6.63' })
  assert.deepEqual(rateOn(old, '1969-12-31', true), { rate_date: '1969-12-31', value: '6.62' })
  assert.deepEqual(rateOn(old, '1969-12-30'), { rate_date: '1900-01-01', value: '2.15' })
  assert.equal(selectDays(old, '1900-01-01', '1970-01-01').length, 3)
})

test('agrees with a plain search on any column and day', () => {
  const days = fc.uniqueArray(fc.integer({ min: -200, max: 200 }), { maxLength: 30 })
  fc.assert(
    fc.property(days, fc.integer({ min: -220, max: 220 }), fc.nat(60), (offsets, at, length) => {
      const sortedDays = offsets.toSorted((a, b) => a - b)
      const iso = (offset: number) => addDays('1970-01-01', offset)
      const column = makeTestColumn(Object.fromEntries(sortedDays.map((day) => [iso(day), `1.${day + 300}`])))
      const before = sortedDays.filter((day) => day <= at).at(-1)
      assert.equal(rateOn(column, iso(at))?.rate_date, before === undefined ? undefined : iso(before))
      assert.equal(rateOn(column, iso(at), true)?.rate_date, sortedDays.includes(at) ? iso(at) : undefined)
      const inside = sortedDays.filter((day) => day >= at && day <= at + length).map(iso)
      assert.deepEqual(selectDays(column, iso(at), iso(at + length)), inside)
    }),
  )
})

const ranges: [from: string, to: string, days: string[]][] = [
  ['2026-03-19', '2026-03-23', ['2026-03-19', '2026-03-20', '2026-03-23']],
  ['2026-03-20', '2026-03-20', ['2026-03-20']],
  ['2026-03-21', '2026-03-22', []],
  ['2026-03-21', '2026-03-23', ['2026-03-23']],
  ['1983-01-01', '2026-03-18', []],
  ['2026-03-24', '2999-12-31', []],
]
for (const [from, to, days] of ranges) {
  test(`lists what was published from ${from} to ${to}`, () => {
    assert.deepEqual(selectDays(EURO, from, to), days)
  })
}

test('gives both sides of a day', () => {
  const columns = [makeTestColumn({ '2026-03-19': '490' }), makeTestColumn({ '2026-03-19': '500' })]
  assert.deepEqual(latestOfPair(requestedSides([COMPRA, VENTA], columns), '2026-03-20'), {
    rate_date: '2026-03-19',
    compra: '490',
    venta: '500',
    referencia: null,
  })
})

test('never mixes days: a side that is older stays empty', () => {
  const compra = makeTestColumn({ '2026-03-19': '490', '2026-03-20': '491' })
  const venta = makeTestColumn({ '2026-03-19': '500' })
  const nulls = { compra: null, venta: null, referencia: null }
  const expected = { ...nulls, rate_date: '2026-03-20', compra: '491' }
  assert.deepEqual(latestOfPair(requestedSides([COMPRA, VENTA], [compra, venta]), '2026-03-21'), expected)
  assert.deepEqual(latestOfPair(requestedSides([VENTA, COMPRA], [venta, compra]), '2026-03-21'), expected)
  assert.deepEqual(latestOfPair(requestedSides([COMPRA, VENTA], [compra, EMPTY]), '2026-03-19'), {
    ...nulls,
    rate_date: '2026-03-19',
    compra: '490',
  })
})

test('knows a day number for each day of a column', () => {
  assert.deepEqual(
    [...EURO.days],
    [dayNumber('2026-03-19'), dayNumber('2026-03-20'), dayNumber('2026-03-23')],
  )
})
