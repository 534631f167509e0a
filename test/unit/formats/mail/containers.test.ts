// Containers of a mail: attached mails, S/MIME, archives, gzip, their layers, and the reasons to leave one whole.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { signedData, uuencode } from '../../../support/documents/containers.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import {
  createMail,
  encodeMultipart,
  NL,
  storedZip,
  type TestPart,
} from '../../../support/documents/mails.ts'
import { createRandom } from '../../../support/rates/random-bank.ts'
import { SEED } from '../../../support/seed.ts'

const INVOICE = Buffer.from(sampleInvoice())
const MIB = 1024 * 1024
const file = (name: string, content: Uint8Array | string, type = 'application/octet-stream'): TestPart => ({
  ...{ type, content },
  disposition: `attachment; filename="${name}"`,
})
const FE = file('FE.xml', INVOICE, 'text/xml')

/** Reads a mail into `name note` of its documents, or the reason of its refusal. */
async function read(
  parts: TestPart[] | Buffer,
  isWhole = false,
  ignore: string[] = [],
): Promise<string[] | string> {
  const raw = Array.isArray(parts) ? createMail(parts) : parts
  const mail = await readMail(new Uint8Array(raw).buffer, { ignore, isWhole })
  if ('refused' in mail) return mail.refused
  for (const { bytes } of mail.parts) assert.equal(bytes.byteLength, bytes.buffer.byteLength)
  return mail.parts.map(({ name, note }) => (note === null ? name : `${name} ${note}`))
}

test('an attached mail is opened by its type, or by a name that ends in .eml', async () => {
  const mail = createMail([FE])
  for (const one of [
    file('reenviado.eml', mail),
    file('R.EML', `${NL}${mail.toString('latin1')}`, 'text/plain'),
    file('a.eml', Buffer.concat([Buffer.from('From ana@x.cr Sat Nov 28\n'), mail])),
    file('sin extension', mail, 'message/rfc822'),
    file('a', mail, 'message/global'),
  ])
    assert.deepEqual(await read([one]), ['FE.xml'])
  for (const start of ['\ufeff', ' \n\t\r\n', '>From ana@x.cr\n'])
    for (const content of [mail, mail.subarray(mail.indexOf('Content-Type:'))])
      assert.deepEqual(await read([file('a.eml', Buffer.concat([Buffer.from(start), content]))]), ['FE.xml'])
  assert.deepEqual(await read([file('a.eml', '%PDF-1.4')]), ['a.eml no_mail'])
  assert.deepEqual(await read([file('a.dat', mail)]), ['a.dat'])
  const parts = Array.from({ length: 1100 }, () => file('a', ''))
  assert.deepEqual(await read([file('a.eml', createMail(parts)), FE]), ['a.eml too_many_files', 'FE.xml'])
})

test('a document that is labelled as a mail stays a document', async () => {
  const rooted = String(INVOICE)
    .replace(/^<[?].*?[?]>/, '')
    .replace('<Factura', '<fe:Factura')
  for (const content of [
    INVOICE,
    rooted,
    '%PDF-1.4',
    'a;b:c\n1;2',
    '{"a":1}',
    '"a": 1',
    '%a: 1',
    '[a:b]',
    'x',
  ])
    for (const type of ['message/rfc822', 'message/global'])
      assert.deepEqual(await read([file('a', content, type), FE]), ['a no_mail', 'FE.xml'], String(content))
})

test('an opaque S/MIME part is opened, in DER and in BER', async () => {
  const large = file('a.bin', randomBytes(5000))
  const mime = createMail([FE, large])
  for (const content of [signedData(mime), signedData(mime, { isStream: true })]) {
    assert.deepEqual(await read([file('smime.p7m', content)]), ['FE.xml', 'a.bin'])
    assert.deepEqual(await read([{ type: 'application/x-pkcs7-mime', content }]), ['FE.xml', 'a.bin'])
  }
  const root = `From: a@b.example${NL}Content-Type: application/pkcs7-mime; name=smime.p7m${NL}Content-Transfer-Encoding: base64${NL}${NL}`
  assert.deepEqual(await read(Buffer.from(root + signedData(mime).toString('base64'))), ['FE.xml', 'a.bin'])
  const whole: [Buffer, string][] = [
    [signedData(mime, { type: 'enveloped' }), 'encrypted'],
    [signedData(mime).subarray(0, -20), 'damaged'],
    [Buffer.from('0 no DER'), 'damaged'],
    [signedData(INVOICE), 'no_mail'],
    ...[0x0d, 0x17].map((tag): [Buffer, string] => [
      Buffer.concat([Buffer.from([0x30, 0x80, tag, 0x83, 0x7f, 0xff, 0xff]), Buffer.alloc(0x7fffff, 0x81)]),
      'damaged',
    ]),
  ]
  for (const [content, note] of whole)
    assert.deepEqual(await read([file('smime.p7m', content)]), [`smime.p7m ${note}`])
})

test('a mutated S/MIME part is opened or a document', async () => {
  const random = createRandom(SEED)
  const mails = [createMail([FE]), Buffer.from('Subject: x\r\n\r\nhola')]
  for (let round = 0; round < 1000; round++) {
    const content = signedData(mails[round & 1] as Buffer, { isStream: round % 3 === 0 })
    for (let count = random.int(1, 5); count > 0; count--)
      content[random.chance(0.5) ? random.int(1, 60) : random.int(1, content.length - 1)] = random.int(0, 255)
    const names = await read([{ ...FE, content: '<a/>' }, file('smime.p7m', content)])
    assert.ok(
      Array.isArray(names) && names[0] === 'FE.xml',
      `round ${round} of CAMBISTA_SEED=${SEED}: ${names}`,
    )
  }
})

