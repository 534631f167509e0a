import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addDays, dayOf } from '../../src/dates.ts'
import { canonicalDecimal, isBetween } from '../../src/decimal.ts'
import {
  FIRST_DAY,
  inventedOn,
  inventedSeries,
  inventedValue,
  isHoliday,
} from '../../src/demo/invented-rates.ts'
import { bccrCatalogue } from '../../src/providers/bccr/catalogue.ts'

const LAST_DAY = dayOf('2030-12-31')

test("invents all 47 series, the special drawing rights with the bank's name", () => {
  assert.equal(inventedSeries.length, 47)
  assert.equal(new Set(inventedSeries.map(({ code }) => code)).size, 47)
  assert.ok(inventedSeries.some(({ name }) => name === 'Derechos Especiales de Giro'))
})

test('has the dollar bought for less than it is sold, every day since 1983', () => {
  for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
    const [buy = '', sell = ''] = [inventedOn('317', day), inventedOn('318', day)]
    assert.ok(Number(buy) < Number(sell), `${day}: ${buy} ${sell}`)
    assert.equal(canonicalDecimal(buy), buy)
    assert.ok(isBetween(buy, '35', '560'), `${day}: ${buy}`)
  }
  assert.equal(inventedValue('317', '1982-12-31'), undefined)
})

test('starts near 40 colones and ends near 500', () => {
  assert.ok(isBetween(inventedValue('317', '1983-01-01') ?? '', '36', '48'))
  assert.ok(isBetween(inventedValue('317', '2010-06-15') ?? '', '450', '550'))
})

test("repeats Saturday's dollar on Sunday and Monday only", () => {
  const saturday = '2026-09-19'
  const on = (days: number) => inventedValue('318', addDays(saturday, days))
  assert.deepEqual([on(1), on(2)], [on(0), on(0)])
  assert.notEqual(on(3), on(0))
  assert.notEqual(on(-1), on(0))
})

test('has parities on weekdays but holidays, inside of their bands and with enough digits', () => {
  const codes = inventedSeries.map(({ code }) => code)
  bccrCatalogue.forEach(({ table, plausibleRange, name }, index) => {
    if (table !== '520') return
    const code = codes[index] ?? ''
    let digits = 0
    for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
      const value = inventedOn(code, day)
      const isWeekday = ![2, 3].includes((day + 7000) % 7) // day 0 was a Thursday
      assert.equal(value !== undefined, isWeekday && !isHoliday(day))
      if (value === undefined) continue
      assert.equal(canonicalDecimal(value), value)
      if (plausibleRange)
        assert.ok(isBetween(value, plausibleRange.low, plausibleRange.high), `${name} ${day}: ${value}`)
      digits = Math.max(digits, value.replace('.', '').replace(/^0+/, '').length)
    }
    assert.ok(digits >= 5, `${name}: ${digits}`)
  })
})

test('moves smoothly', () => {
  for (const { code } of inventedSeries) {
    let before: number | undefined
    for (let day = dayOf('2000-01-01'); day <= LAST_DAY; day++) {
      const value = inventedOn(code, day)
      if (value === undefined) continue
      if (before !== undefined) assert.ok(Math.abs(Number(value) / before - 1) < 0.05, `${code} ${day}`)
      before = Number(value)
    }
  }
})
