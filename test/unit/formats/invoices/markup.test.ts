// Invoices that are not well-formed XML. Each kind is a fault, in pieces of any size. Well-formed neighbors are read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInvoiceReader } from '../../../../src/formats/invoices/invoice.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createRandom } from '../../../support/rates/random-bank.ts'
import { SEED } from '../../../support/seed.ts'

const random = createRandom(SEED)

/** Reads a document in pieces. @param longest of a piece; pieces have random lengths */
function read(content: string | Uint8Array, longest: number) {
  const bytes = Buffer.from(content as string)
  const reader = createInvoiceReader()
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.int(1, longest)
    if (!reader.push(bytes.subarray(at, end))) break
    at = end
  }
  return reader.end()
}

const LENGTHS = [1, 2, 9, 80, 100_000]
const SAMPLE = sampleInvoice()
const ROOT = SAMPLE.slice(SAMPLE.indexOf('<Factura'))
const DECLARATION = SAMPLE.slice(0, SAMPLE.indexOf('?>') + 2)

/** The sample with a text instead of its first `<Emisor>`. */
const within = (text: string) => SAMPLE.replace('<Emisor>', () => text)
const inName = (text: string) => SAMPLE.replace('Acme S.A.', () => `Acme ${text} S.A.`)
const declared = (text: string) => text + ROOT
const utf16 = (text: string) => Buffer.from(`\ufeff${text}`, 'utf16le')

