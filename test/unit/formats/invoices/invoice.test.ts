// Invoices from bytes: the facts of each kind and version, encodings, deviations, faults, warnings, limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createInvoiceReader,
  type InvoiceFacts,
  type UnreadableInvoice,
} from '../../../../src/formats/invoices/invoice.ts'
import { type InvoiceKind, KINDS } from '../../../../src/formats/invoices/kinds.ts'
import { CLAVE, createClave, sampleInvoice, sampleMessage } from '../../../support/documents/invoice-xml.ts'

type Found = InvoiceFacts | UnreadableInvoice | undefined

function read(content: string | Uint8Array, step = 1_000_000): Found {
  const bytes = Buffer.from(content as string)
  const reader = createInvoiceReader()
  for (let at = 0; at < bytes.length; at += step) {
    if (!reader.push(bytes.subarray(at, at + step))) break
  }
  return reader.end()
}

function facts(content: string | Uint8Array): InvoiceFacts {
  const reading = read(content)
  assert.ok(reading && !('fault' in reading), `no facts: ${JSON.stringify(reading)}`)
  return reading
}

function readFault(content: string | Uint8Array): string | undefined {
  const reading = read(content)
  assert.ok(reading && 'fault' in reading, `no fault: ${JSON.stringify(reading)}`)
  return reading.fault
}

const USD = {
  kind: 'FacturaElectronica',
  version: '4.4',
  clave: CLAVE,
  consecutive: '00100001010000000043',
  issuedAt: '2026-03-24T09:30:00-06:00',
  date: '2026-03-24',
  issuer: { type: '02', id: '3101123456', name: 'Ferretería El Roble & Hijos S.A.' },
  receiver: { type: '02', id: '3101654321', name: 'Acme S.A.' },
  currency: 'USD',
  exchangeRate: '509.25',
  total: '1130',
  tax: '130',
  references: [],
  outcome: null,
  warnings: [],
}

test('an invoice has its facts, in pieces of any size', () => {
  const content = sampleInvoice()
  for (const step of [1, 2, 3, 7, 64, 1000, 1_000_000]) assert.deepEqual(read(content, step), USD)
})

test('each kind and version has its facts', () => {
  for (const kind of Object.keys(KINDS) as InvoiceKind[]) {
    if (kind === 'MensajeHacienda' || kind === 'MensajeReceptor') continue
    for (const version of ['4.2', '4.3', '4.4'] as const) {
      const reading = facts(sampleInvoice({ kind, version }))
      const clave = createClave(kind)
      assert.deepEqual(reading, { ...USD, kind, version, clave, consecutive: clave.slice(21, 41) })
    }
  }
})

test('an answer has the clave and amounts of its invoice, and its outcome', () => {
  const hacienda = facts(sampleMessage())
  assert.deepEqual(
    [hacienda.clave, hacienda.outcome, hacienda.total, hacienda.tax, hacienda.consecutive, hacienda.date],
    [CLAVE, 'accepted', '1130', '130', null, null],
  )
  assert.deepEqual([hacienda.issuer?.id, hacienda.receiver?.id], ['3101123456', '3101654321'])
  const receptor = facts(sampleMessage({ kind: 'MensajeReceptor', message: '2' }))
  assert.deepEqual([receptor.outcome, receptor.consecutive], ['partly_accepted', '00100001050000000007'])
  assert.equal(facts(sampleMessage({ message: '3' })).outcome, 'rejected')
  assert.equal(readFault(sampleMessage({ message: '4' })), 'Mensaje is not 1, 2 or 3')
})

test('an answer with nil for the receiver has its clave, outcome and no receiver', () => {
  const xsi = 'http://www.w3.org/2001/XMLSchema-instance'
  const nil = ['TipoIdentificacionReceptor', 'NumeroCedulaReceptor'].map(
    (name) => `<${name} xmlns:xsi="${xsi}" xsi:nil="true"/>`,
  )
  for (const [message, outcome] of [
    ['1', 'accepted'],
    ['3', 'rejected'],
  ]) {
    const content = sampleMessage({ message }).replace(
      /<NumeroCedulaReceptor>.*<\/NumeroCedulaReceptor>/,
      `<NombreReceptor/>${nil.join('')}`,
    )
    const reading = facts(content)
    assert.deepEqual([reading.clave, reading.outcome, reading.receiver], [CLAVE, outcome, null])
  }
})

