import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createBase64Decoder } from '../../../../src/formats/json/base64.ts'
import { scaled } from '../../../faults/scale.ts'
import { fc } from '../../../support/fast-check.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Slow decoder of decisions#base64. */
function decodeSlowly(text: string): Buffer | undefined {
  const chars = text.replaceAll(/[\r\n]/g, '')
  if (chars.length % 4 !== 0) return undefined
  const bytes: number[] = []
  for (let at = 0; at < chars.length; at += 4) {
    const quantum = chars.slice(at, at + 4)
    const characters = quantum.replace(/={1,2}$/, '')
    if (characters.length < 4 && at + 4 < chars.length) return undefined
    let bits = 0
    for (const char of characters.padEnd(4, 'A')) {
      const value = ALPHABET.indexOf(char)
      if (value < 0) return undefined
      bits = bits * 64 + value
    }
    bytes.push(...[bits >> 16, (bits >> 8) & 255, bits & 255].slice(0, characters.length - 1))
  }
  return Buffer.from(bytes)
}

function decode(pieces: Buffer[]): Buffer | undefined {
  const decoder = createBase64Decoder()
  const decoded: Buffer[] = []
  for (const piece of pieces) {
    const bytes = decoder.decode(piece)
    if (bytes === undefined) {
      assert.equal(decoder.complete(), false)
      return undefined
    }
    decoded.push(Buffer.from(bytes))
  }
  return decoder.complete() ? Buffer.concat(decoded) : undefined
}

function cut(text: string, cuts: number[]): Buffer[] {
  const bytes = Buffer.from(text, 'latin1')
  const edges = [0, ...cuts.map((c) => c % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return edges.slice(1).map((end, i) => bytes.subarray(edges[i], end))
}

const accepted: [string, string][] = [
  ['', ''],
  ['Zg==', 'f'],
  ['Zm8=', 'fo'],
  ['Zm9v', 'foo'],
  ['Zm9vYg==', 'foob'],
  ['Zm9v\r\nYmFy', 'foobar'],
  ['\nZ\nm\r9\r\nv\n', 'foo'],
  ['Zg=\r\n=', 'f'],
  ['Zg\n==\r\n\r\n', 'f'],
  ['\r\n', ''],
  ['Zh==', 'f'], // bits under the padding are ignored
  ['Zm9=', 'fo'],
]
const refused = [
  'Z',
  'Zg',
  'Zg=',
  'Zm8',
  'Zm9vY',
  '=',
  '==',
  '====',
  'Z===',
  'Zm9v=',
  'Zm9v====',
  'Zg==Zg==',
  'Zg==Z',
  'Zg===',
  'Zm8==',
  'Zg==\n=',
  'Zm=v',
  'Z=9v',
  '=m9v',
  'Zm9 v',
  ' Zm9v',
  'Zm9v ',
  'Zg== ',
  'Zm\t9v',
  'Zm9v\t',
  'Zm\f9v',
  'Zm\v9v',
  'Zm9v\0',
  'Z\u00009v',
  'Zm9-',
  'Zm9_',
  'Zm9,',
  'Zm\u00a09',
  'Zm9\u00ff',
  'data:text/plain;base64,Zm9v',
  'Zm9v%3D',
  'Zm 9v',
]

test('base64 decoder accepts the standard alphabet with padding and line breaks', () => {
  for (const [text, plain] of accepted) {
    assert.equal(decode(cut(text, []))?.toString(), plain, JSON.stringify(text))
    assert.equal(decodeSlowly(text)?.toString(), plain)
  }
})

test('base64 decoder rejects any other text', () => {
  for (const text of refused) {
    assert.equal(decode(cut(text, [])), undefined, JSON.stringify(text))
    assert.equal(decodeSlowly(text), undefined)
  }
})

test('base64 decoder has the same result for any split in two or three', () => {
  for (const text of [...accepted.map(([text]) => text), ...refused]) {
    const expected = decodeSlowly(text)
    for (let i = 0; i <= text.length; i++) {
      for (let j = i; j <= text.length; j++) assert.deepEqual(decode(cut(text, [i, j])), expected, text)
    }
  }
})

test('base64 decoder rejects each byte outside the alphabet at each index of a long text', () => {
  const text = Buffer.from('x'.repeat(150)).toString('base64') // 200 characters, no padding
  for (let byte = 0; byte < 256; byte++) {
    const char = String.fromCharCode(byte)
    for (const at of [0, 1, 63, 64, 65, 130, 197, 198, 199]) {
      const mutant = text.slice(0, at) + char + text.slice(at + 1)
      assert.deepEqual(decode(cut(mutant, [])), decodeSlowly(mutant), `byte ${byte} at ${at}`)
    }
  }
})

test('base64 decoder agrees with the slow decoder on any bytes, line breaks, mutations and splits', () => {
  const mutation = fc.record({
    at: fc.nat(2000),
    char: fc.constantFrom(
      '',
      '=',
      '==',
      ' ',
      '\t',
      '\f',
      '\r',
      '\n',
      '\r\n',
      '-',
      '_',
      'A',
      '+',
      '/',
      '\0',
      'ÿ',
    ),
    instead: fc.boolean(),
  })
  const cases = fc.record({
    bytes: fc.uint8Array({ maxLength: 600 }),
    width: fc.nat(90),
    mutations: fc.array(mutation, { maxLength: 3 }),
    cuts: fc.array(fc.nat(1500), { maxLength: 5 }),
  })
  fc.assert(
    fc.property(cases, ({ bytes, width, mutations, cuts }) => {
      let text = Buffer.from(bytes).toString('base64')
      if (width > 0) text = text.replaceAll(new RegExp(`.{${width}}`, 'g'), '$&\r\n')
      for (const { at, char, instead } of mutations) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + char + text.slice(place + (instead ? 1 : 0))
      }
      assert.deepEqual(decode(cut(text, cuts)), decodeSlowly(text))
    }),
    { numRuns: scaled({ short: 400, long: 3000 }) },
  )
})

test('base64 decoder agrees with the slow decoder on short texts of special characters', () => {
  const text = fc.string({
    unit: fc.constantFrom('A', 'b', '/', '=', '=', '\n', '\r', ' ', '-'),
    maxLength: 12,
  })
  fc.assert(
    fc.property(text, fc.array(fc.nat(12), { maxLength: 3 }), (chars, cuts) => {
      assert.deepEqual(decode(cut(chars, cuts)), decodeSlowly(chars))
    }),
    { numRuns: scaled({ short: 700, long: 10_000 }) },
  )
})

test('base64 decoder rejects each piece after the first invalid one', () => {
  const decoder = createBase64Decoder()
  assert.equal(decoder.decode(Buffer.from('Zm 9')), undefined)
  assert.equal(decoder.decode(Buffer.from('Zm9v')), undefined)
  assert.equal(decoder.complete(), false)
})

test('base64 decoder decodes megabytes in uneven pieces', () => {
  const bytes = Buffer.alloc(3_000_001, 'cambista')
  const text = bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n')
  const cuts = Array.from({ length: 200 }, (_, i) => i * 20_011 + (i % 7))
  assert.equal(decode(cut(text, cuts))?.equals(bytes), true)
})
