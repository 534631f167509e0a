// Invoices with random marks, encodings, base64 and JSON around them. ElementTree of Python reads
// them after a script has removed these. Its invoices have facts or a fault, and the same facts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { figure } from '../faults/scale.ts'
import { readByPython, readInPieces } from '../support/documents/invoice-readers.ts'
import { CLAVE, sampleInvoice, sampleMessage } from '../support/documents/invoice-xml.ts'
import { createRandom, type Random } from '../support/rates/random-bank.ts'
import { SEED } from '../support/seed.ts'

type SecondReading = { root: string; clave: string | null; issuer: string | null } | null

const MUTATIONS = 10_000
const LEADS = [
  '\ufeff',
  '\ufeff',
  '\ufeff',
  'ï»¿',
  'Ã¯Â»Â¿',
  '´╗┐',
  '∩╗┐',
  'ÿþ',
  'þÿ',
  ' ',
  '\n',
  '\r\n',
  '\t',
]
const CHARSETS = [
  'UTF-8',
  'utf-8',
  'ISO-8859-1',
  'iso-8859-15',
  'windows-1252',
  'us-ascii',
  'UTF-16',
  'cp850',
]
const NAMESPACE = /xmlns="[^"]*"/
const SAMPLES = [
  ...([undefined, '4.2', '4.3', null] as const).map((version) =>
    sampleInvoice({ version: version ?? '4.4' }),
  ),
  sampleInvoice({ version: null }),
  sampleInvoice({ kind: 'TiqueteElectronico', issuerId: '110340567' }),
  sampleInvoice().replace(
    NAMESPACE,
    'xmlns="https://tribunet.hacienda.go.cr/docs/esquemas/2016/v4.1/facturaElectronica"',
  ),
  sampleInvoice().replace(NAMESPACE, 'xmlns="urn:x"'),
  sampleInvoice().replace('í', 'i'),
  sampleMessage(),
  sampleMessage({ message: '3', detail: 'Año' }),
  sampleMessage({ kind: 'MensajeReceptor' }),
]

/** Changes prefix, encoding, marks and base64 of an invoice. */
function mutate(sample: string, random: Random): Buffer {
  let text = sample
  if (random.chance(0.4)) text = text.slice(text.indexOf('?>') + 3)
  else if (random.chance(0.6)) text = text.replace('UTF-8', random.item(CHARSETS))
  if (random.chance(0.1))
    text = text.replace('<Clave>', random.item(['<x/><Clave>', '<!-- x --><Clave>', '<Clave']))
  const xml = encode(createLead(random) + text, random)
  if (random.chance(0.4)) return xml
  const base64 = encodeBase64(xml, random)
  const lead = createLead(random)
  if (random.chance(0.5)) return encode(lead + base64, random)
  const reply = {
    clave: CLAVE,
    'ind-estado': random.item(['aceptado', 'rechazado']),
    'respuesta-xml': base64,
  }
  return encode(lead + (random.chance(0.6) ? `"${base64}"` : JSON.stringify(reply)), random)
}

function createLead(random: Random): string {
  return Array.from({ length: random.chance(0.5) ? 0 : random.int(1, 4) }, () => random.item(LEADS)).join('')
}

function encode(text: string, random: Random): Buffer {
  const way = random.int(0, 9)
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le')
  if (way === 0) return utf16
  if (way === 1) return utf16.swap16()
  if (way === 2) return utf16.subarray(2) // a fault, and ElementTree reads it
  if (way === 3 && !/[^\0-\xff]/.test(text)) return Buffer.from(text, 'latin1')
  return Buffer.from(text)
}

function encodeBase64(bytes: Buffer, random: Random): string {
  const text = bytes.toString('base64')
  const way = random.int(0, 5)
  if (way === 0) return text.replaceAll(/.{76}/g, `$&${random.item(['\n', '\r\n', '\n  '])}`)
  if (way === 1) return `${text}\n`
  return way === 2 ? text.slice(0, -random.int(1, 9)) : text
}

test(`${MUTATIONS} invoices in random wrappings that ElementTree reads have facts or a fault`, (t) => {
  figure(t, 'seed', SEED)
  const random = createRandom(SEED)
  const contents = [
    ...SAMPLES.map((sample) => Buffer.from(sample)),
    ...Array.from({ length: MUTATIONS }, () => mutate(random.item(SAMPLES), random)),
  ]
  const second = readByPython<SecondReading>('wrapped-invoices.py', contents)
  const counts = { both: 0, faults: 0, alone: 0, neither: 0 }
  for (const [at, bytes] of contents.entries()) {
    const reading = readInPieces(bytes, [1000, 64, 7, 1], random)
    const other = second[at]
    const beginning = `${at}: ${bytes.toString('latin1').slice(0, 300)}`
    assert.ok(reading || !other, beginning)
    if (!other) counts[reading ? 'alone' : 'neither'] += 1
    else if (reading && 'fault' in reading) counts.faults += 1
    else if (reading) {
      counts.both += 1
      const { kind, clave, issuer, warnings } = reading
      assert.deepEqual({ kind, clave }, { kind: other.root, clave: other.clave }, beginning)
      if (!warnings.includes('encoding')) assert.equal(issuer?.name ?? null, other.issuer, beginning)
    }
  }
  figure(t, 'read by both, faults, read here alone, by neither', Object.values(counts).join(' '))
  assert.ok(counts.both > MUTATIONS / 4 && counts.faults > MUTATIONS / 20, Object.values(counts).join(' '))
})
