import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseSourceJson } from '../../../src/providers/json.ts'
import { FetchFailure } from '../../../src/providers/provider.ts'
import { scaled } from '../../faults/scale.ts'
import { fc } from '../../support/fast-check.ts'

/** Parses by JSON.parse with a reviver, each number as its text; undefined for invalid JSON. */
function parseWithReviver(text: string): { document: unknown } | undefined {
  try {
    const document = JSON.parse(text, (_key: string, value: unknown, context?: { source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    )
    return { document }
  } catch {
    return undefined
  }
}

function check(text: string): void {
  const expected = parseWithReviver(text)
  if (expected) assert.deepEqual(parseSourceJson(text), expected.document, text)
  else assert.throws(() => parseSourceJson(text), new FetchFailure('the answer is not JSON'), text)
}

const numbers: [text: string, value: unknown][] = [
  ['496.44000000', '496.44000000'],
  [' 1e400\n', '1e400'],
  ['-0', '-0'],
  ['[1,-2.50E+07,"3"]', ['1', '-2.50E+07', '3']],
  ['{"a":12345678901234567890.12345678901234567890}', { a: '12345678901234567890.12345678901234567890' }],
  ['"4\\"5\\\\"', '4"5\\'],
  ['"\\\\"', '\\'],
  ['{"1":2,"a 3 ":"4:5"}', { '1': '2', 'a 3 ': '4:5' }],
]
for (const [text, value] of numbers) {
  test(`parseJson preserves the digits of ${text.trim()}`, () => {
    assert.deepEqual(parseSourceJson(text), value)
    check(text)
  })
}

const INVALID = [
  '', ' ', '1.', '.5', '01', '-', '+1', '1.2.3', '1e', '0x1', '1 2', '1"a"', '"a"1', '1true', 'tru1e', 'nul', 'NaN',
  '{1:2}', '{1 :2}', '{"a":1:2}', '[1:2]', '[1,]', '{"a":1,}', '"', '"a 1', '"a\\" 1', '"\\', '"\n"', '"\\x"', '[1', ']',
  '{"a" 1}', "{'a':1}", '1//', '\ufeff1',
] // biome-ignore format: a list
test('parseJson rejects invalid JSON without quoting it', () => {
  for (const text of INVALID) {
    assert.equal(parseWithReviver(text), undefined, text)
    check(text)
  }
})

test('parseJson agrees with JSON.parse on any JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 3 }), (value, spaces) =>
      check(JSON.stringify(value, null, spaces)),
    ),
    { numRuns: 2000 },
  )
})

test('parseJson agrees with JSON.parse on any text', () => {
  const piece = fc.constantFrom(
    ...'[]{}:,"\\ -+.019eE\n\tau',
    'true',
    'null',
    '"a"',
    '1.50',
    '{"a":',
    '\\"',
    '\\u0031',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => check(pieces.join(''))),
    { numRuns: scaled({ short: 1500, long: 30_000 }) },
  )
})

test('parseJson agrees with JSON.parse on mutated JSON', () => {
  const change = fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...'[]{}:,"\\ -+.09e'))
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 3 }), change, (value, [where, removed, added]) => {
      const text = JSON.stringify(value)
      const at = where % (text.length + 1)
      check(text.slice(0, at) + added + text.slice(at + removed))
    }),
    { numRuns: scaled({ short: 1500, long: 20_000 }) },
  )
})

test('parseJson limits nesting and the number of values', () => {
  const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
  check(nested(100))
  assert.throws(() => parseSourceJson(nested(101)), new FetchFailure('the answer nests too deep'))
  assert.throws(
    () => parseSourceJson(`[${'{},'.repeat(100_000)}{}]`),
    new FetchFailure('the answer holds too many values'),
  )
  check(`[${'{},'.repeat(99_000)}"${',[{'.repeat(100_000)}"]`)
})
