// Names and types of documents, as mail programs and strangers write them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MailPart, readMail } from '../../../../src/formats/mail/mail.ts'
import { baseName, sniffType } from '../../../../src/formats/mail/names.ts'
import { createMail } from '../../../support/documents/mails.ts'

async function readPart(
  type: string | undefined,
  disposition?: string,
  content = '%PDF-1.4',
): Promise<MailPart> {
  const mail = await readMail(new Uint8Array(createMail([{ type, disposition, content } as never])).buffer)
  assert.ok('parts' in mail && mail.parts[0], JSON.stringify(mail))
  return mail.parts[0]
}

const NAMES: [disposition: string, name: string][] = [
  ['attachment; filename="a b.pdf"', 'a b.pdf'],
  ['attachment; filename=Invoice(1).pdf', 'Invoice(1).pdf'],
  ["attachment; filename*=UTF-8''N%C2%BA%201.pdf", 'Nº 1.pdf'],
  ["attachment; filename=plain.pdf; filename*=iso-8859-1'es'F%F3.pdf", 'Fó.pdf'],
  ["attachment; filename*0*=utf-8''a%C3; filename*1*=%A1; filename*2=.pdf", 'aá.pdf'],
  ['attachment; filename="=?utf-8?Q?a=C3=A1?= =?utf-8?Q?b.pdf?="', 'aáb.pdf'],
  ['attachment; filename==?iso-8859-1?Q?F=F3.pdf?=', 'Fó.pdf'],
  ['attachment; filename="Factura N° 2.pdf"', 'Factura N° 2.pdf'],
  ['attachment; filename="=?cp850?Q?Facturaci=A2n.pdf?="', 'Facturación.pdf'],
  ['attachment; filename="=?IBM437?B?RqIu?= =?cp437?Q?pdf?="', 'Fó.pdf'],
  ['attachment; filename="=?UTF-8?B?YcM=?=\r\n =?UTF-8?B?oS5wZGY=?="', 'aá.pdf'],
  ['attachment; filename="=?UTF-8?B?YcM?= =?utf8?Q?=A1.pdf?="', 'aá.pdf'],
  ['attachment; filename="=?UTF-8?B?YcOhL?= =?UTF-8?B?nBkZg==?="', 'aá.pdf'],
  ["attachment; filename*0*=cp850'es'a%A2; filename*1=.pdf", 'aó.pdf'],
  ["attachment; filename*=x-unheard-of''a%F3%81.pdf", 'aó_.pdf'],
  ['attachment; filename*=a%F3.pdf', 'aó.pdf'],
  ['attachment; filename*="UTF-8\'\'a%C3%B3 b.pdf"', 'aó b.pdf'],
  ['attachment; filename="a*0*=b*.pdf"', 'a*0*=b*.pdf'],
  ['attachment; filename="100%25.pdf"', '100%25.pdf'],
  ['attachment; filename="say \\"hi\\".pdf"', 'say "hi".pdf'],
  ['attachment; filename="C:\\Users\\ana\\FE.xml"', 'FE.xml'],
  ['attachment; filename=../../etc/passwd', 'passwd'],
  ["attachment; filename*=utf-8''..%2F..%5Cx.pdf", 'x.pdf'],
  ["attachment; filename*=utf-8''fdp%E2%80%AEexe%00%0A.pdf", 'fdpexe.pdf'],
  ['attachment; filename=".."', 'adjunto-1.pdf'],
  ['attachment; filename="a/"', 'adjunto-1.pdf'],
  ['attachment; filename="  "', 'adjunto-1.pdf'],
  ['attachment', 'adjunto-1.pdf'],
]

for (const [disposition, name] of NAMES) {
  test(`\`${disposition}\` has the name \`${name}\``, async () => {
    assert.equal((await readPart('application/pdf', disposition)).name, name)
  })
}

/** Reads a mail whose headers have `NAME` in these bytes. */
async function readNamed(bytes: string, headers: Record<string, string> = {}, disposition = 'attachment') {
  const mail = createMail([{ type: 'application/pdf', disposition, content: 'x' }], headers).toString(
    'latin1',
  )
  const contents = await readMail(
    new Uint8Array(Buffer.from(mail.replaceAll('NAME', bytes), 'latin1')).buffer,
  )
  assert.ok('parts' in contents)
  return { ...contents, name: contents.parts[0]?.name }
}

