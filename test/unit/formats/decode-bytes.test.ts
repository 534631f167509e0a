import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { decodeBytes, decodeName, findCharset } from '../../../src/formats/decode-bytes.ts'
import { areEncodedWords, decodeWords } from '../../../src/formats/encoded-words.ts'

const bytes = (text: string) => Buffer.from(text, 'latin1')
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()

test('decodeBytes reads valid UTF-8, whatever is declared', () => {
  for (const charset of [
    undefined,
    'UTF-8',
    'iso-8859-1',
    'windows-1252',
    'cp850',
    'big5',
    'x-unheard-of',
    '',
  ])
    assert.equal(
      decodeBytes(Buffer.from('Facturación Nº 5 €'), charset),
      'Facturación Nº 5 €',
      String(charset),
    )
})

test('decodeBytes reads other bytes as declared, else windows-1252', () => {
  const cases: [input: Buffer, charset: string | undefined, text: string][] = [
    [bytes('Facturaci\xf3n \x80'), undefined, 'Facturación €'],
    [bytes('Facturaci\xf3n \x80'), 'UTF-8', 'Facturación €'],
    [bytes('Facturaci\xf3n \x80'), 'ISO_8859-1:1987', 'Facturación €'],
    [bytes('Facturaci\xf3n \xa4'), 'iso-8859-15', 'Facturación €'],
    [bytes('Facturaci\xa2n \xa4'), 'cp850', 'Facturación ñ'],
    [bytes('\xb5\xd5'), 'IBM850', 'Áı'],
    [bytes('\xb5\xd5'), 'cp858', 'Á€'],
    [bytes('\xb5\xd5'), 'CP437', '╡╒'],
    [bytes('\xa2\xff'), 'csPC8CodePage437', 'ó\u00a0'],
    [bytes('\xf4\xe5'), 'koi8-r', 'ТЕ'],
    [bytes('\x90\xbf\x8b\x81'), 'cp932', '請求'],
    [bytes('\xff\xfeab'), undefined, 'ÿþab'],
    [bytes('\xc3'), 'UTF-8', 'Ã'], // half a character
    [bytes('\x90'), 'shift_jis', '\x90'], // half a character
    [bytes('\xf3'), 'x-unheard-of', 'ó'],
  ]
  for (const [input, charset, text] of cases) assert.equal(decodeBytes(input, charset), text, String(charset))
})

test('the tables of DOS are those of Python', () => {
  const bytes = Buffer.from(Array.from({ length: 128 }, (_, at) => at + 128))
  const sums = { cp437: '6395cab87eae09bf', cp850: '4ca3112428df72e8', cp858: '91d24582be31b95d' }
  for (const [charset, sum] of Object.entries(sums)) {
    const text = decodeBytes(bytes, charset)
    assert.equal(createHash('sha256').update(text).digest('hex').slice(0, 16), sum, charset)
  }
})

test('decodeBytes reads UTF-16 by its mark or as declared', () => {
  const text = 'Código\tñ 請'
  const [little, big] = [Buffer.from(text, 'utf16le'), utf16be(text)]
  assert.equal(decodeBytes(Buffer.concat([bytes('\xff\xfe'), little])), text)
  assert.equal(decodeBytes(Buffer.concat([bytes('\xfe\xff'), big]), 'utf-8'), text)
  assert.equal(decodeBytes(Buffer.concat([bytes('\xfe\xff'), big]), 'UTF-16'), text)
  assert.equal(decodeBytes(little, 'UTF-16LE'), text)
  assert.equal(decodeBytes(big, 'utf-16be'), text)
  assert.equal(decodeBytes(bytes('\xff\xfe\x2d\x4e'), 'utf-16'), '中') // without a zero byte
  for (const half of [bytes('\xff\xfea\0b'), bytes('\xff\xfe\0\xd8a\0')])
    assert.ok(!decodeBytes(half, 'utf-16').includes('\ufffd'))
})

test('decodeBytes reads ASCII bytes as declared in ISO-2022-JP alone', () => {
  const invoice = bytes('\x1b$B@A5a=q\x1b(B.pdf')
  assert.equal(decodeBytes(invoice, 'ISO-2022-JP'), '請求書.pdf')
  assert.equal(decodeBytes(invoice, 'cp50220'), '請求書.pdf')
  assert.equal(decodeBytes(Buffer.from('請 \x1b$B'), 'ISO-2022-JP'), '請 \x1b$B')
  for (const charset of ['utf-7', 'hz-gb-2312', 'iso-2022-kr', 'utf-8', undefined])
    assert.equal(
      decodeBytes(bytes('Facturaci+APM-n ~{<:~}'), charset),
      'Facturaci+APM-n ~{<:~}',
      String(charset),
    )
})

