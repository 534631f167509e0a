import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { NESTED } from '../../src/domain/upload.ts'
import { AppError } from '../../src/errors.ts'
import { readUpload } from '../../src/http/upload-body.ts'
import {
  arriving,
  base64,
  type Content,
  createMemory,
  nothing,
  read,
  TRICKY,
  TRICKY_READ,
} from '../support/uploads.ts'

const one = (content: Content) => [{ name: 'a.txt', mimetype: 'text/plain', content }]
const withBase64 = (value: string) =>
  `{"owner_id":1,"company_id":2,"agent_id":3,"documents":[{"name":"a.txt","mimetype":"text/plain","base64":${value}}]}`

test('reads the fields and the content of documents', async () => {
  assert.deepEqual(await read(withBase64(`"${base64('hello')}"`)), {
    owner_id: 1,
    company_id: 2,
    agent_id: 3,
    documents: one('hello'),
  })
})

test('reads fields in any order, with repeated, unknown and nested ones', async () => {
  assert.deepEqual(await read(TRICKY), TRICKY_READ)
})

test('reads the same wherever the body is cut, and byte by byte', async () => {
  const body = Buffer.from(TRICKY)
  for (let at = 0; at <= body.length; at++) {
    assert.deepEqual(await read(body.subarray(0, at), body.subarray(at)), TRICKY_READ, `cut at ${at}`)
  }
  assert.deepEqual(await read(...[...body].map((byte) => Buffer.from([byte]))), TRICKY_READ)
})

test('takes escapes and line breaks inside base64', async () => {
  const texts: [string, string][] = [
    ['"Zm9v\\r\\nYmFy\\n"', 'foobar'],
    ['"\\u005am9\\u0076"', 'foo'],
    ['"\\u002F\\u002b\\/\\u002B"', Buffer.from('/+/+', 'base64').toString()],
    ['"Zg\\u003d\\u003D"', 'f'],
  ]
  for (const [text, content] of texts) {
    for (let at = 0; at <= text.length; at++) {
      const [head, tail] = withBase64('|').split('|') as [string, string]
      const seen = await read(head + text.slice(0, at), text.slice(at) + tail)
      assert.deepEqual(seen.documents, one(content), text)
    }
  }
})

test('marks a document whose content is not base64 and reads on', async () => {
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
    const body = `{"documents":[{"base64":"${text}"},{"base64":"b2s="},{"base64":"${base64('x'.repeat(99))}${text}"}]}`
    const seen = await read(body)
    const contents = (seen.documents as { content: Content }[]).map((document) => document.content)
    assert.deepEqual(contents, [{ problem: 'not base64' }, 'ok', { problem: 'not base64' }], text)
  }
})

test('keeps plain values as they were sent and an empty array as missing', async () => {
  const values: [string, unknown][] = [
    ['9007199254740993', 9007199254740992],
    ['-0', -0],
    ['1e400', Infinity],
    ['"7"', '7'],
    ['""', ''],
    ['true', true],
    ['null', null],
    ['[]', undefined],
    ['[ ]', undefined],
    ['{}', NESTED],
    ['[1]', NESTED],
    ['"\\ud800"', '\ud800'],
  ]
  for (const [text, value] of values) {
    assert.deepEqual(await read(`{"owner_id":${text}}`), { ...nothing, owner_id: value }, text)
    const documents = text.startsWith('[')
      ? value === undefined
        ? []
        : [{ name: undefined, mimetype: undefined, content: undefined }]
      : value
    assert.deepEqual(await read(`{"documents":${text}}`), { ...nothing, documents }, text)
  }
})

test('drops what a later value of the same key replaces', async () => {
  const first = '"documents":[{"base64":"b25l"},{"base64":"dHdv"}]'
  assert.deepEqual((await read(`{${first},"documents":[{"base64":"b2s="}]}`)).documents, [
    { name: undefined, mimetype: undefined, content: 'ok' },
  ])
  for (const later of ['null', '7', '[]', '{"documents":[{"base64":"b2s="}]}']) {
    await read(`{${first},"documents":${later}}`) // checks that no blob is left
  }
})

test('does not count content against the bounds', async () => {
  const text = 'cambista'.repeat(1_500_000)
  const seen = await read(withBase64(`"${base64(text)}"`))
  assert.equal((seen.documents as { content: string }[])[0]?.content === text, true)
})

test('passes a failure of the sink on and drops what was begun', async () => {
  for (const failing of ['beginBlob', 'write', 'finish'] as const) {
    const memory = createMemory()
    const broken = new Error('no room')
    const fail = () => Promise.reject(broken)
    const beginBlob = async () => {
      if (memory.begun() < 2) return memory.beginBlob()
      if (failing === 'beginBlob') return fail()
      const writer = await memory.beginBlob()
      const finish = () => writer.discard().then(fail)
      return failing === 'write' ? { ...writer, write: fail } : { ...writer, finish }
    }
    const body = `{"documents":[{"base64":"AA=="},{"base64":"AA=="},{"base64":"AA=="},{"base64":"AA=="}]}`
    await assert.rejects(readUpload(arriving([Buffer.from(body)]), beginBlob), broken)
    assert.equal(memory.live.size, 0, failing)
  }
})

test('passes a failure of the body on and drops what was begun', async () => {
  const memory = createMemory()
  const broken = new Error('the client went away')
  async function* cutOff() {
    yield Buffer.from('{"documents":[{"base64":"AA=="},{"base64":"AAAAAAAA')
    throw broken
  }
  await assert.rejects(readUpload(cutOff(), memory.beginBlob), broken)
  assert.equal(memory.begun(), 2)
  assert.equal(memory.live.size, 0)
})

test('leaves the rest of a stream to be read when it refuses what came', async () => {
  const body = Readable.from([Buffer.from('{"a":x'), Buffer.from('}'), Buffer.from(' ')])
  await assert.rejects(readUpload(body, createMemory().beginBlob), AppError)
  assert.equal(body.destroyed, false)
  assert.deepEqual(await body.toArray(), [Buffer.from('}'), Buffer.from(' ')])
})

test('holds no more than a few blocks of a large body', async () => {
  const block = Buffer.from(base64('0123456789ab'.repeat(8192)))
  async function* large() {
    yield Buffer.from('{"documents":[{"base64":"')
    for (let sent = 0; sent < 300_000_000; sent += block.length) yield Buffer.from(block)
    yield Buffer.from('"}]}')
  }
  let size = 0
  let peak = 0
  const discard = async () => {}
  const before = process.memoryUsage().rss
  const upload = await readUpload(large(), async () => ({
    write(chunk) {
      size += chunk.length
      peak = Math.max(peak, process.memoryUsage.rss())
      return undefined
    },
    finish: async () => ({ sha256: '', size, path: '', sync: async () => {}, discard }),
    discard,
  }))
  assert.ok(Array.isArray(upload.documents))
  assert.ok(size > 225_000_000)
  assert.ok(peak - before < 100_000_000, `memory rose by ${peak - before} bytes`)
})

test('has no fields where the body is no object', async () => {
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
