// Invoices as other programs send them: behind marks and blanks, in base64, in the JSON of Hacienda's service. None is met
// with silence, in other encodings and namespaces neither.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createInvoiceReader } from '../../../../src/formats/invoices/invoice.ts'
import {
  CLAVE,
  sampleInvoice,
  sampleMessage,
  sampleNamespace,
} from '../../../support/documents/invoice-xml.ts'

function read(content: string | Uint8Array, step: number) {
  const bytes = Buffer.from(content as string)
  const reader = createInvoiceReader()
  for (let at = 0; at < bytes.length; at += step) {
    const piece = Buffer.from(bytes.subarray(at, at + step))
    const isOfInterest = reader.push(piece)
    piece.fill(0) // the caller uses it again
    if (!isOfInterest) break
  }
  return reader.end()
}

/** Reads a content in pieces of several sizes, with the same result. */
function readPieces(content: string | Uint8Array) {
  const reading = read(content, 1_000_000)
  for (const step of [1, 7, 100]) assert.deepEqual(read(content, step), reading, String(content).slice(0, 80))
  return reading
}

const SAMPLE = sampleInvoice()
const FACTS = read(SAMPLE, 1_000_000)
const ROOT = SAMPLE.slice(SAMPLE.indexOf('<Factura'))
const FOREIGN = SAMPLE.replace(/xmlns="[^"]*"/, 'xmlns="urn:x"')
const base64 = (text: string | Uint8Array) => Buffer.from(text as string).toString('base64')
const utf16 = (text: string) => Buffer.from(text, 'utf16le')
const wrap = (text: string, end = '\r\n') => text.replaceAll(/.{76}/g, `$&${end}`)

function fault(content: string | Uint8Array): string {
  const reading = readPieces(content)
  assert.ok(reading && 'fault' in reading, `${JSON.stringify(reading)}: ${String(content).slice(0, 200)}`)
  return `${reading.kind}: ${reading.fault}`
}

test('an invoice behind marks and blanks is read', () => {
  const leads = [
    '\ufeff\ufeff',
    '\ufeff'.repeat(40),
    '\ufeff \r\n\t\ufeff\n',
    ' '.repeat(10_000),
    'ï»¿',
    'Ã¯Â»Â¿',
    '´╗┐',
    '∩╗┐',
    'ÿþ',
    '\u00a0',
    '\u200b\u2060',
    '?',
    '???',
    'Ôªø',
  ]
  for (const lead of leads) assert.deepEqual(readPieces(lead + SAMPLE), FACTS, JSON.stringify(lead))
  for (const lead of ['\xff\xfe', '\xfe\xff\xff\xfe', ' \xff\xfe\n'])
    assert.deepEqual(
      readPieces(Buffer.concat([Buffer.from(lead, 'latin1'), Buffer.from(SAMPLE)])),
      FACTS,
      lead,
    )
})

test('an invoice in UTF-16 is read behind several marks, and without one a fault', () => {
  for (const lead of ['\ufeff\ufeff', '\ufeff \n\ufeff', '\ufeffï»¿ ']) {
    const bytes = utf16(lead + SAMPLE)
    assert.deepEqual(readPieces(bytes), FACTS, lead)
    assert.deepEqual(readPieces(Buffer.from(bytes).swap16()), FACTS, lead)
    assert.deepEqual(readPieces(Buffer.concat([Buffer.from('\ufeff\n'), bytes])), FACTS, lead)
  }
  for (const bytes of [
    utf16(SAMPLE),
    utf16(SAMPLE).swap16(),
    Buffer.concat([Buffer.from('\ufeff'), utf16(SAMPLE)]),
  ])
    assert.match(fault(bytes), /^FacturaElectronica: the XML has malformed UTF-16, or UTF-16 without/)
  assert.match(fault(utf16(FOREIGN)), /^FacturaElectronica: its namespace/)
})

