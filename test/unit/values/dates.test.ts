import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  addDays,
  currentDay,
  currentTime,
  dayNumber,
  earliest,
  isIsoDate,
  isoDate,
  latest,
} from '../../../src/values/dates.ts'

const days: [text: string, is: boolean][] = [
  ['2026-03-24', true],
  ['1900-01-01', true],
  ['1899-12-31', false],
  ['2999-12-31', true],
  ['3000-01-01', false],
  ['0000-01-01', false],
  ['2024-02-29', true],
  ['2023-02-29', false],
  ['2000-02-29', true],
  ['1900-02-29', false],
  ['2100-02-29', false],
  ['2400-02-29', true],
  ['2026-02-30', false],
  ['2026-04-31', false],
  ['2026-12-31', true],
  ['2026-13-01', false],
  ['2026-00-01', false],
  ['2026-01-00', false],
  ['2026-01-32', false],
  ['2026-1-1', false],
  ['20260101', false],
  ['2026/01/01', false],
  ['2026-01-01T00:00:00Z', false],
  [' 2026-01-01', false],
  ['2026-01-01\n', false],
  ['+2026-01-01', false],
  ['-2026-01-01', false],
  ['', false],
  ['today', false],
  ['٢٠٢٦-٠١-٠١', false],
]
for (const [text, is] of days) {
  test(`isIsoDate is ${is} for ${JSON.stringify(text)}`, () => assert.equal(isIsoDate(text), is))
}

test('dayNumber and isoDate convert each day from 1900 to 2999 and back', () => {
  const first = dayNumber('1900-01-01')
  const last = dayNumber('2999-12-31')
  assert.equal(dayNumber('1970-01-01'), 0)
  assert.equal(last - first + 1, 1100 * 365 + 267)
  let before = ''
  for (let day = first; day <= last; day += 1) {
    const date = isoDate(day)
    assert.ok(date > before && isIsoDate(date) && dayNumber(date) === day, date)
    before = date
  }
})

const sums: [date: string, days: number, sum: string][] = [
  ['2026-03-24', -90, '2025-12-24'],
  ['2024-02-28', 1, '2024-02-29'],
  ['2024-03-01', -1, '2024-02-29'],
  ['2023-02-28', 1, '2023-03-01'],
  ['2026-12-31', 1, '2027-01-01'],
  ['1969-12-31', 1, '1970-01-01'],
  ['2026-03-24', 0, '2026-03-24'],
  ['1900-01-01', -90, '1899-10-03'],
  ['2999-12-31', 1, '3000-01-01'],
]
for (const [date, count, sum] of sums) {
  test(`addDays: ${date} and ${count} days is ${sum}`, () => assert.equal(addDays(date, count), sum))
}

test('earliest and latest compare two days', () => {
  assert.equal(earliest('2026-01-02', '2026-01-10'), '2026-01-02')
  assert.equal(latest('2026-01-02', '2026-01-10'), '2026-01-10')
})

const INSTANTS: [instant: string, today: string][] = [
  ['2026-03-24T05:59:59.999Z', '2026-03-23'],
  ['2026-03-24T06:00:00.000Z', '2026-03-24'],
  ['2026-03-25T05:59:59.999Z', '2026-03-24'],
  ['2026-01-01T00:00:00Z', '2025-12-31'],
  ['2024-03-01T05:00:00Z', '2024-02-29'],
  ['1969-12-31T23:00:00Z', '1969-12-31'],
  // Summer and winter: Costa Rica has no daylight saving.
  ['2026-07-01T05:59:59Z', '2026-06-30'],
  ['2026-07-01T06:00:00Z', '2026-07-01'],
]
for (const [instant, today] of INSTANTS) {
  test(`currentDay is ${today} in Costa Rica at ${instant}`, () => {
    assert.equal(
      currentDay(() => new Date(instant)),
      today,
    )
  })
}

for (const zone of ['Pacific/Kiritimati', 'Etc/GMT+12', 'America/New_York', 'Asia/Kathmandu', 'UTC']) {
  test(`days do not depend on the time zone of the machine: ${zone}`, () => {
    const module = pathToFileURL(`${import.meta.dirname}/../../../src/values/dates.ts`).href
    const script = `
      import { addDays, dayNumber, isIsoDate, isoDate, currentDay } from ${JSON.stringify(module)}
      const instants = ${JSON.stringify(INSTANTS.map(([instant]) => instant))}
      const today = instants.map((instant) => currentDay(() => new Date(instant)))
      const edges = [isoDate(dayNumber('2026-03-08')), addDays('2026-11-01', 1), isIsoDate('2026-03-29')]
      console.log(JSON.stringify({ today, edges, offset: new Date(0).getTimezoneOffset() }))`
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      env: { ...process.env, TZ: zone },
      encoding: 'utf8',
    })
    const { today, edges, offset } = JSON.parse(output)
    assert.deepEqual(
      today,
      INSTANTS.map(([, day]) => day),
    )
    assert.deepEqual(edges, ['2026-03-08', '2026-11-02', true])
    assert.equal(offset === 0, zone === 'UTC', 'the zone has taken effect')
  })
}

// Helsinki is UTC+2, and UTC+3 from 2026-03-29T01:00:00Z; Auckland is UTC+13.
const ELSEWHERE: [instant: string, helsinki: string, auckland: string][] = [
  ['2026-03-24T12:00:00Z', '2026-03-24 14:00', '2026-03-25 01:00'],
  ['2026-03-24T21:59:59Z', '2026-03-24 23:59', '2026-03-25 10:59'],
  ['2026-03-24T22:00:00Z', '2026-03-25 00:00', '2026-03-25 11:00'],
  ['2026-03-29T00:59:59Z', '2026-03-29 02:59', '2026-03-29 13:59'],
  ['2026-03-29T01:00:00Z', '2026-03-29 04:00', '2026-03-29 14:00'],
  ['2026-12-31T22:00:00Z', '2027-01-01 00:00', '2027-01-01 11:00'],
]
for (const [instant, ...expected] of ELSEWHERE) {
  test(`currentTime at ${instant} is ${expected[0]} in Helsinki and ${expected[1]} in Auckland`, () => {
    const clock = () => new Date(instant)
    const localTimes = ['Europe/Helsinki', 'Pacific/Auckland'].map(
      (zone) => `${currentDay(clock, zone)} ${currentTime(clock, zone)}`,
    )
    assert.deepEqual(localTimes, expected)
  })
}

test('currentDay of Costa Rica equals that of Etc/GMT+6', () => {
  for (const hour of ['05:59:59', '06:00:00', '23:59:59']) {
    const clock = () => new Date(`2026-03-24T${hour}Z`)
    assert.equal(currentDay(clock), currentDay(clock, 'Etc/GMT+6'))
  }
})