test('an absent currency is colones in 4.2 and 4.3, and unknown in 4.4', () => {
  const summary = '<ResumenFactura><TotalComprobante>5.5</TotalComprobante></ResumenFactura>'
  for (const version of ['4.2', '4.3'] as const) {
    const { currency, exchangeRate, total, tax } = facts(sampleInvoice({ version, summary }))
    assert.deepEqual([currency, exchangeRate, total, tax], ['CRC', '1', '5.5', null])
  }
  const current = facts(sampleInvoice({ version: '4.4', summary }))
  assert.deepEqual([current.currency, current.exchangeRate], [null, null])
})

test('references have type, number and code in both forms, and ten at most', () => {
  const reference = (at: number) =>
    `<InformacionReferencia><TipoDoc${at % 2 ? 'IR' : ''}>01</TipoDoc${at % 2 ? 'IR' : ''}><Numero>${at}</Numero>` +
    `<Codigo>04</Codigo><Razon>Numero</Razon></InformacionReferencia>`
  const ten = Array.from({ length: 10 }, (_, at) => reference(at)).join('')
  assert.deepEqual(
    facts(sampleInvoice({ more: ten })).references,
    Array.from({ length: 10 }, (_, at) => ({ type: '01', number: String(at), code: '04' })),
  )
  assert.equal(
    readFault(sampleInvoice({ more: ten + reference(10) })),
    'there are more than 10 InformacionReferencia',
  )
  assert.equal(
    readFault(
      sampleInvoice({
        more: '<InformacionReferencia><Codigo>1</Codigo><Codigo>2</Codigo></InformacionReferencia>',
      }),
    ),
    'Codigo stands twice',
  )
})

test('identifications have no leading zeros, and a foreign one may have letters', () => {
  const foreign =
    '<Receptor><Nombre>X</Nombre><IdentificacionExtranjero>AB-007</IdentificacionExtranjero></Receptor>'
  assert.deepEqual(facts(sampleInvoice({ receiver: foreign })).receiver, {
    type: null,
    id: 'AB-007',
    name: 'X',
  })
  assert.equal(facts(sampleInvoice({ receiver: '' })).receiver, null)
  const zeros = '<Receptor><Identificacion><Tipo>05</Tipo><Numero>0009</Numero></Identificacion></Receptor>'
  assert.deepEqual(facts(sampleInvoice({ receiver: zeros })).receiver, { type: '05', id: '9', name: null })
})

test('a foreign identification may have blanks, and counts where Identificacion has no number', () => {
  const party = (elements: string) => sampleInvoice({ receiver: `<Receptor>${elements}</Receptor>` })
  const foreign = (id: string) => `<IdentificacionExtranjero>${id}</IdentificacionExtranjero>`
  const local = (id: string) => `<Identificacion><Tipo>02</Tipo><Numero>${id}</Numero></Identificacion>`
  const ids: [string, string | undefined][] = [
    [foreign(' PA  0123456\n'), 'PA 0123456'],
    [foreign('ñ'.repeat(20)), 'ñ'.repeat(20)],
    [foreign(''), undefined],
    [local('3101654321') + foreign('AB 123456'), '3101654321'],
    [local('3101654321') + foreign(''), '3101654321'],
    [local('') + foreign('AB 123456'), 'AB 123456'],
  ]
  for (const [elements, id] of ids) assert.equal(facts(party(elements)).receiver?.id, id, elements)
  const long = 'IdentificacionExtranjero is not an identification of at most 20 characters'
  assert.equal(readFault(party(foreign('A'.repeat(21)))), long)
  assert.equal(readFault(party(foreign('A') + foreign('A'))), 'IdentificacionExtranjero stands twice')
  assert.equal(readFault(party(local('31 01'))), 'Numero is not an identification of at most 20 characters')
})

