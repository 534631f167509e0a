// Invoices with random faults of markup. The reader finds a fault in the XML exactly where xmllint (libxml2) does.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createInvoiceReader } from '../../src/formats/invoices/invoice.ts'
import { figure, scaled } from '../faults/scale.ts'
import { temporaryDirectory } from '../support/app.ts'
import { sampleInvoice, sampleMessage } from '../support/documents/invoice-xml.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'

const MUTATIONS = scaled({ short: 500, long: 10_000 })
const FILES_AT_ONCE = 500
/** Sentences of the reader about markup. Others are about values. */
const MARKUP = /^(the XML has (?!a second root)|an end tag ends no open element|the end of \w+ is missing)/
/** Lines of xmllint that are about no rule of XML 1.0: namespaces, validity and warnings. */
const OTHER_LINE = /: (namespace (error|warning)|parser warning|validity \w+|element \S+: validity \w+) : /

const PIECES = [
  ...[
    '<',
    '>',
    '&',
    '"',
    "'",
    '/',
    '=',
    '?',
    '!',
    '-',
    '--',
    ']',
    ']]>',
    ';',
    '#',
    ':',
    ' ',
    '\t',
    '\n',
    '\r',
  ],
  ...[
    '\x01',
    '\x0b',
    '\x0c',
    '\x1f',
    '\x7f',
    '\x85',
    '\u00a0',
    '\u00f1',
    '\u00d7',
    '\u00b7',
    '\u2028',
    '\ufeff',
  ],
  ...['\ufffd', '\ufffe', '\uffff', '\u{1f600}', '\u{10ffff}', 'x', '0', '_', '.'],
  ...[
    '&amp;',
    '&lt;',
    '&gt;',
    '&quot;',
    '&apos;',
    '&nbsp;',
    '&amp',
    '&;',
    '&#48;',
    '&#x30;',
    '&#X30;',
    '&#0;',
  ],
  ...[
    '&#7;',
    '&#x9;',
    '&#xD800;',
    '&#xFFFE;',
    '&#x10FFFF;',
    '&#x110000;',
    '&#00065;',
    '&#;',
    '&#x;',
    '&#1a;',
  ],
  ...[
    '<!-- x -->',
    '<!---->',
    '<!-- -- -->',
    '<!-- x --->',
    '<!--->-->',
    '<!-- <a> & ]]> -->',
    '<!--',
    '-->',
  ],
  ...[
    '<![CDATA[x]]>',
    '<![CDATA[ ]]>',
    '<![CDATA[]]]]>',
    '<![CDATA[<a>&b;--]]>',
    '<![cdata[x]]>',
    '<![CDATA[',
  ],
  ...[
    '<?x?>',
    '<?x y?>',
    '<?x ? > ?>',
    '<?x-y.z <a>?>',
    '<? x?>',
    '<?1?>',
    '<??>',
    '<?x"?>',
    '<?xml x?>',
    '<?',
    '?>',
  ],
  ...[
    '<?xml version="1.0"?>',
    "<?xml version='1.0' encoding='utf-8' ?>",
    '<?XML version="1.0"?>',
    '<?xml-x?>',
  ],
  ...[
    '<!x>',
    '<!ENTITY x "y">',
    '<x/>',
    '<x />',
    '<x/ >',
    '< x/>',
    '<x></x>',
    '<x></ x>',
    '<x></x >',
    '<x></x y="">',
  ],
  ...[
    '<x a="1"/>',
    '<x a=\'1\' b = "2"/>',
    '<x a="1" a="1"/>',
    '<x a="1"b="2"/>',
    '<x a=1/>',
    '<x a/>',
    '<x a="<"/>',
  ],
  ...[
    '<x a="&amp;&#7;"/>',
    '<x a="&amp;&#9;"/>',
    '<x a=">]]>"/>',
    '<x / a="1"/>',
    '<x 1="1"/>',
    '<x \u00f1="1"/>',
  ],
  ...[
    '<\u00f1/>',
    '<\u00d7/>',
    '<1/>',
    '<-x/>',
    '<x.-1/>',
    '<x>',
    '</x>',
    '</>',
    '<>',
    ' a="1"',
    ' a="1" a="2"',
  ],
  ...[' xmlns:y="urn:y"', ' 1="2"', ' a', ' a=', ' "a"', '/', ' /'],
]

const SAMPLES = [
  sampleInvoice(),
  sampleInvoice({ kind: 'TiqueteElectronico', version: '4.3' }),
  sampleInvoice({ more: '<Otros a="1" b=\'2\'><x/><!-- y --><![CDATA[z]]><?p q?>&#65;&gt;</Otros>' }),
  sampleMessage(),
  sampleMessage({ kind: 'MensajeReceptor' }),
]

