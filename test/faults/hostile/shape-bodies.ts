// Bodies of requests by hostile and broken clients: XML that expands, other encodings, sizes up to the limit and
// above.

import type { Random } from '../../support/rates/random-bank.ts'
import { DATES, type ShapeRequest, splice } from './shape-requests.ts'

const LAUGHS = Array.from({ length: 9 }, (_, at) => `<!ENTITY l${at + 1} "${`&l${at};`.repeat(10)}">`).join(
  '',
)
const TYPES = [
  '<!DOCTYPE x>',
  '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>',
  '<!DOCTYPE x [<!ENTITY % p SYSTEM "http://127.0.0.1:1/"> %p;]>',
  `<!DOCTYPE x [<!ENTITY l0 "ha">${LAUGHS}]>`,
]
const MARKUP = [
  ...'&l9; &a; &#0; &#x110000; &#xD800; &amp;amp; & < > <![CDATA[ ]]> <!-- --> <x </x> <x/> <a:b/> \0'.split(
    ' ',
  ),
  ...'<Token>other</Token> <Indicador>318</Indicador> xmlns="" &Token=x %00 % \u00ff'.split(' '),
  ...['<?pi x?>', '<x a=1/>', '<x a="&l9;"/>', '<xmlns:xmlns xmlns:xmlns=""/>'],
]
const SIZES = [65_535, 65_536, 65_537, 200_000, 30_000]

/** Replaces the body of a request. */
export function changeBody(random: Random, request: ShapeRequest): ShapeRequest {
  const bytes = request.body ?? Buffer.from('<a/>')
  const text = bytes.toString()
  const bodyStart = () => text.indexOf('<s:Body>') + 8
  const changes: (() => string | Buffer)[] = [
    () => text.replace('?>', `?>${random.item(TYPES)}`).replace('>318<', '>&l9;<'),
    () => splice(random, text, 0, random.item(MARKUP)),
    () => splice(random, text, random.int(0, 20), random.item(MARKUP)),
    () => text.replaceAll(/\d+\/\d+\/\d+/g, () => random.item(DATES)),
    () => text.slice(0, random.int(0, text.length)),
    () => insertNested(text, bodyStart(), random.int(1, 7000)),
    () => text.slice(0, bodyStart()) + '<a/>'.repeat(random.int(1, 15_000)) + text.slice(bodyStart()),
    () => text.slice(0, bodyStart()) + attributes(random.int(1, 9000)) + text.slice(bodyStart()),
    () =>
      text.slice(0, bodyStart()) +
      ' '.repeat(Math.max(0, random.item(SIZES) - text.length)) +
      text.slice(bodyStart()),
    () => text + '&a=b'.repeat(Math.floor(random.item(SIZES) / 4)),
    () => Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]),
    () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]),
    () => Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, 'utf16le').swap16()]),
    () => Buffer.from(text, 'utf16le'),
    () =>
      Buffer.from(
        text.replace('utf-8', random.item(['utf-7', 'iso-8859-1', 'ebcdic', 'utf-32', '"'])),
        'latin1',
      ),
    () => insertBytes(random, bytes),
    () => Buffer.from(Array.from({ length: random.int(0, 400) }, () => random.int(0, 255))),
  ]
  const newBody = random.item(changes)()
  return { ...request, body: typeof newBody === 'string' ? Buffer.from(newBody) : newBody }
}

function insertNested(text: string, at: number, depth: number): string {
  return `${text.slice(0, at)}${'<a>'.repeat(depth)}${'</a>'.repeat(depth)}${text.slice(at)}`
}

/** Inserts bytes that are not valid UTF-8. */
function insertBytes(random: Random, bytes: Buffer): Buffer {
  const insertion = random.item([
    [0xc0, 0xbc],
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xff],
    [0xe0, 0x80, 0xaf],
    [0],
  ])
  const at = random.int(0, bytes.length)
  return Buffer.concat([bytes.subarray(0, at), Buffer.from(insertion), bytes.subarray(at)])
}

function attributes(count: number): string {
  return `<a ${'b="c" '.repeat(count)}/>`
}
