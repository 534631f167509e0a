import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDocuments, NESTED } from '../../../../src/domain/documents/uploads/upload.ts'
import { createJsonScanner } from '../../../../src/formats/json/scanner.ts'
import { TOO_LONG } from '../../../../src/formats/json/value.ts'
import { AppError } from '../../../../src/runtime/errors.ts'
import { scaled } from '../../../faults/scale.ts'
import {
  assertRejected,
  createMemory,
  nothing,
  openReader,
  read,
  streamPieces,
  TRICKY,
} from '../../../support/documents/uploads.ts'
import { fc } from '../../../support/fast-check.ts'

test('JSON scanner rejects a truncated body, at each byte, and leaves no blob', async () => {
  const body = Buffer.from(TRICKY.trimEnd())
  for (let end = 0; end < body.length; end++) {
    await assert.rejects(read(body.subarray(0, end)), AppError, `ends at ${end}`)
  }
})

test('JSON scanner agrees with JSON.parse on valid and invalid JSON', async () => {
  const values = [
    '0',
    '-1',
    '10.5',
    '1E5',
    '1e-5',
    '"a"',
    '[]',
    '{}',
    '[1,2]',
    '{"a":1}',
    'true',
    'false',
    'null',
    ' 1 ',
    '\t\r\n1',
    '"\\u00e9\\b\\f\\n\\r\\t\\/\\\\"',
    '"\x7f"',
    '{"a":[{"b":[]}]}',
    '{"":""}',
  ]
  const broken = [
    '',
    ' ',
    '01',
    '1.',
    '.5',
    '+1',
    '-',
    '1e',
    '1e+',
    '0x1',
    'NaN',
    'Infinity',
    '-Infinity',
    'tru',
    'truee',
    'True',
    'nul',
    '[1,]',
    '[,1]',
    '[1 2]',
    '[',
    ']',
    '{',
    '}',
    '{,}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a" 1}',
    '{1:2}',
    '[1}',
    '{"a":1]',
    '1 2',
    '{} {}',
    '[] x',
    '"',
    '"a',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\n"',
    '"\t"',
    '"\0"',
    '/**/1',
    '\v1',
    '\u00a01',
    '"a"b',
    'undefined',
    '-a',
    '1-2',
    '[1]]',
    '{"a":1}}',
    '"\\',
  ]
  for (const text of [...values, ...broken]) {
    for (const body of [text, `{"documents":[{"base64":${text}}]}`, `[{"k":${text}},${text}]`]) {
      const valid = isJson(body)
      if (valid) await read(body)
      else await assertRejected(body, /^Request body must be valid JSON: .+ at byte \d+$/)
    }
  }
})

test('JSON scanner agrees with JSON.parse on mutated bodies, in any pieces', async () => {
  const body = Buffer.from(TRICKY)
  const mutation = fc.record({
    at: fc.nat(body.length),
    instead: fc.nat(3),
    bytes: fc.constantFrom(...'"\\{}[]:,0e-. \n\tau/Aé\u0000=', '\\u', '\\ud800', '""', 'null'),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      fc.nat(body.length),
      async (mutations, cut) => {
        let mutant = body
        for (const { at, instead, bytes } of mutations) {
          mutant = Buffer.concat([mutant.subarray(0, at), Buffer.from(bytes), mutant.subarray(at + instead)])
        }
        const valid = isJson(mutant)
        const reading = read(mutant.subarray(0, cut), mutant.subarray(cut))
        if (valid) await reading
        else await assert.rejects(reading, AppError)
      },
    ),
    { numRuns: scaled({ short: 300, long: 3000 }) },
  )
})

test('JSON scanner agrees with JSON.parse on any upload', async () => {
  const field = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary' }))
  const document = fc.dictionary(fc.constantFrom('name', 'mimetype', 'base64', 'other'), field)
  const upload = fc.record(
    { owner_id: field, company_id: field, agent_id: field, documents: fc.array(document) },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(upload, fc.nat(500), fc.integer({ min: 1, max: 40 }), async (sent, indent, step) => {
      const body = Buffer.from(JSON.stringify(sent, null, indent % 4))
      const pieces: Buffer[] = []
      for (let at = 0; at < body.length; at += step) pieces.push(body.subarray(at, at + step))
      const plain = (value: unknown) => {
        if (typeof value === 'number') return /^-?\d+$/.test(`${value}`) ? value : Number.NaN
        if (typeof value === 'string' && JSON.stringify(value).length > 130) return TOO_LONG
        if (typeof value !== 'object' || value === null) return value
        return Array.isArray(value) && value.length === 0 ? undefined : NESTED
      }
      const reader = openReader()
      await reader.read(streamPieces(pieces))
      const result = reader.upload
      const expected = JSON.parse(body.toString())
      for (const key of ['owner_id', 'company_id', 'agent_id'] as const)
        assert.deepEqual(result[key], plain(expected[key]))
      const count = expected.documents?.length || undefined
      assert.equal(isDocuments(result.documents) ? result.documents.total : result.documents, count)
    }),
    { numRuns: scaled({ short: 60, long: 500 }) },
  )
})