/** Changes a document at one or two places, most of them outside of the values that are read. */
function mutate(content: string, random: Random): string {
  let text = content
  for (let changes = random.chance(0.7) ? 1 : 2; changes > 0; changes -= 1) {
    const boundaries = [...text.matchAll(random.chance(0.5) ? /</g : /[<>"'=/?!& ]/g)].map(
      ({ index }) => index,
    )
    const from = random.chance(0.8)
      ? (random.item(boundaries) ?? 0) + random.item([0, 0, 1])
      : random.item([0, text.length, random.int(0, text.length)])
    const part = text.slice(from, from + random.int(1, random.item([1, 3, 40])))
    const [head, rest] = [text.slice(0, from), text.slice(from)]
    const change = random.int(0, 9)
    if (change < 6) text = head + random.item(PIECES) + rest
    else if (change === 6) text = head + rest.slice(part.length)
    else if (change === 7) text = head + part + rest
    else if (change === 8) text = head + random.item(PIECES) + rest.slice(1)
    else text = random.chance(0.3) ? head : head + rest.slice(1, 2) + rest.slice(0, 1) + rest.slice(2)
  }
  return text
}

/** Returns a document in one of the encodings that the reader knows. */
function encode(text: string, random: Random): Buffer {
  const way = random.int(0, 5)
  if (way === 0) return Buffer.from(`\ufeff${text}`)
  if (way === 1) return Buffer.from(`\ufeff${text}`, 'utf16le')
  if (way === 2 && text.startsWith('<?x')) return Buffer.from(Buffer.from(text).toString('base64'))
  if (way === 3 && !/[^\0-\u00ff]/.test(text)) return Buffer.from(text, 'latin1')
  return Buffer.from(text)
}

/** Reads a document in pieces of random lengths. */
function read(bytes: Buffer, random: Random) {
  const reader = createInvoiceReader()
  const longest = random.item([1, 5, 40, 400, bytes.length + 1])
  for (let at = 0; at < bytes.length; ) {
    const end = at + random.int(1, longest)
    if (!reader.push(bytes.subarray(at, end))) break
    at = end
  }
  return reader.end()
}

/** Removes the differences that the reader admits: blanks and marks at the start, and names of unknown encodings. */
function asXml(text: string): string {
  const encoding = /^(<\?xml[^>]*?encoding\s*=\s*["'])[A-Za-z][\w.-]*(?=["'])/
  return text.replace(/^[\s\ufffd]+/, '').replace(encoding, '$1UTF-8')
}

/** Runs xmllint. Returns the names of files that are not well-formed. @throws if xmllint is not installed */
function findMalformed(dir: string, names: string[]): Set<string> {
  const options = { cwd: dir, encoding: 'utf8', maxBuffer: 1_000_000_000 } as const
  const { error, stderr } = spawnSync('xmllint', ['--noout', '--nonet', ...names], options)
  if (error) throw error
  const lines = stderr.split('\n').filter((line) => !OTHER_LINE.test(line))
  return new Set(lines.flatMap((line) => /^(\d+\.xml):\d+: (?:\w+ )*error : /.exec(line)?.[1] ?? []))
}

test(`${MUTATIONS} invoices with random markup are well-formed exactly where xmllint finds them so`, (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const dir = temporaryDirectory(t)
  mkdirSync(dir, { recursive: true })
  const contents = [
    ...SAMPLES,
    ...Array.from({ length: MUTATIONS }, () => mutate(random.item(SAMPLES), random)),
  ]
  const counts = { read: 0, malformed: 0, values: 0, others: 0 }
  const disagreements = { believed: [] as string[], refused: [] as string[] }
  for (let first = 0; first < contents.length; first += FILES_AT_ONCE) {
    const some = contents.slice(first, first + FILES_AT_ONCE)
    const names = some.map((_, at) => `${first + at}.xml`)
    for (const [at, content] of some.entries()) writeFileSync(join(dir, `${first + at}.xml`), asXml(content))
    const malformed = findMalformed(dir, names)
    for (const [at, content] of some.entries()) {
      const reading = read(encode(content, random), random)
      const isMalformed = malformed.has(`${first + at}.xml`)
      const fault = reading && 'fault' in reading ? reading.fault : undefined
      if (!reading) counts.others += 1
      else if (fault === undefined) {
        counts.read += 1
        if (isMalformed) disagreements.believed.push(content)
      } else if (MARKUP.test(fault)) {
        counts.malformed += 1
        if (!isMalformed) disagreements.refused.push(`${fault}: ${content}`)
      } else counts.values += 1
      if (first + at < SAMPLES.length) assert.equal(counts.read, first + at + 1, content)
    }
  }
  figure(t, 'read, malformed, faults of values, no invoices', Object.values(counts).join(' '))
  const { believed, refused } = disagreements
  figure(t, 'believed against xmllint, refused against it', `${believed.length} ${refused.length}`)
  assert.deepEqual(disagreements, { believed: [], refused: [] })
})
