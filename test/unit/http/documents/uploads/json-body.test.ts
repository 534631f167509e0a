import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { isDocuments, NESTED } from '../../../../../src/domain/documents/uploads/upload.ts'
import { TOO_LONG } from '../../../../../src/formats/json/value.ts'
import { AppError } from '../../../../../src/runtime/errors.ts'
import type { BlobBatch } from '../../../../../src/store/blobs/batch.ts'
import {
  base64,
  createMemory,
  FAULTY,
  FAULTY_READ,
  nothing,
  openReader,
  read,
  readFiles,
  streamPieces,
  TRICKY,
  TRICKY_READ,
} from '../../../../support/documents/uploads.ts'

const document = (base64: string) => `{"name":"a.txt","mimetype":"text/plain","base64":${base64}}`
const withBase64 = (...values: string[]) =>
  `{"owner_id":1,"company_id":2,"agent_id":3,"documents":[${values.map(document)}]}`
const one = (content: string) => [{ name: 'a.txt', mimetype: 'text/plain', content }]

test('the reader returns the fields and the blobs of documents', async () => {
  assert.deepEqual(await read(withBase64(`"${base64('hello')}"`)), {
    owner_id: 1,
    company_id: 2,
    agent_id: 3,
    documents: { files: one('hello') },
  })
})

for (const [what, body, expected] of [
  ['good', TRICKY, TRICKY_READ],
  ['bad', FAULTY, FAULTY_READ],
] as const) {
  test(`the reader accepts fields in any order, with repeated, unknown and nested ones, of ${what} documents`, async () => {
    assert.deepEqual(await read(body), expected)
  })

  test(`the result for ${what} documents is the same wherever the body is cut, and byte by byte`, async () => {
    const bytes = Buffer.from(body)
    for (let at = 0; at <= bytes.length; at++) {
      assert.deepEqual(await read(bytes.subarray(0, at), bytes.subarray(at)), expected, `cut at ${at}`)
    }
    assert.deepEqual(await read(...[...bytes].map((byte) => Buffer.from([byte]))), expected)
  })
}

test('base64 may have escapes and line breaks', async () => {
  const texts: [string, string][] = [
    ['"Zm9v\\r\\nYmFy\\n"', 'foobar'],
    ['"\\u005am9\\u0076"', 'foo'],
    ['"\\u002F\\u002b\\/\\u002B"', Buffer.from('/+/+', 'base64').toString()],
    ['"Zg\\u003d\\u003D"', 'f'],
  ]
  for (const [text, content] of texts) {
    for (let at = 0; at <= text.length; at++) {
      const [head, tail] = withBase64('|').split('|') as [string, string]
      assert.deepEqual(await readFiles(head + text.slice(0, at), text.slice(at) + tail), one(content), text)
    }
  }
})

test('a document with invalid base64 is recorded as a fault, and reading continues', async () => {
  const bad = [
    'Zg',
    'Zg=',
    ' Zg==',
    'Zg==\\t',
    'Zg==\\"',
    '\\"Zg==',
    'Zm9-',
    'Zg\\u0141=',
    'é',
    '\\ud800',
    '\\\\',
    '=',
  ]
  for (const text of bad) {
    const { documents } = await read(
      withBase64(`"${text}"`, '"b2s="', `"${base64('x'.repeat(99))}${text}"`, '""'),
    )
    const { faults } = documents as { faults: { index: number; message: string }[] }
    assert.deepEqual(
      faults.map(({ index }) => index),
      [0, 2, 3],
      text,
    )
    assert.match(faults[1]?.message ?? '', /RFC 4648/)
  }
})

test('plain values are returned as sent, and an empty array as missing', async () => {
  const values: [string, unknown][] = [
    ['7', 7],
    ['9007199254740993', 9007199254740992],
    ['-0', -0],
    ['"7"', '7'],
    ['""', ''],
    ['true', true],
    ['null', null],
    ['[]', undefined],
    ['[ ]', undefined],
    ['{}', NESTED],
    ['{"a":[]}', NESTED],
    ['"\\ud800"', '\ud800'],
    [`"${'x'.repeat(1000)}"`, TOO_LONG],
    ['1'.repeat(1000), Number.NaN],
  ]
  for (const [text, value] of values) {
    assert.deepEqual(await read(`{"owner_id":${text}}`), { ...nothing, owner_id: value }, text)
    assert.deepEqual(await read(`{"documents":${text}}`), { ...nothing, documents: value }, text)
  }
})

test('a number is an integer by its text alone', async () => {
  for (const text of [
    '1.0',
    '1e0',
    '10e-1',
    '1E0',
    '1.0000000000000000001',
    '9007199254740991.0',
    '1e400',
    '-1.5',
  ]) {
    assert.deepEqual((await read(`{"agent_id":${text}}`)).agent_id, Number.NaN, text)
  }
})

test('a value that is replaced by a later one of the same key is dropped', async () => {
  const first = `"documents":[${document('"b25l"')},${document('"dHdv"')}]`
  assert.deepEqual(await readFiles(`{${first},"documents":[${document('"b2s="')}]}`), one('ok'))
  assert.deepEqual(await readFiles(`{"documents":[{},7],"documents":[${document('"b2s="')}]}`), one('ok'))
  for (const later of ['null', '7', '[]', '[{}]', `{"documents":[${document('"b2s="')}]}`]) {
    await read(`{${first},"documents":${later}}`) // checks that nothing remains
  }
})