const FAULTS: Record<string, (string | Uint8Array)[]> = {
  'an attribute that stands twice': [
    within('<Emisor a="1" a="1">'),
    within("<Emisor a='1' b='2' a='3'>"),
    within('<x a="1" a="1"/><Emisor>'),
    SAMPLE.replace('xmlns=', 'xmlns:ds="http://www.w3.org/2000/09/xmldsig#" xmlns='),
  ],
  'attributes without a blank between them': [within('<Emisor a="1"b="2">')],
  'a slash within a tag': [
    within('<Emisor / a="1">'),
    within('<Emisor a="1"/ b="1">'),
    within('<x/ ><Emisor>'),
    within('<x//><Emisor>'),
  ],
  'an attribute without a value': [within('<Emisor a>'), within('<Emisor a b="1">'), within('<Emisor a=>')],
  'an attribute without quotes': [within('<Emisor a=b>')],
  'a stray < or & in an attribute': [
    within('<Emisor a="1<2">'),
    within('<Emisor a="1 & 2">'),
    within('<Emisor a="1 &c; 2">'),
    within('<Emisor a="&amp 2">'),
  ],
  'a blank before the name of an end tag': [
    SAMPLE.replace('</Clave>', '</ Clave>'),
    within('<x></\nx><Emisor>'),
  ],
  'an attribute in an end tag': [
    SAMPLE.replace('</Clave>', '</Clave a="1">'),
    SAMPLE.replace('</Clave>', '</Clave x>'),
    SAMPLE.replace('</Clave>', '</Clave/>'),
    SAMPLE.replace(/>\s*$/, ' x>'),
  ],
  'an end tag that is not closed': [
    SAMPLE.replace('</Clave>', '</Clave'),
    SAMPLE.replace(/>\s*$/, ' '),
    SAMPLE.replace(/>\s*$/, '\n<!-- x -->'),
  ],
  'text after the root': [
    'x',
    '\u00a0',
    '\ufeff',
    '&#32;',
    '&amp;',
    '<![CDATA[]]>',
    '<![CDATA[ ]]>',
    ']]>',
  ].map((text) => SAMPLE + text),
  'markup after the root that does not end': [
    '<!',
    '<!-',
    '<!-- x',
    '<!-- x--',
    '<!-- x --x',
    '<!DOCTYPE x',
    '<![CDATA[',
    '<?',
    '<?x',
    '<?x ?',
    '<x',
    '<x a',
    '<x a="',
    '</',
    '</x',
  ].map((text) => SAMPLE + text),
  ']]> in text': [
    inName(']]>'),
    inName(']]]]>'),
    within(']]><Emisor>'),
    within('<x>]]></x><Emisor>'),
    inName('<![CDATA[x]]>]]>'),
  ],
  'a stray & in text': [
    inName('& x'),
    inName('&c;'),
    inName('&amp'),
    inName('&#;'),
    inName('&#x;'),
    inName('&#65'),
    inName('&AMP;'),
  ],
  '-- in a comment': [
    within('<!-- a -- b --><Emisor>'),
    within('<!-- a ---><Emisor>'),
    within('<!-- a --!> b --><Emisor>'),
    within('<!----><!-----><Emisor>'),
    within('<!-- a --!><Emisor>'),
    declared(`${DECLARATION}<!-- a -- b -->`),
    `${SAMPLE}<!-- a -- b -->`,
  ],
  'a control character': [
    ...['\0', '\x01', '\x0b', '\x0c', '\x1f', '\ufffe', '\uffff'].flatMap((text) => [
      inName(text),
      inName(`<![CDATA[${text}]]>`),
      within(`<Emisor a="${text}">`),
      within(`<x>${text}</x><Emisor>`),
      within(`<!--${text}--><Emisor>`),
      within(`<?x ${text}?><Emisor>`),
      declared(`${DECLARATION}<!--${text}-->`),
      SAMPLE + text,
      utf16(inName(text)),
    ]),
    within('<Emisor\x0ca="1">'),
    within('<Emisor\x0c>'),
    within('<Emisor a\x0c="1">'),
    SAMPLE.replace('</Clave>', '</Clave\x0c>'),
    utf16(inName('\ud800')),
    Buffer.concat([utf16(SAMPLE), Buffer.from('<')]),
  ],
  'a reference to a character that XML does not have': [
    ...['0', 'x0', '7', 'x1F', 'xD800', 'xFFFE', '65535', 'x110000', '99999999999999999999'].flatMap(
      (code) => [
        inName(`&#${code};`),
        within(`<x>&#${code};</x><Emisor>`),
        within(`<Emisor a="1&#${code};2">`),
        within(`<Emisor a="&amp;&#${code};">`),
      ],
    ),
    inName('&#X41;'),
    within('<Emisor a="&#X41;">'),
  ],
  'a late or second declaration': [
    declared(DECLARATION + DECLARATION),
    declared(`<!-- x -->${DECLARATION}`),
    declared(`<?x?>${DECLARATION}`),
    within(`${DECLARATION}<Emisor>`),
    SAMPLE + DECLARATION,
    `${SAMPLE}<?xml?>`,
    within('<?XML x?><Emisor>'),
    within('<?xMl?><Emisor>'),
  ],
  'a declaration of another form': [
    '<?xml?>',
    '<?xml encoding="UTF-8"?>',
    '<?xml version="2.0"?>',
    '<?xml version="1"?>',
    '<?xml version=1.0?>',
    '<?xml version="1.0\'?>',
    '<?xml version="1.0"encoding="UTF-8"?>',
    '<?xml version="1.0" encoding=""?>',
    '<?xml version="1.0" encoding="8859-1"?>',
    '<?xml version="1.0" encoding="UTF-8" x="y"?>',
    '<?xml version="1.0" standalone="no" encoding="UTF-8"?>',
    '<?xml version="1.0" standalone="maybe"?>',
    '<?xml version="1.0" version="1.0"?>',
    '<?xml Version="1.0"?>',
    '<?xml version="1.0" encoding="UTF-8" ??>',
  ].map(declared),
  'a name that is none': [
    ...['1x', '-x', '.x', 'x"', 'x&y', 'x<y', 'x,y', 'x\u00d7', '\u00b7x', '!x', 'x\u20ac\u2014'].map(
      (name) => within(`<${name}></${name}><Emisor>`),
    ),
    ...['1x', '-x', '"x"', 'x"', 'x<', 'x&', '\u00d7', '='].map((name) => within(`<Emisor ${name}="1">`)),
    within('<?1?><Emisor>'),
    within('<?x"y?><Emisor>'),
    within('<??><Emisor>'),
    within('<? x?><Emisor>'),
    declared(`${DECLARATION}<? x?>`),
  ],
  'a document type or declaration within the root': [
    within('<!DOCTYPE x><Emisor>'),
    within('<!x><Emisor>'),
    within('<!><Emisor>'),
    within('<![cdata[x]]><Emisor>'),
    within('<!- x --><Emisor>'),
    `${SAMPLE}<!DOCTYPE x>`,
  ],
  'text before the root': [
    declared(`${DECLARATION}x`),
    declared(`${DECLARATION}&#32;`),
    declared('<![CDATA[]]>'),
  ],
}