test('names have no control or direction character, and at most 160 characters', () => {
  const receiver = (name: string) => `<Receptor><Nombre>${name}</Nombre></Receptor>`
  assert.equal(
    facts(sampleInvoice({ receiver: receiver('Acme\u202e  S.A.\u200b&#x9f;') })).receiver?.name,
    'Acme S.A.',
  )
  assert.equal(facts(sampleInvoice({ receiver: receiver('ñ'.repeat(300)) })).receiver?.name?.length, 160)
  assert.match(
    String(readFault(sampleInvoice({ receiver: receiver('ñ'.repeat(401)) }))),
    /more than 400 characters/,
  )
  assert.equal(readFault(sampleInvoice({ receiver: receiver('x'.repeat(2000)) })), 'Nombre is too long')
})

test('each encoding of an invoice is read, and a wrong one is a warning', () => {
  const utf8 = sampleInvoice()
  const latin1 = Buffer.from(utf8.replace('UTF-8', 'ISO-8859-1'), 'latin1')
  assert.deepEqual(read(latin1), USD)
  assert.deepEqual(read(Buffer.from(utf8, 'latin1')), { ...USD, warnings: ['encoding'] })
  assert.deepEqual(read(`\ufeff${utf8}`, 1), USD)
  assert.deepEqual(read(Buffer.from(`\ufeff${utf8}`, 'utf16le'), 5), USD)
  assert.deepEqual(read(Buffer.from(`\ufeff${utf8}`, 'utf16le').swap16()), USD)
  const euro = Buffer.from(utf8.replace('UTF-8', 'iso-8859-15').replace('Acme', '\xa4'), 'latin1')
  assert.equal(facts(euro).receiver?.name, '€ S.A.')
  assert.deepEqual(read(Buffer.from(utf8).toString('base64'), 10), USD)
  assert.deepEqual(read(Buffer.from(`\ufeff${utf8}`).toString('base64')), USD)
})

test('harmless differences of form are read', () => {
  const invoice = sampleInvoice()
  assert.deepEqual(read(`\n\t  ${invoice}`), USD)
  assert.deepEqual(
    read(
      invoice
        .replaceAll('FacturaElectronica ', 'facturaelectronica ')
        .replace('/FacturaElectronica>', '/facturaelectronica>'),
    ),
    USD,
  )
  assert.deepEqual(read(invoice.replace('<Clave>506', '<Clave><!-- x -->506<?pi y?>')), USD)
  assert.deepEqual(read(invoice.replace('Acme S.A.', '<![CDATA[Acme S.A.]]>')), USD)
  assert.deepEqual(read(invoice.replace('<Emisor>', '<X><Clave>1</Clave></X><Emisor>')), USD)
  assert.deepEqual(read(invoice.replace('<Emisor>', '<ds:Clave>1</ds:Clave><Emisor>')), USD)
  const prefixed = invoice.replace(/<(\/?)(?=\w)(?!ds:)/g, '<$1f:').replace('xmlns=', 'xmlns:f=')
  assert.deepEqual(read(prefixed), USD)
  assert.deepEqual(read(sampleInvoice({ version: null })), { ...USD, version: null, warnings: ['namespace'] })
})

test('two readings are a fault', () => {
  const invoice = sampleInvoice()
  const faults: [string, string][] = [
    [invoice.replace('</Clave>', `</Clave><Clave>${CLAVE}</Clave>`), 'Clave stands twice'],
    [invoice.replace('</Clave>', '</Clave><CLAVE/>'), 'Clave stands twice'],
    [invoice.replace('</Emisor>', '</Emisor><Emisor/>'), 'Emisor stands twice'],
    [
      invoice.replace('<TotalImpuesto>', '<CodigoMoneda>CRC</CodigoMoneda><TotalImpuesto>'),
      'CodigoMoneda stands twice',
    ],
    [invoice.replace('<Clave>', '<Clave><b/>'), 'an element stands within Clave'],
    [
      invoice.replace('/facturaElectronica', '/tiqueteElectronico'),
      'the root is FacturaElectronica, its namespace is of TiqueteElectronico',
    ],
    [invoice.replace('509.25000', '509,25'), 'TipoCambio is not an amount'],
    [invoice.replace('509.25000', '5e2'), 'TipoCambio is not an amount'],
    [invoice.replace('1130.00000', '-1'), 'TotalComprobante is not an amount'],
    [invoice.replace('1130.00000', '-0'), 'TotalComprobante is not an amount'],
    [invoice.replace('130.00000', '-0.00000'), 'TotalImpuesto is not an amount'],
    [invoice.replace(CLAVE, CLAVE.slice(1)), 'Clave is not 50 digits'],
    [invoice.replace(/<Clave>.*<\/Clave>/, ''), 'there is no Clave'],
    [invoice.replace('2026-03-24T', '2026-02-30T'), 'FechaEmision is no day of the calendar'],
    [invoice.replace('2026-03-24T', '24/03/2026 '), 'FechaEmision is not a date and time'],
    [invoice.replace('USD', 'usd'), 'CodigoMoneda is not three capital letters'],
    [invoice.slice(0, -30), 'the end of FacturaElectronica is missing'],
    [`${invoice}<x/>`, 'the XML has a second root element'],
    [`${invoice}x`, 'the XML has text outside of its root element'],
    [
      invoice.replace('Acme', '&acute;'),
      'the XML has an entity that is not one of the five, or a stray < or &',
    ],
    [invoice.replace('</Emisor>', '</Receptor>'), 'an end tag ends no open element'],
    [invoice.replace('<Emisor>', `${'<x>'.repeat(24)}<Emisor>`), 'elements nest deeper than 24'],
    [invoice.replace('<Emisor>', '<Emisor a=b>'), 'the XML has an attribute without quotes'],
  ]
  for (const [content, fault] of faults) assert.equal(readFault(content), fault)
})

