import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  FIRST_DAY,
  inventedDayValue,
  inventedSeries,
  inventedValue,
  isHoliday,
} from '../../../src/demo/invented-rates.ts'
import { bccrCatalogue } from '../../../src/providers/bccr/catalogue.ts'
import { addDays, dayNumber } from '../../../src/values/dates.ts'
import { canonicalDecimal, isInRange } from '../../../src/values/decimal.ts'

const LAST_DAY = dayNumber('2030-12-31')

test("inventedSeries has 47 series, XDR with the bank's name", () => {
  assert.equal(inventedSeries.length, 47)
  assert.equal(new Set(inventedSeries.map(({ code }) => code)).size, 47)
  assert.ok(inventedSeries.some(({ name }) => name === 'Derechos Especiales de Giro'))
})

test('invented purchase is below the sale on each day since 1983', () => {
  for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
    const [buy = '', sell = ''] = [inventedDayValue('317', day), inventedDayValue('318', day)]
    assert.ok(Number(buy) < Number(sell), `${day}: ${buy} ${sell}`)
    assert.equal(canonicalDecimal(buy), buy)
    assert.ok(isInRange(buy, '35', '560'), `${day}: ${buy}`)
  }
  assert.equal(inventedValue('317', '1982-12-31'), undefined)
})

test('invented dollar starts near 40 colones and ends near 500', () => {
  assert.ok(isInRange(inventedValue('317', '1983-01-01') ?? '', '36', '48'))
  assert.ok(isInRange(inventedValue('317', '2010-06-15') ?? '', '450', '550'))
})

test("invented dollar repeats Saturday's value on Sunday and Monday only", () => {
  const saturday = '2026-09-19'
  const on = (days: number) => inventedValue('318', addDays(saturday, days))
  assert.deepEqual([on(1), on(2)], [on(0), on(0)])
  assert.notEqual(on(3), on(0))
  assert.notEqual(on(-1), on(0))
})

test('invented parities are in the plausible ranges, on weekdays except holidays', () => {
  const codes = inventedSeries.map(({ code }) => code)
  bccrCatalogue.forEach(({ table, plausibleRange, name }, index) => {
    if (table !== '520') return
    const code = codes[index] ?? ''
    let digits = 0
    for (let day = FIRST_DAY; day <= LAST_DAY; day++) {
      const value = inventedDayValue(code, day)
      const isWeekday = ![2, 3].includes((day + 7000) % 7) // day 0 was a Thursday
      assert.equal(value !== undefined, isWeekday && !isHoliday(day))
      if (value === undefined) continue
      assert.equal(canonicalDecimal(value), value)
      if (plausibleRange)
        assert.ok(isInRange(value, plausibleRange.low, plausibleRange.high), `${name} ${day}: ${value}`)
      digits = Math.max(digits, value.replace('.', '').replace(/^0+/, '').length)
    }
    assert.ok(digits >= 5, `${name}: ${digits}`)
  })
})

test('invented values change by less than 5 % from one day to the next', () => {
  for (const { code } of inventedSeries) {
    let previous: number | undefined
    for (let day = dayNumber('2000-01-01'); day <= LAST_DAY; day++) {
      const value = inventedDayValue(code, day)
      if (value === undefined) continue
      if (previous !== undefined) assert.ok(Math.abs(Number(value) / previous - 1) < 0.05, `${code} ${day}`)
      previous = Number(value)
    }
  }
})