test('a gzip with an XML is opened', async () => {
  const bare = Buffer.from(String(INVOICE).replace(/^<\?xml.*?\?>/, ''))
  for (const content of [INVOICE, bare, Buffer.from('<?xml version="1.0"?><a/>')])
    assert.deepEqual(await read([file('FE.xml.gz', gzipSync(content), 'application/gzip')]), ['FE.xml'])
  assert.deepEqual(await read([file('FE.XML.GZ', gzipSync(INVOICE))]), ['FE.XML'])
  assert.deepEqual(await read([{ type: 'application/gzip', content: gzipSync(INVOICE) }]), ['adjunto-1.xml'])
  const zipped = file('FE-1.xml.gz', gzipSync(INVOICE))
  assert.deepEqual(await read([zipped, FE], false, ['FE-?.xml']), ['FE.xml'])
  assert.deepEqual(await read([zipped], false, ['FE-?.xml']), 'no documents')
  const two = Buffer.concat([gzipSync(INVOICE), gzipSync(INVOICE)])
  const zeros = gzipSync(Buffer.concat([INVOICE, Buffer.alloc(MIB, ' ')]))
  const whole: [Buffer, string][] = [
    [gzipSync('a tar'), 'no_xml'],
    [two, 'damaged'],
    [Buffer.concat([gzipSync(INVOICE), Buffer.from('junk')]), 'damaged'],
    [gzipSync(INVOICE).subarray(0, -9), 'damaged'],
    [zeros, 'too_compressed'],
  ]
  for (const [content, note] of whole) assert.deepEqual(await read([file('a.gz', content)]), [`a.gz ${note}`])
})

test('containers are opened in one another, three deep', async () => {
  const nest = (layers: number): TestPart =>
    layers === 0 ? FE : file(`${layers}.eml`, createMail([nest(layers - 1)]))
  assert.deepEqual(await read([nest(3)]), ['FE.xml'])
  assert.deepEqual(await read([nest(4)]), ['1.eml too_deep'])
  const zip = storedZip({ 'FE.xml': INVOICE, 'r.eml': createMail([file('b.gz', gzipSync(INVOICE))]) })
  assert.deepEqual(await read([file('a.zip', zip)]), ['FE.xml', 'b'])
  assert.deepEqual(await read([file('a.eml', createMail([file('a.zip', zip)]))]), ['FE.xml', 'b.gz too_deep'])
  const inner = createMail([file('b.zip', storedZip({ 'FE.xml': INVOICE }))])
  const outer = storedZip({ 'FE.xml': INVOICE, 'r.eml': inner })
  assert.deepEqual(await read([file('a.zip', outer)]), ['FE.xml', 'b.zip archive_in_archive'])
  const block = uuencode('a.zip', storedZip({ 'dentro.xml': INVOICE }))
  assert.deepEqual(await read([{ type: 'text/plain', content: block }]), ['dentro.xml'])
})

test('the containers of a mail have 100 files together', async () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.xml`, INVOICE]))
  const zip = (count: number) => file(`${count}.zip`, storedZip(many(count)))
  const direct = Array.from({ length: 60 }, () => FE)
  assert.equal((await read([zip(40), ...direct])).length, 100)
  assert.deepEqual((await read([zip(41), ...direct])).slice(0, 2), ['41.zip too_many_files', 'FE.xml'])
  assert.deepEqual((await read([zip(98), zip(3), zip(2)])).slice(-3), [
    '97.xml',
    '3.zip too_many_files',
    '2.zip too_many_files',
  ])
  const mail = file('r.eml', createMail(direct))
  assert.deepEqual((await read([zip(41), mail])).slice(-2), ['40.xml', 'r.eml too_many_files'])
})

test('the containers of a mail have 50 MiB together', async () => {
  const noise = Buffer.from(randomBytes(15 * MIB).toString('base64'))
  const xml = Buffer.concat([INVOICE, Buffer.from('<!--'), noise, Buffer.from('-->')])
  const gzip = gzipSync(xml, { level: 1 })
  const zip = file('a.zip', storedZip({ 'FE.xml': INVOICE, 'a.txt': noise }))
  assert.deepEqual(await read([file('a.xml.gz', gzip), zip, file('b.xml.gz', gzip)]), [
    ...['a.xml', 'FE.xml', 'a.txt', 'b.xml.gz too_large'],
  ])
})

test('containers stay whole on request', async () => {
  const zip = file('a.zip', storedZip({ 'FE.xml': INVOICE }))
  const related = encodeMultipart('mixed', [FE], 'inner')
  const mail = createMail([zip, file('r.eml', createMail([FE])), { ...FE, content: INVOICE }])
  const whole = Buffer.from(
    mail.toString('latin1').replace(`--part${NL}`, `--part${NL}${related}${NL}--part${NL}`),
    'latin1',
  )
  assert.deepEqual(await read(whole, true), ['FE.xml', 'a.zip over_limits', 'r.eml over_limits', 'FE.xml'])
})
