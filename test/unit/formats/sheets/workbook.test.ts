// Workbooks as programs write them, and as nobody should.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cell } from '../../../../src/formats/sheets/cells.ts'
import { readWorkbook } from '../../../../src/formats/sheets/workbook.ts'
import { encodeXlsx } from '../../../../src/web/model/files/workbook.ts'
import {
  createWorkbook,
  dayCell,
  PERCENT,
  TWO,
  UP_TO_EIGHT,
  workbookParts,
  zipped,
} from '../../../support/rates/workbooks.ts'
import { WORKBOOK_TEXTS } from '../../../support/web/workbook-texts.ts'

const parts = workbookParts({
  Hoja1: [
    ['Fecha', 'Valor'],
    [dayCell('2026-03-24'), { n: '5', style: TWO }],
  ],
})
const SHEET = 'xl/worksheets/sheet1.xml'
const INDEX = 'xl/workbook.xml'

async function cellsOf(bytes: Buffer): Promise<Record<string, Cell>> {
  const [sheet] = await readWorkbook(bytes)
  const all = sheet?.rows.flatMap(({ cells, number }) =>
    [...cells].map(([column, cell]): [string, Cell] => [sheet.place(number, column), cell]),
  )
  return Object.fromEntries(all ?? [])
}

const change = (part: string, from: string | RegExp, to: string) => {
  const text = parts[part] ?? ''
  assert.notEqual(text.replace(from, to), text, 'the change changes something')
  return zipped({ ...parts, [part]: text.replace(from, to) })
}

test('texts, numbers and days are read with how they are shown', async () => {
  const row = [
    dayCell('2026-02-28'),
    { n: '1', style: TWO },
    { n: '1', style: UP_TO_EIGHT },
    { n: '1', style: PERCENT },
  ]
  const cells = await cellsOf(
    await createWorkbook({ A: [['Año', { inline: ' a &amp; b ' }], [], row, [{ n: '4.9e2' }]] }),
  )
  assert.deepEqual(cells, {
    'cell A1': { kind: 'text', text: 'Año' },
    'cell B1': { kind: 'text', text: 'a & b' },
    'cell A3': { kind: 'day', day: '2026-02-28' },
    'cell B3': { kind: 'number', digits: '1', format: { kind: 'decimals', least: 2, most: 2 } },
    'cell C3': { kind: 'number', digits: '1', format: { kind: 'decimals', least: 2, most: 8 } },
    'cell D3': { kind: 'number', digits: '1', format: { kind: 'other', code: '0.00%' } },
    'cell A4': { kind: 'number', digits: '4.9e2', format: { kind: 'general' } },
  })
})

test('what the page writes is read, digit by digit', async () => {
  const table = {
    title: 'USD/CRC',
    source: 'BCCR',
    columns: [
      { title: 'Día', kind: 'day' },
      { title: 'Venta', kind: 'number' },
    ],
    rows: [['2026-03-24', '503.9']],
  } as const
  const cells = await cellsOf(Buffer.from(await (await encodeXlsx(table, WORKBOOK_TEXTS)).arrayBuffer()))
  assert.deepEqual(cells['cell A7'], { kind: 'day', day: '2026-03-24' })
  assert.equal((cells['cell B7'] as { digits: string }).digits, '503.9')
})

test('prefixes, cells without a place, results of formulas and another day 0 are read', async () => {
  const prefixed = (parts[SHEET] ?? '')
    .replaceAll('<', '<x:')
    .replaceAll('<x:/', '</x:')
    .replace('xmlns=', 'xmlns:x=')
  assert.equal(Object.keys(await cellsOf(await zipped({ ...parts, [SHEET]: prefixed }))).length, 4)
  const placeless = (parts[SHEET] ?? '').replace(/ r="\w+"/g, '').replace('<v>5', '<f>2+3</f><v>5')
  const cells = await cellsOf(await zipped({ ...parts, [SHEET]: placeless }))
  assert.deepEqual(cells['cell A2'], { kind: 'day', day: '2026-03-24' })
  assert.equal((cells['cell B2'] as { digits: string }).digits, '5')
  const of1904 = await cellsOf(await change(INDEX, '<sheets>', '<workbookPr date1904="1"/><sheets>'))
  assert.deepEqual(of1904['cell A2'], { kind: 'day', day: '2030-03-25' })
})

