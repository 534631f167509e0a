// Invoices with random faults. The reader never throws and is never slow. ElementTree of Python, where it accepts the
// document, finds the same values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type InvoiceKind, KINDS } from '../../src/formats/invoices/kinds.ts'
import { canonicalDecimal } from '../../src/values/decimal.ts'
import { figure, scaled } from '../faults/scale.ts'
import { readByPython, readInPieces } from '../support/documents/invoice-readers.ts'
import { sampleInvoice, sampleMessage } from '../support/documents/invoice-xml.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'

type SecondReading = { clave: string[]; total: string[] } | null

const MUTATIONS = scaled({ short: 300, long: 10_000 })
const LONGEST_MS = 100 // processor time
const PIECES = [
  '<Clave>1</Clave>',
  '<ResumenFactura><TotalComprobante>9</TotalComprobante></ResumenFactura>',
  '<TotalComprobante>9</TotalComprobante>',
  '<!-- <Clave> -->',
  '<![CDATA[<Clave>7</Clave>]]>',
  '<x xmlns="urn:x"><Clave>2</Clave></x>',
  '<?pi <Clave>?>',
  '&amp;',
  '&#48;',
  '&#x30;',
  '&nbsp;',
  '\u202e',
  '\u00f1',
  '0',
  ' ',
  '\t',
  '\0',
  '"',
  '<',
  '>',
  '&',
  ']]>',
  '</Clave>',
  'xmlns="urn:y"',
]

function samples(): string[] {
  const kinds = (Object.keys(KINDS) as InvoiceKind[]).filter((kind) => !kind.startsWith('Mensaje'))
  const invoices = kinds.flatMap((kind) =>
    (['4.2', '4.3', '4.4', null] as const).map((version) => sampleInvoice({ kind, version })),
  )
  return [...invoices, sampleMessage(), sampleMessage({ kind: 'MensajeReceptor' })]
}

/** Changes a document at up to three places: inserts, removes, doubles, moves, replaces or cuts. */
function mutate(content: string, random: Random): Buffer {
  let text = content
  for (let changes = random.int(1, 3); changes > 0; changes -= 1) {
    const boundaries = [...text.matchAll(/[<>]/g)].map(({ index }) => index)
    const place = () => (random.chance(0.6) ? (random.item(boundaries) ?? 0) : random.int(0, text.length))
    const [from, to] = [place(), place()].sort((one, other) => one - other) as [number, number]
    const part = text.slice(from, Math.min(to, from + 200))
    const [head, rest] = [text.slice(0, from), text.slice(from)]
    const change = random.int(0, 5)
    if (change === 0) text = head + random.item(PIECES) + rest
    else if (change === 1) text = head + rest.slice(part.length)
    else if (change === 2) text = head + part + rest
    else if (change === 3) text = head + String.fromCharCode(32 + random.int(0, 299)) + rest.slice(1)
    else if (change === 4) text = text.replace(/\d/, String(random.int(0, 9)))
    else if (random.chance(0.3)) text = head
  }
  return Buffer.from(text, random.item(['utf8', 'utf8', 'utf8', 'latin1'] as const))
}

test(`${MUTATIONS} invoices with random faults are read as ElementTree reads them, or not at all`, (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const originals = samples()
  const contents = [
    ...originals.map((one) => Buffer.from(one)),
    ...Array.from({ length: MUTATIONS }, () => mutate(random.item(originals), random)),
  ]
  const second = readByPython<SecondReading>('invoices.py', contents)
  const counts = { read: 0, faults: 0, others: 0, both: 0 }
  for (const [at, bytes] of contents.entries()) {
    const start = process.cpuUsage()
    const reading = readInPieces(bytes, [1000, 7], random)
    const { user, system } = process.cpuUsage(start)
    assert.ok(user + system < LONGEST_MS * 1000, bytes.toString('latin1'))
    if (!reading) counts.others += 1
    else if ('fault' in reading) counts.faults += 1
    else {
      counts.read += 1
      const other = second[at]
      if (!other) continue
      counts.both += 1
      const [total] = other.total
      const expected = { clave: other.clave, total: total === undefined ? null : canonicalDecimal(total) }
      assert.deepEqual({ clave: [reading.clave], total: reading.total }, expected, bytes.toString('latin1'))
      assert.ok(other.total.length <= 1, bytes.toString('latin1'))
    }
    if (at < originals.length) assert.equal(counts.both, at + 1, String(originals[at]))
  }
  figure(t, 'read, faults, no invoices, read by both', Object.values(counts).join(' '))
})
