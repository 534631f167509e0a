// Random names in each way that programs send them, by mail and as forms. A name comes back as it is, unless its bytes
// are the UTF-8 of another name: then that one. CAMBISTA_TORTURE=long tries a thousand of each.

import assert from 'node:assert/strict'
import { isUtf8 } from 'node:buffer'
import { before, type TestContext, test } from 'node:test'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { startTestApp, type TestApp } from '../../../support/app.ts'
import { fillDirectory, post } from '../../../support/directory.ts'
import { createMail } from '../../../support/documents/mails.ts'
import { FORM_TYPE, formBody, part, SEND } from '../../../support/documents/ways.ts'
import { fc } from '../../../support/fast-check.ts'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await fillDirectory(app)
})

type Encoded = { name: string; bytes: Buffer }
/** Writes the parameter of a name; `cuts` are places between 0 and 1. */
type Way = (bytes: Buffer, charset: string, cuts: readonly number[]) => string

const NAMES = 30
const RUNS = process.env.CAMBISTA_TORTURE === 'long' ? 33 : 1
const END = Buffer.from('.pdf')
const IS_PLAIN = /^[\p{L}\p{M}\p{N}\p{S}.,;:()&#-]$/u
const DOS = {
  // Lower halves of the tables of the code pages, without their drawings.
  cp850: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»',
  cp437: 'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»',
}

/** Names of a charset with a byte a character. */
function singleBytes(charset: string): fc.Arbitrary<Encoded> {
  const dos = DOS[charset as keyof typeof DOS]
  const decoder = dos === undefined ? new TextDecoder(charset) : undefined
  const letter = (byte: number) =>
    decoder?.decode(Uint8Array.of(byte)) ??
    (byte < 128 ? String.fromCharCode(byte) : (dos?.[byte - 128] ?? ''))
  const letters = Array.from({ length: 256 }, (_, byte) => ({ byte, text: letter(byte) }))
  const plain = letters.filter(({ text }) => IS_PLAIN.test(text))
  return fc.array(fc.constantFrom(...plain), { minLength: 1, maxLength: 20 }).map((list) => ({
    name: `${list.map(({ text }) => text).join('')}.pdf`,
    bytes: Buffer.concat([Buffer.from(list.map(({ byte }) => byte)), END]),
  }))
}

/** Kanji by their row and cell, with the bytes that a charset has for them. */
function japanese(
  encode: (row: number, cell: number) => number[],
  [before, after] = ['', ''],
): fc.Arbitrary<Encoded> {
  const kanji = fc.tuple(fc.integer({ min: 0x30, max: 0x4e }), fc.integer({ min: 0x21, max: 0x7e }))
  return fc.array(kanji, { minLength: 1, maxLength: 8 }).map((list) => ({
    name: `${new TextDecoder('euc-jp').decode(Buffer.from(list.flat().map((byte) => byte | 0x80)))}.pdf`,
    bytes: Buffer.from(
      `${before}${Buffer.from(list.flatMap(([row, cell]) => encode(row, cell))).toString('latin1')}${after}.pdf`,
      'latin1',
    ),
  }))
}

const unicode = fc
  .array(fc.constantFrom(...'Factura óñÑüÇß€“”…中国語請求書Ελ Жщ 😀🧾אבगि'), { minLength: 1, maxLength: 20 })
  .map((letters) => letters.join('').trim().replace(/ +/g, ' ') || 'x')
const shiftJis = (row: number, cell: number) => [
  ((row + 1) >> 1) + (row < 0x5f ? 0x70 : 0xb0),
  row % 2 ? cell + (cell < 0x60 ? 0x1f : 0x20) : cell + 0x7e,
]
const CHARSETS: Record<string, fc.Arbitrary<Encoded>> = {
  'utf-8': unicode.map((name) => ({ name: `${name}.pdf`, bytes: Buffer.from(`${name}.pdf`) })),
  'utf-16': unicode.map((name) => ({
    name: `${name}.pdf`,
    bytes: Buffer.from(`\ufeff${name}.pdf`, 'utf16le').swap16(),
  })),
  'iso-2022-jp': japanese((row, cell) => [row, cell], ['\x1b$B', '\x1b(B']),
  'euc-jp': japanese((row, cell) => [row | 0x80, cell | 0x80]),
  shift_jis: japanese(shiftJis),
  ...Object.fromEntries(
    ['iso-8859-1', 'iso-8859-15', 'koi8-r', 'cp850', 'cp437'].map((one) => [one, singleBytes(one)]),
  ),
}
const WORDS = Object.keys(CHARSETS)

/** Cuts bytes, or characters of base64, at these places. */
function cut<T extends Buffer | string>(whole: T, cuts: readonly number[]): T[] {
  const places = [0, ...cuts.map((one) => Math.floor(one * whole.length)).sort((a, b) => a - b), whole.length]
  return places
    .slice(1)
    .map((end, at) => whole.slice(places[at], end) as T)
    .filter(({ length }) => length > 0)
}

const latin1 = (bytes: Buffer) => bytes.toString('latin1')
const hex = (bytes: Buffer, sign: string) =>
  latin1(bytes).replace(
    /[^\w.-]|_/gs,
    (one) => `${sign}${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
const words = (pieces: string[], charset: string, encoding: string) =>
  `filename="${pieces.map((piece) => `=?${charset}?${encoding}?${piece}?=`).join(' ')}"`
const base64 = (bytes: Buffer) => bytes.toString('base64')

const BY_MAIL: Record<string, { charsets: string[]; way: Way }> = {
  'raw bytes': { charsets: ['utf-8', 'iso-8859-1'], way: (bytes) => `filename="${latin1(bytes)}"` },
  'a word in base64': { charsets: WORDS, way: (bytes, charset) => words([base64(bytes)], charset, 'B') },
  'a word in Q': { charsets: WORDS, way: (bytes, charset) => words([hex(bytes, '=')], charset, 'Q') },
  'words in base64, cut within characters': {
    charsets: WORDS,
    way: (bytes, charset, cuts) => words(cut(bytes, cuts).map(base64), charset, 'b'),
  },
  'words in base64 without padding': {
    charsets: WORDS,
    way: (bytes, charset, cuts) =>
      words(
        cut(bytes, cuts).map((one) => base64(one).replace(/=+$/, '')),
        charset,
        'B',
      ),
  },
  'words that cut base64': {
    charsets: WORDS,
    way: (bytes, charset, cuts) => words(cut(base64(bytes), cuts.slice(0, 1)), charset, 'B'),
  },
  'words in Q, cut within characters': {
    charsets: WORDS,
    way: (bytes, charset, cuts) =>
      words(
        cut(bytes, cuts).map((one) => hex(one, '=')),
        charset,
        'q',
      ),
  },
  'words in base64 and Q by turns': {
    charsets: WORDS,
    way: (bytes, charset, cuts) => {
      const pieces = cut(bytes, cuts).map((one, at) => (at % 2 ? `Q?${hex(one, '=')}` : `B?${base64(one)}`))
      return `filename="${pieces.map((piece) => `=?${charset}?${piece}?=`).join('\r\n\t')}"`
    },
  },
  'raw bytes in Content-Type': {
    charsets: ['utf-8', 'iso-8859-1'],
    way: (bytes) => `name="${latin1(bytes)}"`,
  },
  'a word in Content-Type': {
    charsets: WORDS,
    way: (bytes, charset) => `name="=?${charset}?B?${base64(bytes)}?="`,
  },
  'filename*': { charsets: WORDS, way: (bytes, charset) => `filename*=${charset}''${hex(bytes, '%')}` },
  'filename* in pieces': {
    charsets: WORDS,
    way: (bytes, charset, cuts) =>
      cut(bytes, cuts)
        .map((one, at) => `filename*${at}*=${at === 0 ? `${charset}''` : ''}${hex(one, '%')}`)
        .reverse()
        .join('; '),
  },
}

const BY_FORM: typeof BY_MAIL = {
  'a word without quotes': {
    charsets: WORDS,
    way: (bytes, charset) => `filename==?${charset}?B?${base64(bytes)}?=`,
  },
  'raw bytes': { charsets: ['utf-8', 'iso-8859-1'], way: (bytes) => `filename="${latin1(bytes)}"` },
  'a word in base64': { charsets: WORDS, way: (bytes, charset) => words([base64(bytes)], charset, 'B') },
  'words in Q, cut within characters': BY_MAIL['words in Q, cut within characters'] as {
    charsets: string[]
    way: Way
  },
  'filename*': {
    charsets: WORDS,
    way: (bytes, charset) => `filename*=${charset}'es'${hex(bytes, '%')}; filename="x"`,
  },
  'filename* in quotes': {
    charsets: WORDS,
    way: (bytes, charset) => `filename*="${charset}''${hex(bytes, '%')}"`,
  },
  'filename* with quotes within': {
    charsets: WORDS,
    way: (bytes, charset) => `filename*=${charset}''"${hex(bytes, '%')}"`,
  },
}

/** Returns the name that a reader has for bytes: those that are UTF-8 are the name of that. */
function expectedName({ name, bytes }: Encoded, charset: string): string {
  const isFirst = charset === 'utf-16' || charset === 'iso-2022-jp'
  return !isFirst && isUtf8(bytes) ? bytes.toString() : name
}

async function readByMail(parameters: readonly string[]): Promise<string[]> {
  const parts = parameters.map((parameter, at) => {
    const isOfType = parameter.startsWith('name')
    const [type, disposition] = isOfType ? [`; {${at}}`, ''] : ['', `; {${at}}`]
    return { type: `application/pdf${type}`, disposition: `attachment${disposition}`, content: 'x' }
  })
  const mail = latin1(createMail(parts)).replace(/\{(\d+)\}/g, (_, at) => parameters[Number(at)] as string)
  const contents = await readMail(new Uint8Array(Buffer.from(mail, 'latin1')).buffer)
  return 'parts' in contents ? contents.parts.map(({ name }) => name) : [contents.refused]
}

async function readByForm(parameters: readonly string[]): Promise<string[]> {
  const ids = ['company_id', 'agent_id', 'owner_id'].map((id) => part(`name="${id}"`, '', '1'))
  const files = parameters.map((_, at) => part(`name="f"; {${at}}`, '', 'x'))
  const form = latin1(formBody(...ids, ...files)).replace(
    /\{(\d+)\}/g,
    (_, at) => parameters[Number(at)] as string,
  )
  const response = await post(app, SEND, Buffer.from(form, 'latin1'), { 'content-type': FORM_TYPE })
  const answer = (await response.json()) as { message: string; created_documents?: { name: string }[] }
  return answer.created_documents?.map(({ name }) => name) ?? [JSON.stringify(answer)]
}

const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 3 })
const READERS = [
  { door: 'mail', ways: BY_MAIL, read: readByMail },
  { door: 'form', ways: BY_FORM, read: readByForm },
]
for (const { door, ways, read } of READERS) {
  for (const [title, { charsets, way }] of Object.entries(ways)) {
    test(`${door}: names come back from ${title}`, async () => {
      let exceptions = 0
      for (const charset of charsets) {
        const names = CHARSETS[charset] as fc.Arbitrary<Encoded>
        const cases = fc.array(fc.tuple(names, cuts), { minLength: NAMES, maxLength: NAMES })
        await fc.assert(
          fc.asyncProperty(cases, async (list) => {
            const other = Buffer.from('Facturación Ñ.pdf') // its bytes are another name of most charsets
            const encoded = [
              ...list.map(([one]) => one),
              { name: other.toString(charset === 'utf-8' ? 'utf8' : 'latin1'), bytes: other },
            ]
            const all = charset === 'utf-16' || charset === 'iso-2022-jp' ? encoded.slice(0, -1) : encoded
            const expected = all.map((one) => expectedName(one, charset))
            exceptions += all.filter((one, at) => one.name !== expected[at]).length
            assert.deepEqual(
              await read(all.map(({ bytes }, at) => way(bytes, charset, list[at]?.[1] ?? [0.5]))),
              expected,
              charset,
            )
          }),
          { numRuns: RUNS },
        )
      }
      assert.ok(exceptions > 0)
    })
  }
}
