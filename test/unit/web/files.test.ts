// Files of the page: CSV, and a workbook that is unzipped and read.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, inflateRawSync } from 'node:zlib'
import { encodeCsv, PROGRAM_CSV, SPANISH_CSV } from '../../../src/web/model/files/csv.ts'
import type { Download } from '../../../src/web/model/files/table.ts'
import { encodeXlsx, XLSX_TYPE } from '../../../src/web/model/files/workbook.ts'
import { createFormats } from '../../../src/web/model/formats.ts'
import { WORKBOOK_TEXTS } from '../../support/web/workbook-texts.ts'

const TABLE: Download = {
  title: 'Evolución: USD/CRC',
  source: 'Fuente: BCCR',
  columns: [
    { title: 'Fecha', name: 'rate_date', kind: 'day' },
    { title: 'Compra', name: 'value', kind: 'number' },
    { title: 'Nombre', kind: 'text' },
    { title: 'redondeo', kind: 'count', only: 'programs' },
  ],
  rows: [
    ['2026-11-20', '484.98', 'Yen "japonés", ₡', '2'],
    ['1983-01-01', '0.0019803', '=HYPERLINK("http://x","y")', ''],
    ['2026-11-21', '1234567890123.4567', '<b>&\u0000\u0008</b>', ''],
    ['2026-11-22', '', '+1', ''],
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

test('encodeCsv writes for programs: names of the API, ISO days, points and line feeds', () => {
  assert.equal(
    encodeCsv(TABLE, PROGRAM_CSV),
    'rate_date,value,Nombre,redondeo\n' +
      '2026-11-20,484.98,"Yen ""japonés"", ₡",2\n' +
      '1983-01-01,0.0019803,"\'=HYPERLINK(""http://x"",""y"")",\n' +
      '2026-11-21,1234567890123.4567,<b>&\u0000\u0008</b>,\n' +
      "2026-11-22,,'+1,\n",
  )
})

test('encodeCsv writes for Excel in Spanish: semicolons, decimal commas, local days and CRLF', () => {
  assert.equal(
    encodeCsv(TABLE, SPANISH_CSV),
    'Fecha;Compra;Nombre\r\n' +
      '20/11/2026;484,98;"Yen ""japonés"", ₡"\r\n' +
      '01/01/1983;0,0019803;"\'=HYPERLINK(""http://x"",""y"")"\r\n' +
      '21/11/2026;1234567890123,4567;<b>&\u0000\u0008</b>\r\n' +
      "22/11/2026;;'+1\r\n",
  )
  const odd: Download = { ...TABLE, columns: [{ title: 'a;b', kind: 'text' }], rows: [['x\ty'], ['1,5']] }
  const hostile: Download = { ...odd, columns: [{ title: 'a', kind: 'text' }], rows: [["x;=cmd|'/c'!A1"]] }
  assert.equal(encodeCsv(hostile, PROGRAM_CSV), "a\nx;'=cmd|'/c'!A1\n")
  assert.equal(
    encodeCsv(odd, { separator: ';', isLocal: false, isForPrograms: false }),
    '"a;b"\r\nx\ty\r\n1,5\r\n',
  )
})

test('encodeCsv writes months as their first day, and instants in Costa Rica for people alone', () => {
  const table: Download = {
    ...TABLE,
    columns: [
      { title: 'Mes', kind: 'month' },
      { title: 'Inicio', kind: 'instant' },
    ],
    rows: [
      ['2026-10', '2026-11-22T04:05:06.789Z'],
      ['', ''],
    ],
  }
  assert.equal(encodeCsv(table, PROGRAM_CSV), 'Mes,Inicio\n2026-10-01,2026-11-22T04:05:06.789Z\n,\n')
  assert.equal(encodeCsv(table, SPANISH_CSV), 'Mes;Inicio\r\n01/10/2026;21/11/2026 22:05:06\r\n;\r\n')
})

test('encodeXlsx writes a title block, days as dates, figures as numbers, and names as text', async () => {
  const blob = await encodeXlsx(TABLE, WORKBOOK_TEXTS)
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
      'xl/worksheets/_rels/sheet1.xml.rels',
    ],
  )
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
  const texts = [...sheet.matchAll(/<c r="(\w+)" s="\d+" t="inlineStr"><is><t [^>]*>([^<]*)/g)]
  assert.deepEqual(
    texts.map(([, reference, text]) => `${reference} ${text}`),
    [
      ...['A1 Evolución: USD/CRC', 'A2 Fuente: BCCR', 'A3 Consultado', 'A4 http://localhost/#rates?on=1'],
      ...['A6 Fecha', 'B6 Compra', 'C6 Nombre', 'D6 Nota', 'C7 Yen &quot;japonés&quot;, ₡'],
      ...['C8 =HYPERLINK(&quot;http://x&quot;,&quot;y&quot;)', 'B9 1234567890123.4567'],
      ...['C9 &lt;b&gt;&amp;&lt;/b&gt;', 'D9 Compra: texto', 'C10 +1'],
    ],
  )
  assert.match(sheet, /<c r="A7" s="\d+"><v>46346<\/v><\/c><c r="B7" s="\d+"><v>484.98<\/v><\/c>/)
  assert.match(sheet, /<c r="B8" s="\d+"><v>0.0019803<\/v><\/c>/)
  assert.doesNotMatch(sheet, /<f>/)
  assert.match(sheet, /<autoFilter ref="A6:D10"\/>/)
  assert.match(sheet, /<pane ySplit="6" topLeftCell="A7" activePane="bottomLeft" state="frozen"\/>/)
  assert.match(sheet, /<pageSetup paperSize="1" orientation="landscape" fitToWidth="1" fitToHeight="0"\/>/)
  assert.match(sheet, /<oddFooter>&amp;CBCCR · Página &amp;P de &amp;N<\/oddFooter>/)
  assert.match(sheet, /<hyperlink ref="A4" r:id="rId1" location="rates\?on=1"\/>/)
  assert.match(
    files.get('xl/worksheets/_rels/sheet1.xml.rels') ?? '',
    /Target="http:\/\/localhost\/" .*External/,
  )
  assert.match(files.get('xl/workbook.xml') ?? '', /Print_Titles" localSheetId="0">Datos!\$6:\$6</)
  const styles = files.get('xl/styles.xml') ?? ''
  assert.match(styles, /formatCode="dd\/mm\/yyyy"/)
  assert.match(styles, /numFmtId="4" /)
  assert.match(styles, /quotePrefix="1"/)
})

test('encodeXlsx writes formulas of ours, months, instants, a total of whole rows and the sources', async () => {
  const table: Download = {
    ...TABLE,
    columns: [
      { title: 'Mes', kind: 'month' },
      { title: 'Inicio', kind: 'instant' },
      { title: 'ignorada', kind: 'text', only: 'programs' },
      { title: 'Cierre', kind: 'number' },
      { title: 'Monto', kind: 'amount' },
      { title: 'Colones', kind: 'amount', formula: (cell) => `ROUND(${cell(3)}*${cell(4)},2)` },
    ],
    rows: [
      ['2026-09', '2026-11-22T04:05:06Z', '', '0.0192842', '10', '0.19'],
      ['2026-10', '', '', '0.0192844', '-1000', '-19.28'],
      ['2026-11', '', '', '0.5', '7', '3.5'],
    ],
    total: { label: 'Promedio', operation: 'mean', columns: [3], rows: [0, 2], note: 'sin octubre' },
    notes: ['Cierre: el último valor.'],
    sources: [
      { series: 'USD/CRC venta', indicator: '318', day: '2026-09-30', value: '490.5', rounding: '2' },
    ],
  }
  const files = unzip(Buffer.from(await (await encodeXlsx(table, WORKBOOK_TEXTS)).arrayBuffer()))
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
  assert.match(sheet, /<c r="A7" s="\d+"><v>46266<\/v>/)
  const [, seconds] = /<c r="B7" s="\d+"><v>46347\.(\d+)<\/v>/.exec(sheet) ?? []
  assert.equal(Math.round(Number(`0.${seconds}`) * 86_400), 22 * 3600 + 5 * 60 + 6)
  assert.match(sheet, /<c r="E8" s="\d+"><f>ROUND\(C8\*D8,2\)<\/f><v>-19.28<\/v><\/c>/)
  assert.match(sheet, /<c r="C10" s="\d+"><f>SUBTOTAL\(101,C7:C7,C9:C9\)<\/f><v>0.2596421<\/v><\/c>/)
  assert.match(sheet, /<c r="A10" .*Promedio<.*<c r="D10" .*sin octubre</)
  assert.match(sheet, /<c r="A12" .*Cierre: el último valor\./)
  assert.match(sheet, /<autoFilter ref="A6:E9"\/>/)
  const styles = files.get('xl/styles.xml') ?? ''
  for (const format of ['mmmm yyyy', 'dd/mm/yyyy hh:mm', '#,##0.0000000'])
    assert.ok(styles.includes(`"${format}"`))
  const sources = files.get('xl/worksheets/sheet2.xml') ?? ''
  assert.match(sources, /USD\/CRC venta.*318.*<v>46295<\/v>.*<v>490.5<\/v>.*<v>2<\/v>/)
  assert.match(files.get('xl/workbook.xml') ?? '', /<sheet name="Fuentes" sheetId="2" r:id="rId2"\/>/)
})

test('encodeXlsx writes values instead of formulas of a figure that is text, and of totals with one', async () => {
  const table: Download = {
    ...TABLE,
    columns: [
      { title: 'Saldo', kind: 'number' },
      { title: 'Al cierre', kind: 'amount', formula: (cell) => `ROUND(${cell(0)}*2,2)` },
      { title: 'Diferencial', kind: 'amount', formula: (cell) => `${cell(1)}-1` },
    ],
    rows: [
      ['1234.5600000000001', '2469.12', '2468.12'],
      ['7', '14', '13'],
    ],
    total: { label: 'Neto', operation: 'sum', columns: [0, 1, 2], rows: [0, 1] },
  }
  const files = unzip(Buffer.from(await (await encodeXlsx(table, WORKBOOK_TEXTS)).arrayBuffer()))
  const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
  const cells = [...sheet.matchAll(/<c r="([A-C](?:7|8|9))" s="\d+">(.*?)<\/c>/g)]
  assert.deepEqual(
    cells.map(([, reference, content]) => `${reference} ${content}`),
    [
      ...['B7 <v>2469.12</v>', 'C7 <f>B7-1</f><v>2468.12</v>'],
      ...['A8 <v>7</v>', 'B8 <f>ROUND(A8*2,2)</f><v>14</v>', 'C8 <f>B8-1</f><v>13</v>'],
      'A9 <v>1241.5600000000001</v>',
      ...['B9 <f>SUBTOTAL(109,B7:B8)</f><v>2483.12</v>', 'C9 <f>SUBTOTAL(109,C7:C8)</f><v>2481.12</v>'],
    ],
  )
})

test('encodeXlsx gives each figure the decimals of the screen, and all digits without a rule', async () => {
  const { cross } = createFormats('es')
  const table: Download = {
    ...TABLE,
    columns: [
      { title: 'Cruce', kind: 'number', format: cross },
      { title: 'Publicado', kind: 'number' },
      { title: 'Monto', kind: 'amount' },
    ],
    rows: [
      ['0.0192842', '1.20534', '10.125'],
      ['1234.5678', '3983.5', '-7'],
      ['1.2', '119.7584', '0'],
    ],
  }
  const files = unzip(Buffer.from(await (await encodeXlsx(table, WORKBOOK_TEXTS)).arrayBuffer()))
  assert.deepEqual(cellFormats(files, 7, 9), [
    ...['0.0000000', '0.00000', '0.00', '0.00', '0.00', '0.00', '0.00', '0.0000', '0.00'],
  ])
})

/** Decimals of the formats of cells in rows of the first sheet. */
function cellFormats(files: Map<string, string>, first: number, last: number): string[] {
  const styles = files.get('xl/styles.xml') ?? ''
  const codes = new Map(
    [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [id, code]),
  )
  const [, list = ''] = styles.split('<cellXfs')
  const entries = [...list.matchAll(/<xf numFmtId="(\d+)"/g)].map(
    ([, id = '']) => codes.get(id) ?? '#,##0.00',
  )
  const cells = (files.get('xl/worksheets/sheet1.xml') ?? '').matchAll(/<c r="[A-Z](\d+)" s="(\d+)"/g)
  return [...cells]
    .filter(([, row]) => Number(row) >= first && Number(row) <= last)
    .map(([, , style]) => (entries[Number(style)] ?? '').replace('#,##', ''))
}

test('encodeXlsx wraps texts of a table that would be too small on paper, and prints no sources', async () => {
  const columns = Array.from({ length: 4 }, (_, at) => ({ title: `Texto ${at}`, kind: 'text' as const }))
  const rows = [columns.map(() => 'EUR/USD 1,17632 (06/11) × USD/CRC venta 488,91 (07/11)')]
  const source = { series: 'EUR/USD', indicator: '333', day: '2026-11-06', value: '1.17632', rounding: '' }
  const widths = async (table: Download) => {
    const files = unzip(Buffer.from(await (await encodeXlsx(table, WORKBOOK_TEXTS)).arrayBuffer()))
    const sheet = files.get('xl/worksheets/sheet1.xml') ?? ''
    return { files, widths: [...sheet.matchAll(/ width="(\d+)"/g)].map(([, width]) => Number(width)) }
  }
  const wide = await widths({ ...TABLE, columns, rows, sources: [source] })
  assert.deepEqual(wide.widths, [18, 18, 18, 18])
  assert.match(wide.files.get('xl/worksheets/sheet1.xml') ?? '', /<row r="7" ht="64" customHeight="1">/)
  assert.match(wide.files.get('xl/styles.xml') ?? '', /<alignment wrapText="1" horizontal="left"/)
  const book = wide.files.get('xl/workbook.xml') ?? ''
  assert.match(book, /Print_Area" localSheetId="1">Fuentes!\$G\$1</)
  assert.doesNotMatch(book, /Print_Titles" localSheetId="1"/)
  const narrow = await widths({ ...TABLE, columns: columns.slice(2), rows })
  assert.deepEqual(narrow.widths, [56, 56])
})

test('encodeXlsx writes the same bytes for the same table', async () => {
  const [first, second] = await Promise.all([
    encodeXlsx(TABLE, WORKBOOK_TEXTS),
    encodeXlsx(TABLE, WORKBOOK_TEXTS),
  ])
  assert.deepEqual(await first.arrayBuffer(), await second.arrayBuffer())
})