test('JSON scanner rejects invalid UTF-8, wherever a block ends', async () => {
  const bad = [
    'c3',
    'c328',
    'a0',
    'e28228',
    'eda080',
    'f0288cbc',
    'f8a1a1a1a1',
    'c080',
    'ff',
    'f4908080',
    'e282',
  ]
  for (const hex of bad) {
    for (const template of [
      '{"a":"|"}',
      '{"|":1}',
      '{"documents":[{"base64":"|"}]}',
      '{"documents":[{"base64":"AA==|"}]}',
      '{} |',
    ]) {
      const [head, tail] = template.split('|') as [string, string]
      const body = Buffer.concat([Buffer.from(head), Buffer.from(hex, 'hex'), Buffer.from(tail)])
      for (let at = 0; at <= body.length; at++) {
        await assert.rejects(read(body.subarray(0, at), body.subarray(at)), AppError, `${hex} in ${template}`)
      }
    }
  }
  await assertRejected(Buffer.from('{"a":"\xff"}', 'latin1'), /not UTF-8 in the block that begins at byte 0/)
})

test('JSON scanner reports the byte of an error', async () => {
  await assertRejected('', /nothing but the end at byte 0/)
  await assertRejected('{"a":1,}', /unexpected "}" at byte 7/)
  await assertRejected('{"a":1} x', /unexpected "x" at byte 8/)
  await assertRejected('{"a":tru}', /"tru" is no value at byte 5/)
  await assertRejected('{"a":"\u0001"}', /control character in a string at byte 6/)
  await assertRejected('{"documents":[{"base64":"AA\n=="}]}', /control character in a string at byte 27/)
  await assertRejected('{"documents":[{"base64":"-AA\u0002="}]}', /control character in a string at byte 28/)
  await assertRejected('{"documents":[{"base64":"A\\x="}]}', /bad escape .* at byte 25/)
  await assertRejected('{"name":"\\u12g4"}', /bad escape in a string at byte 13/)
  await assertRejected('{"a\\q":1}', /bad escape in a string at byte 4/)
  await assertRejected(`{"a":${'1'.repeat(100_000)}.}`, /"1{20}" is no value at byte 5/)
  await assertRejected('\ufeff', /nothing but the end at byte 3/)
})

test('JSON scanner limits nesting by memory only', async () => {
  const each = 1024 * 1024
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  const readWithLimit = (body: string) =>
    openReader(createMemory().beginBatch, { each, all: 2 * each }).read(streamPieces([body]))
  await readWithLimit(nested(4_000_000)) // a bit each, and twice that during growth
  await assert.rejects(readWithLimit(nested(9_000_000)), (error) => {
    assert.ok(error instanceof AppError)
    assert.equal(error.code, 'too-large')
    assert.match(error.message, /is limited to 1 MiB/)
    return true
  })
})

test('JSON scanner treats __proto__ as an ordinary field', async () => {
  const result = await read(
    '{"__proto__":{"owner_id":1},"constructor":1,"documents":[{"__proto__":"x","toString":1}]}',
  )
  const faults = [{ index: 0, field: 'name', message: 'name is missing' }]
  assert.deepEqual(result, { ...nothing, documents: { total: 1, faulty: 1, faults } })
})

function isJson(body: string | Uint8Array): boolean {
  try {
    const text =
      typeof body === 'string'
        ? body
        : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

test('JSON scanner reads repeated and similar texts, wherever a chunk ends', () => {
  const parts = [
    'USD',
    'on',
    '',
    '2026-03-24',
    'é',
    'Ã©',
    '\u00c3',
    '漢字',
    'x'.repeat(24),
    'x'.repeat(25),
    'x'.repeat(80),
  ]
  const texts = fc.sample(fc.constantFrom(...parts), { numRuns: 2000, seed: 1 })
  const body = Buffer.from(JSON.stringify(texts))
  for (const size of [1, 7, 50, body.length]) {
    const result: unknown[] = []
    const scanner = createJsonScanner({
      ...{ open: () => true, close() {}, key() {}, wantsPieces: () => false, piece: () => false },
      ...{ endOfPieces() {}, isBusy: () => false, maxBytes: () => 100 },
      value: (value) => result.push(value),
    })
    for (let at = 0; at < body.length; at += size) scanner.push(Buffer.from(body.subarray(at, at + size)))
    scanner.end()
    assert.deepEqual(result, texts)
  }
})
