// Archives in a mail: their files, and the limits that leave them whole.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { isIgnoredName } from '../../../../src/formats/mail/ignored.ts'
import { readMail } from '../../../../src/formats/mail/mail.ts'
import { isZip, readZip } from '../../../../src/formats/mail/zip.ts'
import { sampleInvoice } from '../../../support/documents/invoice-xml.ts'
import { createMail, storedZip } from '../../../support/documents/mails.ts'
import { zipped } from '../../../support/rates/workbooks.ts'

const INVOICE = sampleInvoice()
const MIB = 1024 * 1024

async function list(files: Record<string, string>, mostBytes = 50 * MIB): Promise<unknown> {
  return names(await readZip(await zipped(files), mostBytes, isIgnored))
}

const isIgnored = (path: string | undefined) => isIgnoredName(path, [])

function names(read: Awaited<ReturnType<typeof readZip>>): unknown {
  return typeof read === 'string' ? read : read.files.map(({ name }) => name)
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
  const read = await readZip(await zipped({ 'FE.xml': INVOICE }), MIB, isIgnored)
  assert.equal(typeof read === 'object' && Buffer.from(read.files[0]?.bytes ?? []).toString(), INVOICE)
})

test('readZip leaves out empty files, and those of file managers', async () => {
  const junk = ['.DS_Store', 'b/THUMBS.DB', 'desktop.ini', '._FE.xml', '__MACOSX/x.txt', 'c\\__MACOSX\\x']
  const files = Object.fromEntries(junk.map((path) => [path, 'x']))
  const read = await readZip(await zipped({ 'FE.xml': INVOICE, ...files, 'a/empty.txt': '' }), MIB, isIgnored)
  assert.ok(typeof read === 'object')
  assert.deepEqual(names(read), ['FE.xml'])
  assert.deepEqual(
    read.left.map(({ name, reason }) => `${name} ${reason}`),
    ['.DS_Store', 'THUMBS.DB', 'desktop.ini', '._FE.xml', 'x.txt', 'x']
      .map((name) => `${name} ignored`)
      .concat('empty.txt empty'),
  )
})

test('readZip decodes names in UTF-8, else in cp437', async () => {
  const read = async (name: Buffer, isFlagged: boolean, field = Buffer.alloc(0)) => {
    const zip = storedZip({ 'FE.xml': Buffer.from(INVOICE), ['x'.repeat(name.length)]: Buffer.from('a') })
    const entry = zip.lastIndexOf('PK\u0001\u0002')
    name.copy(zip, entry + 46)
    if (!isFlagged) zip.writeUInt16LE(0, entry + 8)
    zip.writeUInt16LE(field.length, entry + 30)
    zip.writeUInt32LE(zip.readUInt32LE(zip.length - 10) + field.length, zip.length - 10)
    const bytes = Buffer.concat([zip.subarray(0, -22), field, zip.subarray(-22)])
    return ((await names(await readZip(bytes, MIB, isIgnored))) as string[])[1]
  }
  const unicode = (name: Buffer, text: string | Buffer, version = 1) => {
    const field = Buffer.concat([Buffer.alloc(9), Buffer.from(text)])
    field.writeUInt16LE(0x7075, 0)
    field.writeUInt16LE(field.length - 4, 2)
    field[4] = version
    field.writeUInt32LE(crc32(name), 5)
    return field
  }
  const [utf8, latin1] = [Buffer.from('ó.pdf'), Buffer.from('Á.pdf', 'latin1')]
  const dos = Buffer.from('\xb5.pdf', 'latin1')
  for (const isFlagged of [true, false]) assert.equal(await read(utf8, isFlagged), 'ó.pdf')
  assert.equal(await read(Buffer.from('Facturaci\xa2n.pdf', 'latin1'), false), 'Facturación.pdf')
  assert.equal(await read(dos, false), '╡.pdf')
  assert.equal(await read(latin1, true), 'Á.pdf')
  assert.equal(await read(dos, false, unicode(dos, 'Á.pdf')), 'Á.pdf')
  assert.equal(await read(dos, false, unicode(dos, 'Á.pdf', 2)), '╡.pdf')
  assert.equal(await read(dos, false, unicode(utf8, 'Á.pdf')), '╡.pdf')
  assert.equal(await read(dos, false, unicode(dos, dos)), '╡.pdf')
})