const RAW: [bytes: string, text: string][] = [
  ['Facturaci\xf3n N\xba 5', 'Facturación Nº 5'],
  ['Facturaci\xc3\xb3n', 'Facturación'],
  ['Voil\xc3\xa0', 'Voilà'], // its last byte is a blank of Latin-1
  ['\x93\x80 5\x94 \x81', '“€ 5” _'],
]
for (const [bytes, text] of RAW) {
  test(`names, subject and sender in raw bytes are ${text}`, async () => {
    const disposition = 'attachment; filename="NAME.pdf"'
    const mail = await readNamed(bytes, { Subject: 'NAME', From: 'NAME <a@b.example>' }, disposition)
    const texts = [mail.name, mail.subject, mail.fromText, mail.from]
    assert.deepEqual(texts, [`${text}.pdf`, text, `${text} <a@b.example>`, 'a@b.example'])
    assert.equal((await readNamed(bytes, {}, 'attachment; filename="C:\\x\\NAME.pdf"')).name, `${text}.pdf`)
    assert.equal(
      (await readNamed(bytes, { From: '"NAME, S.A." <a@b.example>' })).fromText,
      `${text}, S.A. <a@b.example>`,
    )
  })
}

test('subject and sender join the bytes of words, and each text has its own charset', async () => {
  const word = '=?cp850?Q?Jos=82?= =?utf-8?B?w?= =?utf-8?B?7MgTQ==?='
  const { subject, fromText, name } = await readNamed(
    'M\xf3',
    { Subject: word, From: `${word} <a@b.example>` },
    'attachment; filename="NAME"',
  )
  assert.deepEqual([subject, fromText, name], ['Joséó M', 'Joséó M <a@b.example>', 'Mó'])
  const mixed = { Subject: '\u00d1and\u00fa', From: '"=?utf-8?Q?a=2C_b?=" <c@d.example>, NAME <e@f.example>' }
  const other = await readNamed('\xf3', mixed)
  assert.deepEqual([other.subject, other.fromText], ['Ñandú', 'a, b <c@d.example>'])
})

test('Content-Type has the name of a part without a file name in Content-Disposition', async () => {
  assert.equal((await readPart('application/pdf; name="=?utf-8?B?w6EucGRm?="', 'attachment')).name, 'á.pdf')
  assert.equal((await readPart("application/pdf; name*=utf-8''%C3%A1.pdf")).name, 'á.pdf')
})

test('baseName shortens a name to 255 characters and leaves its extension', () => {
  const long = baseName(`${'á'.repeat(300)}.xml`) ?? ''
  assert.deepEqual([[...long].length, long.endsWith('á.xml')], [255, true])
  assert.equal([...(baseName('😀'.repeat(300)) ?? '')].length, 255)
  const [longest, longer] = [15, 16].map((count) => baseName(`${'a'.repeat(300)}.${'x'.repeat(count)}`))
  assert.equal(longest, `${'a'.repeat(239)}.${'x'.repeat(15)}`)
  assert.equal(longer, 'a'.repeat(255), 'a longer end is no extension')
  assert.equal(baseName('\ud800.xml'), '\ufffd.xml')
})

const TYPES: [header: string | undefined, content: string, type: string, extension: string][] = [
  ['application/PDF', 'x', 'application/pdf', 'pdf'],
  ['text/csv; charset="ISO-8859-1"; name=', 'x', 'text/csv; charset=iso-8859-1', 'csv'],
  ['application/vnd.x+xml', 'x', 'application/vnd.x+xml', 'xml'],
  ['application/octet-stream', '\ufeff<?xml version="1.0"?><a/>', 'application/octet-stream', 'xml'],
  [undefined, '<?xml version="1.0"?><a/>', 'application/xml', 'xml'],
  ['pdf', '%PDF-1.4', 'application/pdf', 'pdf'],
  ['application/*', '%PDF-1.4', 'application/pdf', 'pdf'],
  ['application/pdf/x', 'GIF89a', 'image/gif', 'gif'],
  ['a\u00e1/b', 'PK\u0003\u0004', 'application/zip', 'zip'],
  [undefined, 'x', 'application/octet-stream', ''],
]

for (const [header, content, type, extension] of TYPES) {
  test(`a part of type ${JSON.stringify(header)} that begins with ${JSON.stringify(content.slice(0, 5))} is ${type}`, async () => {
    const part = await readPart(header, 'attachment', content)
    assert.deepEqual([part.type, part.name], [type, extension ? `adjunto-1.${extension}` : 'adjunto-1'])
  })
}

test('sniffType finds XML in UTF-16 and pictures', () => {
  const xml = Buffer.from('\ufeff<?xml version="1.0"?>', 'utf16le')
  assert.equal(sniffType(xml), 'application/xml')
  assert.equal(sniffType(Buffer.from(xml).swap16()), 'application/xml')
  assert.equal(sniffType(Buffer.from('89504e470d0a1a0a', 'hex')), 'image/png')
  assert.equal(sniffType(Buffer.from('ffd8ffe0', 'hex')), 'image/jpeg')
  assert.equal(sniffType(Buffer.from('RIFF\n\n\n\nWEBP')), 'image/webp')
})