test('a hidden sheet is left out', async () => {
  assert.deepEqual(await readWorkbook(await change(INDEX, 'sheetId=', 'state="veryHidden" sheetId=')), [])
})

const MEBIBYTE = 1024 * 1024
const bomb = async (says: number) => {
  const text = `<worksheet>${' '.repeat(MEBIBYTE)}</worksheet>`
  return lying(await zipped({ ...parts, [SHEET]: text }), text.length, says)
}
const hostile: [title: string, file: () => Promise<Buffer>, words: RegExp][] = [
  ['what is no archive', async () => Buffer.from('PK nothing'), /cannot be read/],
  ['an archive that ends early', async () => (await zipped(parts)).subarray(0, -30), /cannot be read/],
  ['an archive of something else', () => zipped({ 'a.txt': 'a' }), /is no workbook/],
  ['a part of a gigabyte', () => bomb(1024 * MEBIBYTE), /is larger than 64 MiB/],
  ['a part that is larger than it says', () => bomb(4096), /too many bytes/],
  ['a part whose bytes are others', async () => damaged(await zipped(parts)), /is damaged|invalid/],
  [
    'thousands of parts',
    () => zipped(Object.fromEntries(Array.from({ length: 2001 }, (_, at) => [`${at}`, '']))),
    /more than 2000 parts/,
  ],
  ['a part twice', () => zipped({ ...parts, 'XL/workbook.xml': '' }), /twice/],
  [
    'a sheet that is missing',
    () => change('xl/_rels/workbook.xml.rels', 'sheet1.xml', 'sheet7.xml'),
    /"Hoja1" is missing/,
  ],
  [
    'entities that multiply',
    () => change(SHEET, '<worksheet', '<!DOCTYPE a [<!ENTITY b "bbbb">]><worksheet'),
    /document type/,
  ],
  ['elements without an end', () => change(SHEET, '</row>', ''), /has no end/],
  ['a sheet that ends early', () => change(SHEET, '</worksheet>', ''), /ends early/],
  ['elements that nest without end', () => change(SHEET, '<sheetData>', '<a>'.repeat(9999)), /too deep/],
  ['a cell beyond the last column', () => change(SHEET, 'r="A1"', 'r="ZZZ1"'), /has no place: ZZZ1/],
  ['a cell of another row', () => change(SHEET, 'r="A1"', 'r="A7"'), /has no place: A7/],
  ['a row that is none', () => change(SHEET, '<row r="1"', '<row r="1e9"'), /has no place/],
  [
    'more cells than a table has',
    () =>
      zipped({ ...parts, [SHEET]: `<w>${`<row>${'<c><v>1</v></c>'.repeat(1000)}</row>`.repeat(501)}</w>` }),
    /more than 500000 cells/,
  ],
]
for (const [title, file, words] of hostile) {
  test(`refuses ${title}`, async () => {
    await assert.rejects(async () => readWorkbook(await file()), { code: 'failed', message: words })
  })
}

/** With another size in its directory and its heads. */
function lying(bytes: Buffer, size: number, says: number): Buffer {
  const [from, to] = [Buffer.alloc(4), Buffer.alloc(4)]
  from.writeUInt32LE(size)
  to.writeUInt32LE(says)
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from)) to.copy(bytes, at)
  return bytes
}

/** With another sum in the directory for the part that comes last. */
function damaged(bytes: Buffer): Buffer {
  const last = bytes.lastIndexOf(Buffer.from('504b0102', 'hex'))
  bytes.writeUInt32LE((bytes.readUInt32LE(last + 16) + 1) % 2 ** 32, last + 16)
  return bytes
}