test('base64 of an invoice is read with marks, blanks, lines and quotes', () => {
  const quoted = (text: string) => `"${text}"`
  for (const xml of [
    SAMPLE,
    ROOT,
    `\ufeff${ROOT}`,
    `\ufeff\ufeff\n${SAMPLE}`,
    `${'ï»¿'.repeat(20)}${ROOT}`,
    utf16(`\ufeff${SAMPLE}`),
  ]) {
    const text = base64(xml)
    const contents = [
      ...[text, wrap(text), wrap(text, '\n\t '), `\ufeff\n ${text} \n`, quoted(text), quoted(wrap(text))],
      ...[`\ufeff "${text}"\n`, quoted(wrap(text, '\\r\\n')), quoted(text.replaceAll('/', '\\/'))],
      ...[utf16(`\ufeff${text}`), utf16(`\ufeff${quoted(text)}`)],
    ]
    for (const content of contents)
      assert.deepEqual(readPieces(content), FACTS, String(content).slice(0, 100))
  }
})

test('malformed base64 of an invoice is a fault', () => {
  const text = base64(ROOT)
  for (const content of [`${text}=`, `${text}AA`, text.slice(0, -2), `"${text}`, `"${text}","x"`, `${text}"`])
    assert.match(fault(content), /^FacturaElectronica: /, content.slice(-10))
  const unsafe = base64(`${ROOT.slice(0, 600)}<!-- \u00ff\u00fe\u00bf -->`).replaceAll('/', '_')
  assert.match(fault(unsafe), /^FacturaElectronica: /)
  for (const content of [
    base64('<html>'),
    base64(base64(SAMPLE)),
    'PERSONA',
    'PAGO DE LA FACTURA',
    'JFIF',
    `"${text}`.slice(0, 3),
  ])
    assert.equal(readPieces(content), undefined, content)
})

const service = (fields: Record<string, unknown>) =>
  JSON.stringify({ clave: CLAVE, fecha: '2026-03-24T10:00:00-06:00', 'ind-estado': 'aceptado', ...fields })
const answer = (message: string) => base64(sampleMessage({ message }))

test("the JSON of Hacienda's service is the answer that it carries", () => {
  const accepted = readPieces(sampleMessage())
  const rejected = readPieces(sampleMessage({ message: '3' }))
  const plain = service({ 'respuesta-xml': answer('1') })
  const first = `{"respuesta-xml":"${answer('1').replaceAll('/', '\\/')}","x":[{"clave":"1"}]}`
  const contents = [
    plain,
    `\ufeff\n${plain}\n`,
    first,
    JSON.stringify(JSON.parse(plain), null, 2),
    utf16(`\ufeff${plain}`),
  ]
  for (const content of contents) assert.deepEqual(readPieces(content), accepted, String(content))
  assert.deepEqual(
    readPieces(service({ 'respuesta-xml': wrap(answer('3'), '\n'), 'ind-estado': 'rechazado' })),
    rejected,
  )
  for (const fields of [{ clave: null }, { clave: undefined, 'ind-estado': undefined }])
    assert.deepEqual(readPieces(service({ 'respuesta-xml': answer('1'), ...fields })), accepted)
})

test('JSON that contradicts its answer is a fault', () => {
  const fields = { 'respuesta-xml': answer('1') }
  const other = 'MensajeHacienda: the clave of the JSON around it is another one'
  assert.equal(fault(service({ ...fields, clave: CLAVE.replace(/8$/, '9') })), other)
  assert.equal(fault(service({ ...fields, clave: 506 })), other)
  for (const state of ['rechazado', 'procesando', '', 1])
    assert.equal(
      fault(service({ ...fields, 'ind-estado': state })),
      'MensajeHacienda: ind-estado of the JSON around it is not its Mensaje',
    )
  const twice = service(fields).replace('{', `{"clave":"${CLAVE}",`)
  for (const content of [twice, service(fields).slice(0, -1), `${service(fields)}x`])
    assert.match(fault(content), /^MensajeHacienda: the JSON around it is malformed/)
  assert.match(fault(service({ 'respuesta-xml': base64(SAMPLE) })), /^FacturaElectronica: ind-estado/)
  for (const content of [
    service({}),
    service({ 'respuesta-xml': null }),
    service({ 'respuesta-xml': 'x' }),
    '{"a":1}',
  ])
    assert.equal(readPieces(content), undefined, content)
})