test('a fault drops earlier blobs, and later ones are not stored', async () => {
  const memory = createMemory()
  const reader = openReader(memory.beginBatch)
  const good = document('"b25l"')
  let between = false
  async function* body() {
    yield Buffer.from(`{"documents":[${good},${good},`)
    assert.deepEqual([memory.live.size, reader.held() > 0], [2, true])
    yield Buffer.from('7,')
    assert.deepEqual([memory.live.size, reader.held()], [0, 0])
    yield Buffer.from(`${good},${good},{}]`)
    assert.deepEqual([memory.live.size, reader.held()], [0, 0])
    between = true
    yield Buffer.from('}')
  }
  await reader.read(body())
  assert.ok(between)
  const { documents } = reader.upload
  assert.ok(isDocuments(documents))
  assert.deepEqual([documents.total, documents.faulty, documents.valid], [6, 2, undefined])
})

test('the first thousand faults are listed and all are counted', async () => {
  const { documents } = await read(`{"documents":[${'{},'.repeat(99_999)}1]}`)
  const { total, faulty, faults } = documents as { total: number; faulty: number; faults: unknown[] }
  assert.deepEqual([total, faulty, faults.length], [100_000, 100_000, 1000])
})

test('blobs do not count against the memory limits', async () => {
  const text = 'cambista'.repeat(1_500_000)
  assert.equal((await readFiles(withBase64(`"${base64(text)}"`)))[0]?.content === text, true)
})

test('unknown values are skipped, whatever their size or depth', async () => {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  const mixed = '{"a":['.repeat(50_000) + ']}'.repeat(50_000)
  const unknown = [
    `"${'s'.repeat(2_000_000)}"`,
    `"${'\\u00e9\\n'.repeat(200_000)}"`,
    '1'.repeat(2_000_000),
    `-0.${'0'.repeat(1_000_000)}e-${'9'.repeat(1_000_000)}`,
    `[${'1,'.repeat(5_000_000)}1]`,
    deep,
    mixed,
    `{"${'k'.repeat(2_000_000)}":1}`,
  ]
  for (const value of unknown) {
    const long = `"${'owner_id'.repeat(100_000)}":1,`
    const good = document('"b2s="').replace('{', `{"other":${value},"name":"x",${long}`)
    const body = `{"other":${value},${long}"owner_id":1,"documents":[${good}],"more":${value}}${' '.repeat(9_000_000)}`
    const { owner_id, documents } = await read(body)
    assert.deepEqual([owner_id, documents], [1, { files: one('ok') }], value.slice(0, 20))
  }
})

test('skipped values must be valid JSON', async () => {
  const broken = ['"\\x"', '"\\u12g4"', '"\n"', '01', '1e', '-', 'tru', '[1,]', '{"a"}', '{"\\q":1}', '[}']
  for (const value of broken) {
    for (const around of [`{"other":${value}}`, `{"other":[{"a":${value}}]}`, `[${value}]`]) {
      await assert.rejects(read(around), /must be valid JSON/, around)
    }
  }
})

test('a disk error is thrown, and begun blobs are dropped', async () => {
  for (const failing of ['write', 'keep'] as const) {
    const memory = createMemory()
    const broken = new Error('no room')
    const fail = () => Promise.reject(broken)
    const beginBatch = (): BlobBatch => {
      const batch = memory.beginBatch()
      const begin = () => {
        const writer = batch.begin()
        if (memory.begun() <= 2) return writer
        return { ...writer, [failing]: () => writer.discard().then(fail) }
      }
      return { ...batch, begin }
    }
    const reader = openReader(beginBatch)
    const text = '"AA=="'
    await assert.rejects(reader.read(streamPieces([withBase64(text, text, text, text)])), broken)
    assert.equal(memory.live.size, 2, failing)
    await reader.discard()
    assert.equal(memory.live.size + reader.held(), 0, failing)
  }
})

test('an error of the body is thrown', async () => {
  const memory = createMemory()
  const reader = openReader(memory.beginBatch)
  const broken = new Error('the client went away')
  async function* cutOff() {
    yield Buffer.from('{"documents":[{"name":"a","mimetype":"a/b","base64":"AA=="},{"base64":"AAAAAAAA')
    throw broken
  }
  await assert.rejects(reader.read(cutOff()), broken)
  assert.equal(memory.begun(), 2)
  await reader.discard()
  assert.equal(reader.held(), 0)
})

test('the rest of a stream stays unread after a rejection', async () => {
  const body = Readable.from([Buffer.from('{"a":x'), Buffer.from('}'), Buffer.from(' ')])
  await assert.rejects(openReader().read(body), AppError)
  assert.equal(body.destroyed, false)
  assert.deepEqual(await body.toArray(), [Buffer.from('}'), Buffer.from(' ')])
})

test('the event loop runs while many documents are read', async () => {
  const body = Buffer.from(`{"documents":[${'{},'.repeat(500_000)}1]}`)
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 0)
  await openReader().read(streamPieces([body]))
  clearInterval(counting)
  assert.ok(turns >= 10, `${turns} turns`)
})

test('a body that is no object has no fields', async () => {
  for (const body of [
    '[]',
    '7',
    '"x"',
    'null',
    '[{"owner_id":1,"documents":[{"base64":"AA=="}]}]',
    '{"a":{"documents":[{"base64":"AA=="}]}}',
  ]) {
    assert.deepEqual(await read(body), nothing, body)
  }
})

test('a byte order mark is skipped, however it is cut, at the beginning and once', async () => {
  const mark = Buffer.from('\ufeff')
  const body = Buffer.concat([mark, Buffer.from(withBase64('"b2s="'))])
  for (let at = 0; at <= 5; at++) {
    assert.deepEqual(await readFiles(body.subarray(0, at), body.subarray(at)), one('ok'), `cut at ${at}`)
  }
  for (const wrong of ['\ufeff', '\ufeff\ufeff{}', ' \ufeff{}', '{\ufeff}', '{}\ufeff']) {
    await assert.rejects(read(wrong), /must be valid JSON/, JSON.stringify(wrong))
  }
})
