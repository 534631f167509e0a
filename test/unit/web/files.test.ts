// Files of the page: CSV, and a workbook that is unzipped and read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'
import { encodeCsv } from '../../../src/web/model/csv.ts'
import type { Download } from '../../../src/web/model/table.ts'
import { encodeXlsx, XLSX_TYPE } from '../../../src/web/model/xlsx.ts'

const TABLE: Download = {
  title: 'USD/CRC: 2026',
  columns: [
    { title: 'Fecha', kind: 'day' },
    { title: 'Compra', kind: 'number' },
    { title: 'Nombre', kind: 'text' },
  ],
  rows: [
    ['2026-11-20', '484.98', 'Yen "japonés", ₡'],
    ['1983-01-01', '0.0019803', '=HYPERLINK("http://x","y")'],
    ['2026-11-21', '1234567890123.4567', '<b>&\u0000\u0008</b>'],
    ['2026-11-22', '', '+1'],
  ],
}

/** Files of an archive by name, verified by size and CRC. */
function unzip(bytes: Buffer): Map<string, string> {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  const files = new Map<string, string>()
  let at = bytes.readUInt32LE(end + 16)
  for (let count = bytes.readUInt16LE(end + 10); count > 0; count--) {
    assert.equal(bytes.readUInt32LE(at), 0x02014b50)
    const [sum, packed, size] = [16, 20, 24].map((offset) => bytes.readUInt32LE(at + offset)) as [
      number,
      number,
      number,
    ]
    const nameLength = bytes.readUInt16LE(at + 28)
    const head = bytes.readUInt32LE(at + 42)
    const name = bytes.toString('utf8', at + 46, at + 46 + nameLength)
    const begin = head + 30 + bytes.readUInt16LE(head + 26) + bytes.readUInt16LE(head + 28)
    const content = inflateRawSync(bytes.subarray(begin, begin + packed))
    assert.deepEqual([content.length, crc32(content)], [size, sum])
    files.set(name, content.toString())
    at += 46 + nameLength
  }
  return files
}

test('encodeCsv writes ISO days and points, and escapes formulas', () => {
  assert.equal(
    encodeCsv(TABLE),
    'Fecha,Compra,Nombre\r\n' +
      '2026-11-20,484.98,"Yen ""japonés"", ₡"\r\n' +
      '1983-01-01,0.0019803,"\'=HYPERLINK(""http://x"",""y"")"\r\n' +
      '2026-11-21,1234567890123.4567,<b>&\u0000\u0008</b>\r\n' +
      "2026-11-22,,'+1\r\n",
  )
})

test('encodeCsv writes a local separator, decimal commas and local days', () => {
  assert.equal(
    encodeCsv(TABLE, { separator: ';', isLocal: true }),
    'Fecha;Compra;Nombre\r\n' +
      '20/11/2026;484,98;"Yen ""japonés"", ₡"\r\n' +
      '01/01/1983;0,0019803;"\'=HYPERLINK(""http://x"",""y"")"\r\n' +
      '21/11/2026;1234567890123,4567;<b>&\u0000\u0008</b>\r\n' +
      "22/11/2026;;'+1\r\n",
  )
  const odd: Download = { title: '', columns: [{ title: 'a;b', kind: 'text' }], rows: [['x\ty'], ['1,5']] }
  assert.equal(encodeCsv(odd, { separator: '\t', isLocal: false }), 'a;b\r\n"x\ty"\r\n1,5\r\n')
  assert.equal(encodeCsv(odd, { separator: ';', isLocal: false }), '"a;b"\r\nx\ty\r\n1,5\r\n')
})

test('encodeXlsx writes days as dates, figures as numbers, and names as text', async () => {
  const blob = await encodeXlsx(TABLE)
  assert.equal(blob.type, XLSX_TYPE)
  const files = unzip(Buffer.from(await blob.arrayBuffer()))
  assert.deepEqual(
    [...files.keys()],
    [
      '[Content_Types].xml',
      '_rels/.rels',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      'xl/styles.xml',
      'xl/worksheets/sheet1.xml',
    ],
  )
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
  assert.match(sheet, /<c r="A2" s="2"><v>46346<\/v><\/c><c r="B2" s="3"><v>484.98<\/v><\/c>/)
  assert.match(sheet, /<c r="B3" s="3"><v>0.0019803<\/v><\/c>/)
  assert.match(sheet, /<c r="C3" s="0" t="inlineStr"><is><t xml:space="preserve">=HYPERLINK/)
  assert.match(sheet, /<c r="B4" s="0" t="inlineStr"><is><t xml:space="preserve">1234567890123.4567</)
  assert.match(sheet, /&lt;b&gt;&amp;&lt;\/b&gt;/)
  assert.doesNotMatch(sheet, /<f>|r="B5"/)
  assert.match(files.get('xl/workbook.xml') ?? '', /sheet name="USD-CRC- 2026"/)
})

test('encodeXlsx writes the same bytes for the same table', async () => {
  const [first, second] = await Promise.all([encodeXlsx(TABLE), encodeXlsx(TABLE)])
  assert.deepEqual(await first.arrayBuffer(), await second.arrayBuffer())
})