for (const [kind, contents] of Object.entries(FAULTS)) {
  test(`XML with ${kind} is a fault`, () => {
    for (const [at, content] of contents.entries()) {
      for (const longest of LENGTHS) {
        const reading = read(content, longest)
        assert.deepEqual(
          Object.keys(reading ?? {}),
          ['kind', 'fault'],
          `${at}, pieces of ${longest}: ${String(content)}`,
        )
      }
    }
  })
}

test('well-formed XML beside the faults is read', () => {
  const contents = [
    within('<Emisor a="1" A="1"\n b = \'1\'\t>'),
    within('<x a="1" /><x a="1"\n/><Emisor>'),
    within('<x ds:a="1" a="1"/><Emisor>'),
    within('<Emisor a=">]]>&lt;&amp;&#60;&#x3c; -- \'">'),
    within("<Emisor a='\"' b=''>"),
    SAMPLE.replace('</Clave>', '</Clave\n >'),
    within('<!----><!-- - > -> x- - --><!-->--><!--->--><!-- & < ]]> \u00f1 --><Emisor>'),
    within('<?x?><?x ?><?x ? > ?? -- ?><?xml-stylesheet href="x"?><?x.y-1 <a>??><Emisor>'),
    within('<x>]]&gt;]]<!-- -->>]]<![CDATA[>]]>]>]] ></x><Emisor>'),
    within('<x><![CDATA[]]]]><![CDATA[>]]>&#0000065;&#x10FFFF;&#xFFFD;&#x85;</x><Emisor>'),
    within('<x>\x7f\x85\ufffd\ufeff\u{1f600}\u{10ffff}\ufdd0</x><Emisor>'),
    within('<\u00f1a\u00b7-._1 \u00f1="1"/><_:x xmlns:_="urn:x"/><\u{10000}/><\u20ac/><Emisor>'),
    `${SAMPLE}\r\n\t <!-- x --><?x?>\n`,
    declared(''),
    declared("<?xml version='1.0'?>"),
    declared('<?xml version = "1.1" standalone = \'yes\' ?>'),
    declared('<?xml\nversion="1.0"\tencoding=\'utf-8\'\r\nstandalone="no"?><!-- x --><?x?>\n'),
    declared(`\r\n\t ${DECLARATION}`),
  ]
  const { warnings, ...facts } = read(SAMPLE, 1) as { warnings: string[] }
  assert.ok('clave' in facts && warnings.length === 0)
  for (const content of contents) {
    for (const longest of LENGTHS) assert.deepEqual(read(content, longest), { ...facts, warnings }, content)
  }
})

test('a name of letters is one in the encoding of the whole document', () => {
  const latin1 = (text: string, encoding: string) =>
    Buffer.from(within(text).replace('UTF-8', encoding).replace('Acme', '\u00d1'), 'latin1')
  const isRead = (content: Uint8Array) =>
    LENGTHS.every((longest) => 'clave' in (read(content, longest) ?? {}))
  for (const encoding of ['iso-8859-1', 'UTF-8']) {
    assert.ok(isRead(latin1('<\u00f1\x8a/><Emisor>', encoding)), encoding)
    assert.ok(!isRead(latin1('<\u00d7/><Emisor>', encoding)), encoding)
    assert.ok(!isRead(latin1('<x\x94/><Emisor>', encoding)), encoding)
  }
  assert.ok(isRead(latin1('<\xa8/><Emisor>', 'iso-8859-15')))
  assert.ok(!isRead(latin1('<\xa8/><Emisor>', 'iso-8859-1')))
  assert.ok(isRead(latin1('<x>\xef\xbf\xbe\x81</x><Emisor>', 'iso-8859-1')))
})
