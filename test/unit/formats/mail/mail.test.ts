// Documents of a mail: examples as they lie in a mailbox, each kind of part, refusals, texts of strangers.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createInvoiceReader } from '../../../../src/formats/invoices/invoice.ts'
import { type MailContents, readMail as readBuffer } from '../../../../src/formats/mail/mail.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail, encodeMultipart, NL, type TestPart } from '../../../support/documents/mails.ts'

const readMail = (raw: Uint8Array) => readBuffer(new Uint8Array(raw).buffer)
const FIXTURES = join(import.meta.dirname, '../../../fixtures/mails')
const CLAVE = '50624032600310112345600100001010000000042112345678'
const INVOICE = sampleInvoice()
const FE = { type: 'text/xml', disposition: 'attachment; filename=FE.xml', content: INVOICE }

/** Each example with its documents as name, type and size, or the reason of its refusal. */
const EXAMPLES: Record<string, string | string[]> = {
  'empty.eml': 'no documents',
  'forwarded-as-attachment.eml': ['FE.xml application/octet-stream 5638'],
  'inline-logo.eml': ['FE.xml application/xml 5638'],
  'name-encoded-word.eml': ['Factura electrónica.xml application/xml 5638'],
  'name-path.eml': ['FE.xml text/xml 5638'],
  'name-rfc2231-latin1.eml': ['Factura electrónica larga.xml text/xml 5638'],
  'named-as-the-annex-says.eml': [
    `${CLAVE}.xml text/xml 5652`,
    `${CLAVE}.pdf application/pdf 69`,
    `${CLAVE}_respuesta.xml application/xml 4052`,
  ],
  'names-of-their-own.eml': [
    'FE-2.xml text/xml 5638',
    'Factura N° 2.pdf application/pdf 69',
    'respuesta.xml application/xml 4052',
  ],
  'no-message-id.eml': [
    'FE-11.xml text/xml 5638',
    'Factura N° 11.pdf application/pdf 69',
    'respuesta.xml application/xml 4052',
  ],
  'winmail.eml': 'winmail.dat',
  'zip.eml': ['FE.xml application/xml 5638', 'FE.pdf application/pdf 69'],
}

for (const [name, expected] of Object.entries(EXAMPLES)) {
  test(`readMail reads ${name}`, async () => {
    const mail = await readMail(readFileSync(join(FIXTURES, name)))
    if (typeof expected === 'string') return assert.equal(refusal(mail), expected)
    const { parts } = contents(mail)
    assert.deepEqual(
      parts.map(({ name, type, bytes }) => `${name} ${type} ${bytes.length}`),
      expected,
    )
    for (const { name, bytes } of parts) if (name.endsWith('.xml')) assert.ok(readClave(bytes), name)
  })
}

test('readMail reads Message-ID, sender, subject and recipients', async () => {
  const read = async (name: string) => contents(await readMail(readFileSync(join(FIXTURES, name))))
  const { parts: _, left, inline, bodies, ...head } = await read('names-of-their-own.eml')
  assert.deepEqual([left, inline, bodies], [[], 0, 1])
  assert.deepEqual(head, {
    messageId: '<2@proveedor.example>',
    from: 'facturas@proveedor.example',
    fromText: 'Proveedor <facturas@proveedor.example>',
    subject: 'Factura 2 — electrónica',
    recipients: ['facturas+1@acme.example'],
  })
  assert.equal((await read('no-message-id.eml')).messageId, null)
  assert.equal((await read('name-rfc2231-latin1.eml')).subject, 'Factura electrónica')
})

test('readMail lists the addresses of delivery first, each once', async () => {
  const mail = await readMail(
    createMail([FE], {
      Cc: 'Grupo: c@x.example, "Eva, la otra" <d+12@x.example>;',
      To: 'A <a@x.example>, c@x.example',
      'X-Original-To': 'facturas+12@acme.example',
      'Delivered-To': 'caja@acme.example',
      Bcc: 'hidden@x.example',
    }),
  )
  assert.deepEqual(contents(mail).recipients, [
    'caja@acme.example',
    'facturas+12@acme.example',
    'a@x.example',
    'c@x.example',
    'd+12@x.example',
  ])
})

