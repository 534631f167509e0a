import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addRow,
  isSameSum,
  newSum,
  rateLine,
  type Sum,
  sumsByYear,
} from '../../../../src/store/rates/sums.ts'
import { createRandom } from '../../../support/rates/random-bank.ts'

const random = createRandom(52)

function addRows(texts: readonly string[]): Sum {
  const sum = newSum()
  for (const text of texts) addRow(sum, text)
  return sum
}

test('another bit of a day, a value or its decimals changes both sums', () => {
  const texts = ['2026-03-24517.21', '2026-03-24517.2r2', '1983-01-010.0000000001', '2026-12-31517r0']
  for (const text of texts) {
    const before = addRows([text])
    for (let at = 0; at < text.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const code = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit))
        const after = addRows([text.slice(0, at) + code + text.slice(at + 1)])
        assert.notEqual(after.first, before.first)
        assert.notEqual(after.second, before.second)
      }
    }
  }
})

test('sums do not depend on the order of their rows, and a removed row leaves no trace', () => {
  const texts = Array.from({ length: 500 }, () =>
    rateLine({
      rate_date: `20${random.int(10, 99)}-0${random.int(1, 9)}-${random.int(10, 28)}`,
      value: `${random.int(400, 600)}.${random.int(0, 99)}`,
      rounded_to: random.chance(0.5) ? random.int(0, 4) : null,
    }),
  )
  const sum = addRows(texts)
  assert.deepEqual(sum, addRows(texts.toReversed()))
  for (const text of texts.slice(100)) addRow(sum, text, -1)
  assert.deepEqual(sum, addRows(texts.slice(0, 100)))
  for (const one of [sum.first, sum.second]) assert.ok(one >= 0 && one < 2 ** 32 && Number.isInteger(one))
})

test('two values that are exchanged, or two opposite changes of a digit, do not compensate each other', () => {
  const before = addRows(['2026-03-24517.21', '2026-03-25518.30'])
  for (const after of [
    ['2026-03-24518.30', '2026-03-25517.21'],
    ['2026-03-24517.22', '2026-03-25518.29'],
    ['2026-03-25517.21', '2026-03-24518.30'],
  ]) {
    const sum = addRows(after)
    assert.notEqual(sum.first, before.first)
    assert.notEqual(sum.second, before.second)
  }
})

test('`sumsByYear` sums the lines of a column by year', () => {
  const sums = sumsByYear('2024-12-31500.1\n2025-01-01500.2r2\n2025-06-01501')
  assert.deepEqual([...sums.keys()], ['2024', '2025'])
  assert.deepEqual(sums.get('2025'), addRows(['2025-01-01500.2r2', '2025-06-01501']))
  assert.equal(sumsByYear('').size, 0)
  assert.ok(isSameSum(undefined, newSum()))
  assert.ok(!isSameSum(sums.get('2024'), sums.get('2025')))
})