test('decodeName replaces the unassigned bytes of windows-1252 alone', () => {
  assert.equal(decodeName(bytes('a\x81\x8d\x8f\x90\x9d\xf3.pdf')), 'a_____ó.pdf')
  assert.equal(decodeName(bytes('a\x81\xf3'), 'latin1'), 'a_ó')
  assert.equal(decodeName(Buffer.from('a\x81ó')), 'a\x81ó')
  assert.equal(decodeBytes(bytes('a\x81\xf3')), 'a\x81ó')
})

test('findCharset finds the labels that mails have', () => {
  const labels: Record<string, string> = {
    ...{
      'ISO-8859-1': 'windows-1252',
      "iso-8859-1*es'": 'windows-1252',
      Cp1252: 'windows-1252',
      ASCII: 'windows-1252',
    },
    ...{
      windows1252: 'windows-1252',
      'x-ms-cp932': 'shift_jis',
      'x-euc-jp': 'euc-jp',
      cp949: 'euc-kr',
      UTF8: 'utf-8',
    },
    ...{
      ISO8859_1: 'windows-1252',
      'windows-1250': 'windows-1250',
      cp850: 'cp850',
      'IBM-437': 'cp437',
      437: 'cp437',
    },
    ...{
      cspc850multilingual: 'cp850',
      'tis-620': 'windows-874',
      junet: 'iso-2022-jp',
      gb2312: 'gbk',
      big5: 'big5',
    },
  }
  for (const [label, name] of Object.entries(labels)) assert.equal(findCharset(label), name, label)
  for (const label of ['', 'x', 'utf-7', 'hz-gb-2312', '__proto__', 'constructor', '850850'])
    assert.equal(findCharset(label), undefined, label)
})

test('decodeWords joins the bytes of adjacent words of a charset', () => {
  const text = 'Facturación.pdf'
  const base64 = Buffer.from(text).toString('base64')
  const words = (...pieces: string[]) => pieces.map((piece) => `=?UTF-8?B?${piece}?=`).join(' ')
  const half = Buffer.from(text).subarray(0, 10).toString('base64')
  const rest = Buffer.from(text).subarray(10).toString('base64')
  const bare = (padded: string) => padded.replace(/=+$/, '')
  assert.equal(decodeWords(words(half, rest)), text)
  assert.equal(decodeWords(words(bare(half), bare(rest))), text)
  for (let at = 1; at < base64.length - 1; at++)
    assert.equal(decodeWords(words(base64.slice(0, at), base64.slice(at))), text, `${at}`)
  const others = {
    'a =?utf-8?q?=C3?==?UTF8?B?sw==?= b': 'a ó b',
    'a =?utf-8?q?=C3?=\r\n\t=?UTF-8*es?B?sw==?= b': 'a ó b',
    '=?cp850?Q?Facturaci=A2n_=A4.pdf?=': 'Facturación ñ.pdf',
    '=?iso-8859-1?Q?=F3?= =?cp850?Q?=A2?= y =?utf-8?Q?=F3?=': 'óó y ó',
    '=?iso-8859-1?Q?=C3=B3?=': 'ó', // bytes that are UTF-8
    '=?x-unheard-of?Q?=F3=?=': 'ó=',
    '=?utf-8?Q?Facturación_=C3=B3?=': 'Facturación ó',
    '=?utf-8?X?=F3?= =?no words?= =?a?q?b': '=?utf-8?X?=F3?= =?no words?= =?a?q?b',
  }
  for (const [words, text] of Object.entries(others)) assert.equal(decodeWords(words), text, words)
})

test('areEncodedWords accepts nothing but words, at most 45', () => {
  const word = '=?x?Q?a?='
  for (const text of [word, `${word} ${word}`, word.repeat(45)]) assert.ok(areEncodedWords(text))
  for (const text of ['', 'a', `a${word}`, `${word} a`, ` ${word}`, word.repeat(46)])
    assert.ok(!areEncodedWords(text))
})