test('readZip accepts an invoice that cannot be read', async () => {
  assert.deepEqual(await list({ 'FE.xml': INVOICE.slice(0, -20) }), ['FE.xml'])
})

test('readZip rejects archives without an invoice, workbooks and programs', async () => {
  assert.equal(await list({ 'a.xml': '<a/>', 'a.pdf': '%PDF' }), 'no_invoice')
  assert.equal(await list({}), 'no_invoice')
  assert.equal(await list({ 'FE.xml': INVOICE, '[Content_Types].xml': '<a/>' }), 'workbook_or_program')
  assert.equal(await list({ 'FE.xml': INVOICE, 'META-INF/MANIFEST.MF': 'a' }), 'workbook_or_program')
  assert.equal(await list({ mimetype: 'application/epub+zip', 'FE.xml': INVOICE }), 'workbook_or_program')
  assert.deepEqual(await list({ 'FE.xml': INVOICE, mimetype: 'x' }), ['FE.xml', 'mimetype'])
})

test('readZip accepts 100 entries and rejects 101', async () => {
  const create = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`${at}.xml`, INVOICE]))
  assert.equal(((await list(create(100))) as string[]).length, 100)
  assert.equal(await list(create(101)), 'too_many_files')
  const copies = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`__MACOSX/._${at}.xml`, 'x']))
  assert.equal(((await list({ ...create(100), ...copies })) as string[]).length, 100)
})

test('readZip rejects more inflated bytes than its limit', async () => {
  const files = { 'FE.xml': INVOICE, 'a.txt': randomBytes(500).toString('hex') }
  const size = Buffer.byteLength(INVOICE) + 1000
  assert.ok(await list(files, size))
  assert.equal(await list(files, size - 1), 'too_large')
})

test('readZip rejects a file that is deflated more than 100:1', async () => {
  assert.equal(await list({ 'FE.xml': INVOICE, 'zeros.txt': '0'.repeat(MIB) }), 'too_compressed')
})

test('readZip rejects encryption, damage, and sizes that are not as declared', async () => {
  const good = await zipped({ 'FE.xml': INVOICE })
  const directory = good.indexOf('PK\u0001\u0002')
  const change = async (edit: (bytes: Buffer) => void) => {
    const bytes = Buffer.from(good)
    edit(bytes)
    return names(await readZip(bytes, MIB, isIgnored))
  }
  assert.deepEqual(await change(() => undefined), ['FE.xml'])
  const size = good.readUInt32LE(directory + 24)
  assert.equal(await change((bytes) => bytes.writeUInt16LE(1, directory + 8)), 'encrypted')
  assert.equal(await change((bytes) => bytes.writeUInt32LE(0, directory + 16)), 'damaged')
  assert.equal(await change((bytes) => bytes.writeUInt32LE(size - 1, directory + 24)), 'damaged')
  assert.equal(await change((bytes) => bytes.writeUInt32LE(size + 1, directory + 24)), 'damaged')
  assert.equal(await readZip(good.subarray(0, -10), MIB, isIgnored), 'damaged')
  assert.equal(await readZip(Buffer.from('PK\u0003\u0004'), MIB, isIgnored), 'damaged')
})

test('readZip cuts up to 4 KiB before and after an archive', async () => {
  const good = await zipped({ 'FE.xml': INVOICE })
  const noted = Buffer.concat([good.subarray(0, -2), Buffer.from([4, 0]), Buffer.from('nota')])
  const read = async (before: number, after: number, archive = good) => {
    const bytes = Buffer.concat([Buffer.alloc(before, 'a'), archive, Buffer.alloc(after, '\n')])
    return [isZip(bytes), names(await readZip(bytes, MIB, isIgnored))]
  }
  for (const [before, after] of [
    [9, 0],
    [0, 9],
    [4096, 4096],
    [1, 1],
  ] as const) {
    assert.deepEqual(await read(before, after), [true, ['FE.xml']], `${before} ${after}`)
    assert.deepEqual(await read(before, after, noted), [true, ['FE.xml']], `${before} ${after}`)
  }
  assert.deepEqual(await read(4097, 0), [false, 'damaged'])
  assert.deepEqual(await read(0, 4097), [true, 'damaged'])
  assert.deepEqual(await read(0, 0, noted), [true, ['FE.xml']])
})