test('readMail cleans the texts of a stranger and shortens them to 200 characters', async () => {
  const mail = contents(
    await readMail(
      createMail([FE], {
        From: '"\u202ebanco\u0007 central" <x@evil.example>',
        Subject: `\u2067Fac\ttura\u200b${'á'.repeat(300)}`,
        'Message-ID': '<\u0001a@b>',
      }),
    ),
  )
  assert.equal(mail.fromText, 'banco central <x@evil.example>')
  assert.equal(mail.from, 'x@evil.example')
  assert.equal(mail.subject, `Fac tura${'á'.repeat(192)}`)
  assert.equal(mail.messageId, '<a@b>')
})

test('readMail reads a mail without a sender, and one without any header', async () => {
  const mail = contents(await readMail(createMail([FE], { From: 'nobody', 'Message-ID': '' })))
  assert.deepEqual([mail.from, mail.fromText, mail.messageId], ['', 'nobody', null])
  assert.equal(refusal(await readMail(Buffer.from('\r\nhola'))), 'no documents')
  assert.equal(refusal(await readMail(new Uint8Array())), 'no documents')
})

test('readMail accepts a mail that is a document itself', async () => {
  const mail = createMail([]).toString('latin1').split('Content-Type')[0]
  const body = `Content-Type: application/pdf; name=a.pdf${NL}${NL}%PDF-1.4`
  assert.deepEqual(await names(`${mail}${body}`), ['a.pdf'])
})

test('readMail leaves bodies, signatures, calendars and reports', async () => {
  const parts: TestPart[] = [
    { type: 'text/plain', content: 'hola' },
    { type: 'text/html', content: '<?xml version="1.0"?><html></html>' },
    { type: 'text/x-amp-html', content: '<html amp4email>' },
    { type: 'text/calendar', disposition: 'attachment; filename=a.ics', content: 'BEGIN:VCALENDAR' },
    { type: 'application/ics', disposition: 'attachment; filename=a.ics', content: 'BEGIN:VCALENDAR' },
    { type: 'application/pkcs7-signature', disposition: 'attachment; filename=smime.p7s', content: 'x' },
    { type: 'application/x-pkcs7-signature', content: 'x' },
    { type: 'application/pgp-signature; name=signature.asc', content: 'x' },
    { type: 'message/delivery-status', content: 'Reporting-MTA: x' },
    { type: 'application/pdf', disposition: 'attachment; filename=empty.pdf', content: '' },
  ]
  assert.equal(refusal(await readMail(createMail(parts))), 'no documents')
  assert.deepEqual(await names(createMail([...parts, FE])), ['FE.xml'])
})

test('readMail accepts XML, files with names and other types inline', async () => {
  const parts: TestPart[] = [
    { type: 'text/xml', disposition: 'inline', content: INVOICE },
    { type: 'text/plain; name=FE.XML', content: INVOICE },
    { type: 'text/html; name=cuerpo.html', content: '<p>' },
    { type: 'text/plain; name=nota-1.txt', content: 'nota' },
    { type: 'text/plain', content: INVOICE },
    { type: 'text/plain', disposition: 'inline; filename=nota.txt', content: 'nota' },
    { type: 'text/csv; name=a.csv', content: 'a' },
    { type: 'application/pdf', disposition: 'inline; filename=b.pdf', content: '%PDF' },
    { content: INVOICE },
  ]
  assert.deepEqual(await names(createMail(parts)), [
    'adjunto-1.xml',
    'FE.XML',
    'cuerpo.html',
    'nota-1.txt',
    'adjunto-5.txt',
    'nota.txt',
    'a.csv',
    'b.pdf',
    'adjunto-9.xml',
  ])
})

test('readMail leaves pictures that the HTML names, and accepts others', async () => {
  const picture = (name: string, id: string, type = 'image/png') => ({
    type,
    disposition: `attachment; filename=${name}`,
    id,
    content: Buffer.from('\x89PNG', 'latin1'),
  })
  const html =
    '<img src="cid:a@x"><img src=CID:b%2Bc><img src=\'cid:d&amp;e\'><a href="cid:xml"></a><img src="cid:f">'
  const related = encodeMultipart(
    'related',
    [
      { type: 'text/html', content: html },
      picture('a.png', '<a@x>'),
      picture('b.png', ' <b+c> '),
      picture('d.png', 'd&e', 'application/octet-stream'),
      picture('other.png', '<other>'),
      { ...FE, id: '<xml>' },
    ],
    'inner',
  )
  const mail = createMail([picture('f.png', '<f>')]).toString('latin1')
  const whole = mail.replace(`--part${NL}`, `--part${NL}${related}${NL}--part${NL}`)
  assert.deepEqual(await names(whole), ['other.png', 'FE.xml'])
})

