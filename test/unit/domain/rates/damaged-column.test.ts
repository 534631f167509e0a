// Lines of a column that a damaged file makes of sound ones. No value is read from them, and their days are named.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Column, columnDecimals, columnValue } from '../../../../src/domain/rates/column.ts'
import { withoutDays } from '../../../../src/domain/rates/covered-days.ts'
import { parseColumn } from '../../../../src/domain/rates/parsed-column.ts'
import { dayNumber, isoDate } from '../../../../src/values/dates.ts'
import { canonicalDecimal } from '../../../../src/values/decimal.ts'

const SOUND = ['2026-03-02448.84', '2026-03-03449', '2026-03-04450.05r2', '2026-03-05451.5', '2026-03-060.75']

const parse = (lines: readonly string[], options = {}) =>
  parseColumn({ name: 'series 2', count: SOUND.length, lines: lines.join('\n') }, options)

/** Values by day, with the decimals of a rounded one. */
function listValues(column: Column): Record<string, string> {
  const entries = Array.from(column.days, (day, at) => {
    const decimals = columnDecimals(column, at)
    return [isoDate(day), columnValue(column, at) + (decimals === undefined ? '' : `r${decimals}`)]
  })
  return Object.fromEntries(entries)
}

function listDamage({ damage }: Column): string[] {
  return damage?.days.map(({ first, last }) => `${isoDate(first)}..${isoDate(last)}`) ?? []
}

test('a sound column has all values and no damage', () => {
  assert.deepEqual(listValues(parse(SOUND)), {
    '2026-03-02': '448.84',
    '2026-03-03': '449',
    '2026-03-04': '450.05r2',
    '2026-03-05': '451.5',
    '2026-03-06': '0.75',
  })
  assert.equal(parse(SOUND).damage, undefined)
  assert.equal(parseColumn({ name: 'series 2', count: 0, lines: '' }).days.length, 0)
})

for (const value of [
  ...['', '44x.84', '448.840', '448.', '.84', '0448.84', '-448.84', '+448', '0', '0.0', '00.5', '4e2', 'NaN'],
  ...[
    '448,84',
    '448.8.4',
    ' 448',
    '448 ',
    '448.84r',
    '448.84rr2',
    '448.84r222',
    '448.84\u00e9',
    '448\t',
    '\n449',
  ],
]) {
  test(`the value ${JSON.stringify(value)} is damaged, on its day alone`, () => {
    for (const at of SOUND.keys()) {
      const day = SOUND[at]?.slice(0, 10) ?? ''
      const column = parse(SOUND.with(at, day + value))
      const { [day]: _, ...others } = listValues(parse(SOUND))
      assert.deepEqual(listValues(column), others)
      assert.ok(listDamage(column).includes(`${day}..${day}`), listDamage(column).join())
    }
  })
}

for (const [day, at, damage] of [
  ['2026-02-30', 1, '2026-03-03..2026-03-03'],
  ['2026-13-03', 1, '2026-03-03..2026-03-03'],
  ['202x-03-03', 1, '2026-03-03..2026-03-03'],
  ['', 1, '2026-03-03..2026-03-03'],
  ['2026-03-02', 1, '1900-01-01..2026-03-03'],
  ['2025-03-03', 1, '1900-01-01..2026-03-03'],
  ['2027-03-03', 1, '2026-03-03..2026-03-04'],
  ['2026-03-0x', 4, '2026-03-06..2999-12-31'],
  ['2026-03-0x', 0, '1900-01-01..2026-03-02'],
] as const) {
  test(`the day ${JSON.stringify(day)} of line ${at} is damaged`, () => {
    const column = parse(SOUND.with(at, day + (SOUND[at]?.slice(10) ?? '')))
    assert.deepEqual(listDamage(column), [damage])
    for (const [kept, value] of Object.entries(listValues(column))) {
      assert.equal(value, listValues(parse(SOUND))[kept])
    }
  })
}

test('values of an indicator may be zero or negative', () => {
  const values = ['-1.5', '0', '12', '-0.05', '0.1']
  const lines = values.map((value, at) => (SOUND[at]?.slice(0, 10) ?? '') + value)
  assert.deepEqual(Object.values(listValues(parse(lines, { anySign: true }))), values)
  for (const wrong of ['-0', '-', '--1', '00', '-1.50']) {
    const column = parse(lines.with(2, `2026-03-04${wrong}`), { anySign: true })
    assert.deepEqual(listDamage(column), ['2026-03-04..2026-03-04'], wrong)
  }
})

test('after any change of a byte each day has its value, another canonical one, or is damaged', () => {
  const text = SOUND.join('\n')
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\n') continue // the program itself writes the ends of the lines
    for (let change = 1; change < 256; change += 1) {
      const bytes = Buffer.from(text, 'latin1')
      bytes[at] = (bytes[at] ?? 0) ^ change
      const column = parseColumn({ name: 'series 2', count: SOUND.length, lines: bytes.toString('latin1') })
      const values = listValues(column)
      const days = Object.keys(values)
      for (const value of Object.values(values)) {
        const digits = value.replace(/r.*/, '')
        assert.equal(canonicalDecimal(digits), digits)
      }
      assert.deepEqual(days, days.toSorted())
      const hasOtherDay = days.some((day) => !SOUND.some((line) => line.startsWith(day)))
      for (const line of SOUND) {
        const number = dayNumber(line.slice(0, 10))
        const isDamaged = column.damage?.days.some(({ first, last }) => first <= number && number <= last)
        assert.ok(
          isoDate(number) in values || isDamaged || hasOtherDay,
          `${isoDate(number)} is lost: ${bytes}`,
        )
      }
    }
  }
})

test('damaged days are not covered, and no value is carried over them to the newest day', () => {
  const days = (from: string, to: string) => ({ first: dayNumber(from), last: dayNumber(to) })
  const covered = Int32Array.of(dayNumber('2026-03-01'), dayNumber('2026-03-10'))
  const show = (left: Int32Array) => Array.from(left, isoDate)
  assert.deepEqual(show(withoutDays(covered, [days('2026-03-04', '2026-03-05')])), [
    ...['2026-03-01', '2026-03-03', '2026-03-06', '2026-03-10'],
  ])
  assert.deepEqual(show(withoutDays(covered, [days('2026-03-10', '2026-03-10')])), [
    ...['2026-03-01', '2026-03-09', '2026-03-11', '2026-03-10'],
  ])
  assert.deepEqual(show(withoutDays(new Int32Array(), [days('2026-03-10', '2026-03-10')])), [
    ...['2026-03-11', '2026-03-10'],
  ])
})