test('XML in clear text within JSON is a fault', () => {
  const xml = sampleMessage().replace(/<Nombre\w*>/, '$&Ferretería & ')
  for (const content of [xml, `\ufeff ${xml}`]) {
    const json = service({ 'respuesta-xml': content })
    for (const text of [json, json.replaceAll('/', '\\/')]) assert.match(fault(text), /is not in base64$/)
  }
})

test('a state of the JSON is compared without case and blanks', () => {
  const accepted = readPieces(sampleMessage())
  for (const state of ['ACEPTADO', ' aceptado\n', null])
    assert.deepEqual(readPieces(service({ 'ind-estado': state, 'respuesta-xml': answer('1') })), accepted)
})

test('a value that its declared encoding cannot read has a warning', () => {
  for (const encoding of ['big5', 'shift_jis', 'windows-1253', 'iso-2022-jp', 'us-ascii']) {
    const xml = SAMPLE.replace('UTF-8', encoding).replace(/(<Nombre>)[^<]*/, '$1Compa\xf1\xff')
    const reading = readPieces(Buffer.from(xml, 'latin1'))
    assert.ok(reading && 'warnings' in reading && reading.warnings.includes('encoding'), encoding)
  }
})

test('an invoice that ends within its root tag is a fault with that', () => {
  assert.match(
    fault(SAMPLE.slice(SAMPLE.indexOf('<Factura')).slice(0, 75)),
    /: the end of the root element is missing$/,
  )
})

test('UTF-8 with multibyte letters is UTF-8 whatever is declared', () => {
  assert.ok(FACTS && 'warnings' in FACTS)
  const declared = (encoding: string) => SAMPLE.replace('UTF-8', encoding)
  for (const encoding of [
    'ISO-8859-1',
    'windows-1252',
    'iso-8859-15',
    'IBM850',
    'UTF-16',
    'us-ascii',
    'x-none',
  ])
    assert.deepEqual(readPieces(declared(encoding)), { ...FACTS, warnings: ['encoding'] }, encoding)
  for (const encoding of ['utf-8', 'utf8', 'Utf-8']) assert.deepEqual(readPieces(declared(encoding)), FACTS)
  for (const [encoding, letter] of [
    ['IBM850', '\xa1'],
    ['cp437', '\xa1'],
    ['windows-1250', '\xed'],
    ['macintosh', '\x92'],
  ] as const) {
    const bytes = Buffer.from(declared(encoding).replace('í', letter), 'latin1')
    assert.deepEqual(readPieces(bytes), FACTS, encoding)
  }
  const plain = declared('ISO-8859-1').replace('í', 'i')
  assert.deepEqual((readPieces(plain) as { warnings: string[] }).warnings, [])
})

test('a namespace of Hacienda of another version is a fault with the version', () => {
  const of = (namespace: string) => SAMPLE.replace(sampleNamespace('FacturaElectronica', '4.4'), namespace)
  for (const version of ['4', '4.1']) {
    const namespace = `https://tribunet.hacienda.go.cr/docs/esquemas/2016/v${version}/facturaElectronica`
    const expected = `FacturaElectronica: its namespace is of version ${version}, and 4.2, 4.3 and 4.4 are read`
    assert.equal(fault(of(namespace)), expected)
    assert.equal(fault(of(namespace).replaceAll(/(<\/?)FacturaElectronica\b/g, '$1Factura')), expected)
  }
  const namespace = sampleNamespace('FacturaElectronica', '4.4')
  for (const other of [namespace.replace('4.4', '4.5'), namespace.replace('https', 'http'), `${namespace}/`])
    assert.match(fault(of(other)), /^FacturaElectronica: its namespace is /)
})