test('other contents are no invoice', () => {
  const others = [
    '',
    '   ',
    '%PDF-1.7 <FacturaElectronica>',
    '{"a":"<"}',
    '<html><body>Clave</body></html>',
    'PD94',
    '<',
    '\xff\xfe',
  ]
  for (const content of others) assert.equal(read(content), undefined, content.slice(0, 40))
})

test('the reader stops at the first element of another document', () => {
  const reader = createInvoiceReader()
  assert.equal(reader.push(Buffer.from(`<html>${' '.repeat(5000)}`)), false)
  const text = createInvoiceReader()
  assert.equal(text.push(Buffer.from('x'.repeat(100))), false)
})

for (const zone of ['UTC', 'America/Costa_Rica', 'America/Los_Angeles']) {
  test(`the day of a FechaEmision without a zone does not depend on the zone of the machine: ${zone}`, (t) => {
    const machineZone = process.env.TZ
    t.after(() => {
      if (machineZone === undefined) delete process.env.TZ
      else process.env.TZ = machineZone
    })
    process.env.TZ = zone
    assert.equal(new Date(0).getTimezoneOffset() === 0, zone === 'UTC', 'the zone has taken effect')
    const { date, warnings } = facts(sampleInvoice({ issuedAt: '2026-03-25T04:30:00' }))
    assert.deepEqual([date, warnings], ['2026-03-25', ['clave_date']])
    assert.equal(facts(sampleInvoice({ issuedAt: '2026-03-23T23:30:00.5' })).date, '2026-03-23')
  })
}

test('warnings name what does not fit', () => {
  const warnings = (options: Parameters<typeof sampleInvoice>[0]) => facts(sampleInvoice(options)).warnings
  assert.deepEqual(warnings({ issuedAt: '2026-03-25T03:30:00Z' }), [])
  assert.equal(facts(sampleInvoice({ issuedAt: '2026-03-25T03:30:00Z' })).date, '2026-03-24')
  assert.deepEqual(warnings({ issuedAt: '2026-03-26T03:30:00Z' }), ['clave_date'])
  assert.equal(facts(sampleInvoice({ issuedAt: '2026-03-26T03:30:00Z' })).date, '2026-03-26')
  assert.deepEqual(warnings({ clave: createClave('TiqueteElectronico') }), ['clave_kind'])
  assert.deepEqual(warnings({ clave: createClave('FacturaElectronica', 43, '999') }), ['clave_id'])
  assert.deepEqual(
    warnings({
      kind: 'FacturaElectronicaCompra',
      clave: createClave('FacturaElectronicaCompra', 1, '3101654321'),
    }),
    [],
  )
  assert.deepEqual(warnings({ currency: 'CRC', rate: '1.5' }), ['crc_rate'])
  assert.deepEqual(warnings({ currency: 'CRC', rate: '1.00000' }), [])
  const other = sampleInvoice().replace('>00100001010000000043<', '>00100001010000000044<')
  assert.deepEqual(facts(other).warnings, ['clave_consecutive'])
})
