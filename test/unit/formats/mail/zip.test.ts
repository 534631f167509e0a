// Archives in a mail: their files, and the limits that leave them whole.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { readZip } from '../../../../src/formats/mail/zip.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail } from '../../../support/documents/mails.ts'
import { zipped } from '../../../support/rates/workbooks.ts'

const INVOICE = sampleInvoice()
const MIB = 1024 * 1024

async function list(files: Record<string, string>, mostBytes = 50 * MIB): Promise<unknown> {
  return (await readZip(await zipped(files), mostBytes))?.map(({ name }) => name)
}

test('readZip returns files with an invoice among them, by base names', async () => {
  const files = {
    'a/../../FE.xml': INVOICE,
    'C:\\x\\FE.pdf': '%PDF',
    '/etc/nota.txt': 'x',
    'dir/': '',
    '..': 'y',
  }
  assert.deepEqual(await list(files), ['FE.xml', 'FE.pdf', 'nota.txt', undefined])
  assert.deepEqual(await list({ 'FE.xml': INVOICE, '__MACOSX/._FE.xml': 'x', 'empty.txt': '' }), ['FE.xml'])
  const [file] = (await readZip(await zipped({ 'FE.xml': INVOICE }), MIB)) ?? []
  assert.equal(Buffer.from(file?.bytes ?? []).toString(), INVOICE)
})

test('readZip accepts an invoice that cannot be read', async () => {
  assert.deepEqual(await list({ 'FE.xml': INVOICE.slice(0, -20) }), ['FE.xml'])
})

test('readZip rejects an archive without an invoice', async () => {
  assert.equal(await list({ 'a.xml': '<a/>', 'a.pdf': '%PDF' }), undefined)
  assert.equal(await list({}), undefined)
})

test('readZip accepts 100 entries and rejects 101', async () => {
  const create = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.xml`, INVOICE]))
  assert.equal(((await list(create(100))) as string[]).length, 100)
  assert.equal(await list(create(101)), undefined)
})

test('readZip rejects more inflated bytes than its limit', async () => {
  const files = { 'FE.xml': INVOICE, 'a.txt': randomBytes(500).toString('hex') }
  const size = Buffer.byteLength(INVOICE) + 1000
  assert.ok(await list(files, size))
  assert.equal(await list(files, size - 1), undefined)
})

test('readZip rejects a file that is deflated more than 100:1', async () => {
  assert.equal(await list({ 'FE.xml': INVOICE, 'zeros.txt': '0'.repeat(MIB) }), undefined)
})

test('readZip rejects an archive within, and accepts a workbook', async () => {
  const inner = (await zipped({ 'a.txt': 'x' })).toString('latin1').replace(/[^\x20-\x7e]/g, ' ')
  assert.deepEqual(await list({ 'FE.xml': INVOICE, 'a.xlsx': `PK\u0003\u0004${inner}` }), [
    'FE.xml',
    'a.xlsx',
  ])
  assert.equal(await list({ 'FE.xml': INVOICE, 'b/A.ZIP': `PK\u0003\u0004${inner}` }), undefined)
})

test('readZip rejects encryption, damage, and sizes that are not as declared', async () => {
  const good = await zipped({ 'FE.xml': INVOICE })
  const directory = good.indexOf('PK\u0001\u0002')
  const change = (edit: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(good)
    edit(bytes)
    return readZip(bytes, MIB)
  }
  assert.ok(await change(() => undefined))
  const size = good.readUInt32LE(directory + 24)
  assert.equal(await change((bytes) => bytes.writeUInt16LE(1, directory + 8)), undefined)
  assert.equal(await change((bytes) => bytes.writeUInt32LE(0, directory + 16)), undefined)
  assert.equal(await change((bytes) => bytes.writeUInt32LE(size - 1, directory + 24)), undefined)
  assert.equal(await change((bytes) => bytes.writeUInt32LE(size + 1, directory + 24)), undefined)
  assert.equal(await readZip(good.subarray(0, -10), MIB), undefined)
  assert.equal(await readZip(Buffer.from('PK\u0003\u0004'), MIB), undefined)
})

test('a mail has the files of its archives, or the archives', async () => {
  const files = await zipped({ 'x/FE.xml': INVOICE, 'FE.pdf': '%PDF-', '..': '%PDF-' })
  const parts = async (type: string, disposition: string, content: Uint8Array) => {
    const mail = await readMail(new Uint8Array(createMail([{ type, disposition, content }])).buffer)
    return 'parts' in mail ? mail.parts.map(({ name, type }) => `${name} ${type}`) : mail.refused
  }
  const expected = ['FE.xml application/xml', 'FE.pdf application/pdf', 'adjunto-3.pdf application/pdf']
  assert.deepEqual(await parts('application/zip', 'attachment; filename=a', files), expected)
  assert.deepEqual(await parts('application/octet-stream', 'attachment; filename=A.ZIP', files), expected)
  assert.deepEqual(await parts('application/octet-stream', 'attachment', files), expected)
  assert.deepEqual(await parts('application/x', 'attachment; filename=a.docx', files), [
    'a.docx application/x',
  ])
  const other = await zipped({ 'a.pdf': '%PDF' })
  assert.deepEqual(await parts('application/zip', 'attachment; filename=a.zip', other), [
    'a.zip application/zip',
  ])
})

test('the archives of a mail have 50 MiB together', async () => {
  const noise = randomBytes(15 * MIB).toString('hex')
  const archive = await zipped({ 'FE.xml': INVOICE, 'noise.txt': noise })
  const part = { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: archive }
  const mail = await readMail(new Uint8Array(createMail([part, part])).buffer)
  assert.deepEqual('parts' in mail && mail.parts.map(({ name }) => name), ['FE.xml', 'noise.txt', 'a.zip'])
})
