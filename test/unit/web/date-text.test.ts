import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numericDay, readDate, stepDay } from '../../../src/web/model/date-text.ts'
import { addDays } from '../../../src/web/model/days.ts'
import { fc } from '../../support/fast-check.ts'

const TODAY = '2026-11-22'
const RANGE = { first: '1983-01-01', last: '2026-11-23' }
const read = (text: string) => readDate(text, RANGE, TODAY)

test('readDate reads each form of a date, the day before the month', () => {
  const forms = [
    ...['12/3/2019', '12-3-19', '12.03.2019', '12032019', '12 mar 2019', '12 de marzo de 2019', '2019-03-12'],
    ...['12/03/19', ' 12 / 3 / 2019 ', '12 Mar. 2019', '12 de marzo del 2019', '12 march 2019', '12-mar-19'],
    ...['12 DE MARZO DE 2019', '2019/3/12', '12mar2019', '12 marz 2019'],
  ]
  for (const text of forms) assert.deepEqual(read(text), { day: '2019-03-12' }, text)
  assert.deepEqual(read('03/04/2026'), { day: '2026-04-03' })
  assert.deepEqual(read('1 set 2020'), { day: '2020-09-01' })
  assert.deepEqual(read('1 de septiembre de 2020'), { day: '2020-09-01' })
  assert.deepEqual(read('29/2/2024'), { day: '2024-02-29' })
  for (const text of ['hoy', 'Hoy', 'today']) assert.deepEqual(read(text), { day: TODAY }, text)
  for (const text of ['ayer', 'yesterday']) assert.deepEqual(read(text), { day: '2026-11-21' }, text)
})

test('readDate reads a year of two digits up to next year as 20yy, else as 19yy', () => {
  assert.deepEqual(read('1/1/26'), { day: '2026-01-01' })
  assert.deepEqual(read('1/1/00'), { day: '2000-01-01' })
  assert.deepEqual(read('1/1/27'), { error: { kind: 'future', day: '2027-01-01' } })
  assert.deepEqual(read('1/1/28'), { error: { kind: 'before', day: '1928-01-01' } })
  assert.deepEqual(read('31/12/99'), { day: '1999-12-31' })
})

test('readDate names the reason of a refused date', () => {
  const missing = { '31/02/2027': '2027-02-31', '29/2/2023': '2023-02-29', '1/13/2020': '2020-13-01' }
  for (const [text, day] of Object.entries(missing))
    assert.deepEqual(read(text), { error: { kind: 'missing', day } }, text)
  assert.deepEqual(read('32 de enero de 2020'), { error: { kind: 'missing', day: '2020-01-32' } })
  for (const text of ['05/05/1982', '31/12/1982', '1/1/1850'])
    assert.equal(read(text).error?.kind, 'before', text)
  for (const text of ['24/11/2026', '05/05/2027', '1/1/9999'])
    assert.equal(read(text).error?.kind, 'future', text)
  const unreadable = [
    ...['', ' ', '12', '12/3', 'mañana', '12/3/201', '120319', '12 3 2019', '12 xyz 2019', '12 ma 2019'],
    ...['1/1/0002', '12/3-2019', '2019-3', 'marzo 2019', '12/03/20199', '١٢/٣/٢٠١٩'],
  ]
  for (const text of unreadable) assert.deepEqual(read(text), { error: { kind: 'unreadable' } }, text)
})

test('the range ends with its last day', () => {
  assert.deepEqual(read('23/11/2026'), { day: '2026-11-23' })
  const range = { first: '1983-01-01', last: TODAY }
  assert.deepEqual(readDate('23/11/2026', range, TODAY).error?.kind, 'future')
})

test('stepDay moves by a day, a month, or with Shift a year', () => {
  assert.equal(stepDay('2026-11-22', 'ArrowUp', false), '2026-11-23')
  assert.equal(stepDay('2026-11-01', 'ArrowDown', false), '2026-10-31')
  assert.equal(stepDay('2026-03-31', 'PageDown', false), '2026-02-28')
  assert.equal(stepDay('2024-02-29', 'PageUp', true), '2025-02-28')
  assert.equal(stepDay('2026-11-22', 'ArrowDown', true), '2025-11-22')
  assert.equal(stepDay('2026-11-22', 'Home', false), undefined)
})

test('readDate inverts numericDay', () => {
  fc.assert(
    fc.property(fc.nat(16_000), (days) => {
      const day = addDays(RANGE.first, days)
      assert.deepEqual(read(numericDay(day)), { day })
      assert.deepEqual(read(numericDay(day).replaceAll('/', '')), { day })
    }),
  )
})

test('readDate returns a day of the range or an error for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789/-. demarzo') }), (text) => {
      const { day, error } = read(text)
      assert.ok(error !== undefined || (day >= RANGE.first && day <= RANGE.last))
    }),
  )
})