test('readMail reads attached messages, three in one another; a fourth is a document', async () => {
  const nest = (depth: number): string =>
    depth === 0
      ? encodeMultipart('mixed', [FE], 'b0')
      : `${encodeMultipart('mixed', [`Content-Type: message/rfc822${NL}${NL}${nest(depth - 1)}`], `b${depth}`)}`
  assert.deepEqual(await names(nest(3)), ['FE.xml'])
  assert.deepEqual(await names(nest(4)), ['adjunto-1.eml'])
  const encoded = { type: 'message/rfc822', content: createMail([FE, FE]) }
  assert.deepEqual(await names(createMail([encoded, FE])), ['FE.xml', 'FE.xml', 'FE.xml'])
  const bodyAlone = { type: 'message/rfc822', content: `Subject: x${NL}${NL}hola` }
  assert.equal(refusal(await readMail(createMail([bodyAlone]))), 'no documents')
})

test('readMail refuses winmail.dat alone, and accepts it beside others', async () => {
  const tnef = { type: 'application/vnd.ms-tnef', content: 'x' }
  const unnamedType = { disposition: 'attachment; filename=WINMAIL.DAT', content: 'x' }
  assert.equal(refusal(await readMail(createMail([tnef, unnamedType]))), 'winmail.dat')
  assert.deepEqual(await names(createMail([unnamedType, FE])), ['WINMAIL.DAT', 'FE.xml'])
})

test('readMail accepts 100 documents and refuses 101', async () => {
  assert.equal((await names(createMail(Array.from({ length: 100 }, () => FE)))).length, 100)
  const more = await readMail(createMail(Array.from({ length: 101 }, () => FE)))
  assert.equal(refusal(more), 'too many parts')
})

test('readMail reads parts in quoted-printable and 8bit', async () => {
  const content = `<a>1 = 2 á</a>${NL}<b/>`
  const quoted = Buffer.from('<a>1 =3D 2 =C3=A1</a>\r\n=\r\n<b/>')
  const mail = await readMail(
    createMail([
      { ...FE, encoding: 'quoted-printable', content: quoted },
      { ...FE, encoding: '8bit', content },
    ]),
  )
  const texts = contents(mail).parts.map(({ bytes }) => Buffer.from(bytes).toString())
  assert.deepEqual(texts, ['<a>1 = 2 á</a>\r\n<b/>', '<a>1 = 2 á</a>\r\n<b/>'])
})

test('readMail reads base64 with padding in its middle and other characters, quoted-printable with blanks', async () => {
  const head = `Content-Type: application/x${NL}Content-Transfer-Encoding:`
  const base64 = `${head} BASE64 (x)${NL}${NL}QQ==${NL}Qk%M=${NL} ${NL}REVG`
  const quoted = `${head} "quoted-printable"${NL}${NL}a=  ${NL}b=3d=3D=zz=4${NL}c=`
  const mail = createMail([])
    .toString('latin1')
    .replace('--part--', `--part${NL}${base64}${NL}--part${NL}${quoted}${NL}--part--`)
  const texts = contents(await readMail(Buffer.from(mail))).parts.map(({ bytes }) =>
    Buffer.from(bytes).toString(),
  )
  assert.deepEqual(texts, ['ABCDEF', `ab===zz=4${NL}c`.replace('\\', '')])
})

test('readMail never throws on a mail that is cut off', async () => {
  const whole = readFileSync(join(FIXTURES, 'zip.eml'))
  for (let length = 0; length < whole.length; length += 97) {
    const mail = await readMail(whole.subarray(0, length))
    assert.ok('refused' in mail ? mail.refused === 'no documents' : mail.parts.length > 0, String(length))
  }
})

function refusal(mail: Awaited<ReturnType<typeof readMail>>): string {
  return 'refused' in mail ? mail.refused : 'accepted'
}

function contents(mail: Awaited<ReturnType<typeof readMail>>): MailContents {
  assert.ok(!('refused' in mail), `refused: ${JSON.stringify(mail)}`)
  return mail
}

async function names(mail: string | Uint8Array): Promise<string[]> {
  return contents(await readMail(Buffer.from(mail as string, 'latin1'))).parts.map(({ name }) => name)
}

function readClave(bytes: Uint8Array): string | undefined {
  const reader = createInvoiceReader()
  reader.push(bytes)
  const invoice = reader.end()
  return invoice && 'clave' in invoice ? invoice.clave : undefined
}
