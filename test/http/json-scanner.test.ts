import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { NESTED, type UploadedDocument } from '../../src/domain/upload.ts'
import { AppError } from '../../src/errors.ts'
import { nothing, read, refuses, TRICKY } from '../support/uploads.ts'

test('refuses a body that ends early, at every byte, and leaves no blob', async () => {
  const body = Buffer.from(TRICKY.trimEnd())
  for (let end = 0; end < body.length; end++) {
    await assert.rejects(read(body.subarray(0, end)), AppError, `ends at ${end}`)
  }
})

test('agrees with JSON.parse on what is JSON', async () => {
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
    '\ufeff1',
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
      else await refuses(body, /^Request body must be valid JSON: .+ at byte \d+$/)
    }
  }
})

test('agrees with JSON.parse on mutated bodies, however cut', async () => {
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
    { numRuns: 3000 },
  )
})

test('agrees with JSON.parse on any upload', async () => {
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
      const plain = (value: unknown) =>
        typeof value !== 'object' || value === null
          ? value
          : Array.isArray(value) && value.length === 0
            ? undefined
            : NESTED
      const seen = await read(...pieces)
      const wanted = JSON.parse(body.toString())
      for (const key of ['owner_id', 'company_id', 'agent_id'] as const)
        assert.deepEqual(seen[key], plain(wanted[key]))
      const documents = seen.documents as UploadedDocument[] | undefined
      assert.equal(documents?.length, wanted.documents?.length)
      documents?.forEach((document, i) => {
        assert.deepEqual(
          document.name === NESTED || document.name,
          wanted.documents[i].name instanceof Object || wanted.documents[i].name,
        )
      })
    }),
    { numRuns: 500 },
  )
})

test('refuses bytes that are not UTF-8, wherever a block ends', async () => {
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
  await refuses(Buffer.from('{"a":"\xff"}', 'latin1'), /not UTF-8 in the block that begins at byte 0/)
  await refuses('\ufeff{}', /unexpected byte 0xef at byte 0/)
})

test('says where the JSON breaks', async () => {
  await refuses('', /nothing but the end at byte 0/)
  await refuses('{"a":1,}', /unexpected "}" at byte 7/)
  await refuses('{"a":1} x', /unexpected "x" at byte 8/)
  await refuses('{"a":tru}', /"tru" is no value at byte 5/)
  await refuses('{"a":"\u0001"}', /control character in a string at byte 6/)
  await refuses('{"documents":[{"base64":"AA\n=="}]}', /control character in a string at byte 27/)
  await refuses('{"documents":[{"base64":"-AA\u0002="}]}', /control character in a string at byte 28/)
  await refuses('{"documents":[{"base64":"A\\x="}]}', /bad escape .* at byte 25/)
})

test('bounds nesting, keys, strings, numbers, documents and the rest', async () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  await read(nested(64))
  await refuses(nested(65), /nested deeper than 64 levels at byte 68/)
  await refuses('['.repeat(1_000_000), /nested deeper/)
  await read(`{"${'k'.repeat(1024)}":1}`)
  await refuses(`{"${'k'.repeat(1025)}":1}`, /a key is longer than 1024 bytes/)
  await read(`{"a":"${'s'.repeat(1024 * 1024)}"}`)
  await refuses(`{"a":"${'s'.repeat(1024 * 1024 + 1)}"}`, /a string is longer than 1048576 bytes/)
  await refuses(`{"a":${'1'.repeat(1001)}}`, /a number is longer than 1000 bytes/)
  await read(`{"documents":[${'{},'.repeat(9_999)}1]}`)
  await refuses(`{"documents":[${'{},'.repeat(10_000)}1]}`, /at most 10000 documents/)
  await refuses(`[${'1,'.repeat(4 * 1024 * 1024)}1]`, /more than 8388608 bytes beside/)
  const padded = Buffer.alloc(9 * 1024 * 1024, ' ')
  await refuses(padded, /more than 8388608 bytes beside/)
})

test('does not follow the names of the prototype', async () => {
  const seen = await read(
    '{"__proto__":{"owner_id":1},"constructor":1,"documents":[{"__proto__":"x","toString":1}]}',
  )
  assert.deepEqual(seen, {
    ...nothing,
    documents: [{ name: undefined, mimetype: undefined, content: undefined }],
  })
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
