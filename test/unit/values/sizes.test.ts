import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countNoun,
  parseQuota,
  parseSize,
  quotaFault,
  quotaText,
  sizeFault,
  sizeText,
} from '../../../src/values/sizes.ts'

const GIB = 1024 ** 3

for (const [text, bytes] of [
  ['1', 1],
  ['500MiB', 500 * 1024 ** 2],
  ['10gib', 10 * GIB],
  ['2TiB', 2 * 1024 ** 4],
] as const) {
  test(`parseSize converts ${text} to ${bytes} bytes`, () => {
    assert.equal(sizeFault(text), undefined)
    assert.equal(parseSize(text), bytes)
    assert.equal(parseQuota(text), bytes)
  })
}

for (const text of ['', '-1', '1.5GiB', '10GB', '10 GiB', '9999999999TiB']) {
  test(`sizeFault rejects ${JSON.stringify(text)}`, () => {
    assert.match(sizeFault(text) ?? '', /must be a number of bytes, or of KiB, MiB, GiB or TiB/)
    assert.match(quotaFault(text) ?? '', /must be a size such as 10GiB, or none/)
  })
}

test('quotaFault accepts none and rejects 0', () => {
  assert.equal(quotaFault('none'), undefined)
  assert.equal(parseQuota('none'), null)
  assert.match(quotaFault('0') ?? '', /or none/)
  assert.match(quotaFault('0GiB') ?? '', /or none/)
})

for (const [bytes, rounded, exact] of [
  [0, '0 bytes', '0 TiB'],
  [1, '1 bytes', '1 bytes'],
  [1023, '1023 bytes', '1023 bytes'],
  [1500 * 1024 ** 2, '1.4 GiB', '1500 MiB'],
  [10 * GIB - 1, '9.9 GiB', '10737418239 bytes'],
  [10 * GIB, '10 GiB', '10 GiB'],
  [5000 * 1024 ** 4, '5000 TiB', '5000 TiB'],
] as const) {
  test(`sizeText formats ${bytes} bytes as ${rounded}, quotaText as ${exact}`, () => {
    assert.equal(sizeText(bytes), rounded)
    if (bytes > 0) assert.equal(quotaText(bytes), exact)
  })
}

test('countNoun has the singular for one alone, and plurals of its own', () => {
  assert.deepEqual(
    [0, 1, 2].map((count) => countNoun(count, 'owner')),
    ['0 owners', '1 owner', '2 owners'],
  )
  assert.deepEqual(
    [countNoun(1, 'company', 'companies'), countNoun(2, 'company', 'companies')],
    ['1 company', '2 companies'],
  )
})