test('a document type before a known root is a fault', () => {
  for (const type of [
    '<!DOCTYPE a>',
    '<!DOCTYPE a [<!ENTITY b "c"><!ELEMENT d (e)>]>\n',
    '<!-- x --><!DOCTYPE a>',
  ])
    for (const xml of [type + ROOT, SAMPLE.replace('\n', type), `\ufeff${type}${ROOT}`])
      assert.equal(fault(xml), 'FacturaElectronica: the XML has a document type')
  assert.equal(readPieces('<!DOCTYPE html><html><body>FacturaElectronica</body></html>'), undefined)
})

test('a known root of another namespace is a fault with a clave alone', () => {
  const expected = 'FacturaElectronica: its namespace is not of Hacienda'
  const prefixed = FOREIGN.replace('<Factura', '<y:Factura')
    .replace('</Factura', '</y:Factura')
    .replace('xmlns=', 'xmlns:y=')
  for (const xml of [FOREIGN, prefixed, FOREIGN.replace('<Clave>506', '<Clave>\n<![CDATA[506]]><!-- x -->')])
    assert.equal(fault(xml), expected)
  const without = [/<Clave>.*?<\/Clave>/, /(?<=<Clave>.*)\d(?=<)/]
  for (const xml of [FOREIGN, prefixed])
    for (const part of without) assert.equal(readPieces(xml.replace(part, '')), undefined)
  assert.equal(readPieces('<FacturaElectronica xmlns="urn:x"/>'), undefined)
})

test('XML with signs of an invoice is a fault, wherever its root is broken', () => {
  const namespace = sampleNamespace('MensajeHacienda', '4.3')
  const contents: [string, string][] = [
    ['<FacturaElectronica', 'FacturaElectronica'],
    [`<Sobre>${ROOT}</Sobre>`, 'FacturaElectronica'],
    [`<?xml version="1.0"?><Sobre><TiqueteElectronico/></Sobre>`, 'TiqueteElectronico'],
    [`<Sobre xmlns:h='${namespace}'/>`, 'MensajeHacienda'],
    [`<Sobre xmlns="${namespace.replace('mensajeHacienda', 'otro')}"/>`, 'null'],
    [SAMPLE.replace('<FacturaElectronica', '<f:FacturaElectronica'), 'FacturaElectronica'],
    [SAMPLE.replace('?>', '?>\ufeff'), 'FacturaElectronica'],
    [SAMPLE.replace(/ xmlns="[^"]*"/, '').replace(/<Clave>.*?<\/Clave>/, ''), 'FacturaElectronica'],
    [SAMPLE + ' '.repeat(5_000_000), 'FacturaElectronica'],
  ]
  for (const [xml, kind] of contents) {
    const reading = read(xml, 100_000)
    assert.ok(reading && 'fault' in reading, xml.slice(0, 100))
    assert.equal(String(reading.kind), kind)
  }
  const others = [
    '<a><!-- <FacturaElectronica> --></a>',
    '<a><![CDATA[<FacturaElectronica>]]></a>',
    '<a>&lt;FacturaElectronica&gt;</a>',
    '<a><FacturaElectronica xmlns="urn:x"/></a>',
    '<a><FacturaElectronicas/></a>',
    `<a>${'x'.repeat(5000)}<FacturaElectronica/></a>`,
    `<a b="${namespace}"/>`,
    `x${SAMPLE}`,
    `%PDF-1.7 ${SAMPLE}`,
  ]
  for (const xml of others) assert.equal(readPieces(xml), undefined, xml.slice(0, 80))
})