test('readZip rejects an archive with two ends', async () => {
  const [good, other] = [await zipped({ 'FE.xml': INVOICE }), await zipped({ 'b.txt': 'b' })]
  const end = good.subarray(-22)
  const rebased = Buffer.from(other) // its offsets are those of the whole
  rebased.writeUInt32LE(rebased.readUInt32LE(rebased.length - 6) + good.length, rebased.length - 6)
  rebased.writeUInt32LE(good.length, rebased.indexOf('PK\u0001\u0002') + 42)
  const noted = Buffer.concat([good.subarray(0, -2), Buffer.from([22, 0]), end])
  const inside = await storedZip({
    'FE.xml': Buffer.from(INVOICE),
    'a.txt': Buffer.alloc(MIB, end),
    '._a': end,
  })
  assert.deepEqual(names(await readZip(inside, 9 * MIB, isIgnored)), ['FE.xml', 'a.txt'])
  for (const parts of [[good, other], [other, good], [good, end], [end, good], [good, rebased], [noted]])
    assert.equal(await readZip(Buffer.concat(parts), MIB, isIgnored), 'two_ends', String(parts.length))
})

test('an archive within an archive stays whole, and a workbook does', async () => {
  const inner = await storedZip({ 'a.txt': Buffer.from('x') })
  const book = await storedZip({ '[Content_Types].xml': Buffer.from('<a/>') })
  const archive = await storedZip({ 'FE.xml': Buffer.from(INVOICE), 'b/A.ZIP': inner, 'a.xlsx': book })
  const part = { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: archive }
  const mail = await readMail(new Uint8Array(createMail([part])).buffer)
  assert.deepEqual('parts' in mail && mail.parts.map(({ name, bytes, note }) => [name, bytes.length, note]), [
    ['FE.xml', Buffer.byteLength(INVOICE), null],
    ['A.ZIP', inner.length, 'archive_in_archive'],
    ['a.xlsx', book.length, 'archive_in_archive'],
  ])
})

test('a mail has the files of its archives, or the archives', async () => {
  const files = await zipped({ 'x/FE.xml': INVOICE, 'FE.pdf': '%PDF-', '..': '%PDF-' })
  const parts = async (type: string, disposition: string, content: Uint8Array) => {
    const mail = await readMail(new Uint8Array(createMail([{ type, disposition, content }])).buffer)
    return 'parts' in mail
      ? mail.parts.map(({ name, type, note }) => `${name} ${type}${note ? ` ${note}` : ''}`)
      : mail.refused
  }
  const expected = ['FE.xml application/xml', 'FE.pdf application/pdf', 'adjunto-3.pdf application/pdf']
  assert.deepEqual(await parts('application/zip', 'attachment; filename=a', files), expected)
  assert.deepEqual(await parts('application/octet-stream', 'attachment; filename=A.ZIP', files), expected)
  assert.deepEqual(await parts('application/octet-stream', 'attachment', files), expected)
  assert.deepEqual(await parts('application/x', 'attachment; filename=a.dat', files), expected)
  const other = await zipped({ 'a.pdf': '%PDF' })
  assert.deepEqual(await parts('application/zip', 'attachment; filename=a.zip', other), [
    'a.zip application/zip no_invoice',
  ])
})

test('the archives of a mail have 50 MiB together', async () => {
  const noise = randomBytes(15 * MIB).toString('hex')
  const archive = await zipped({ 'FE.xml': INVOICE, 'noise.txt': noise })
  const part = { type: 'application/zip', disposition: 'attachment; filename=a.zip', content: archive }
  const mail = await readMail(new Uint8Array(createMail([part, part])).buffer)
  assert.deepEqual('parts' in mail && mail.parts.map(({ name, note }) => [name, note]), [
    ['FE.xml', null],
    ['noise.txt', null],
    ['a.zip', 'too_large'],
  ])
})
