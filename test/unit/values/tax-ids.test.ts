import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseTaxIds, taxIdsFault } from '../../../src/values/tax-ids.ts'

test('tax ids are digits without hyphens and leading zeros, each once', () => {
  for (const [text, expected] of [
    ['3101654321', '3101654321'],
    ['3-101-654321, 0110340567', '3101654321,110340567'],
    ['000110340567;110340567', '110340567'],
    ['none', null],
  ] as const) {
    assert.equal(taxIdsFault(text), undefined, text)
    assert.equal(parseTaxIds(text), expected)
  }
})

test('another text is no tax id', () => {
  const many = Array.from({ length: 21 }, (_, at) => at + 1).join()
  for (const text of ['', ',', '0', '000', '310x', '1'.repeat(21), '-', many]) {
    assert.match(taxIdsFault(text) ?? '', /^must be 1 to 20 ids/, text)
  }
})
