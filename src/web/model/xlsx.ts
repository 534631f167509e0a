// Encodes a workbook with one sheet (ECMA-376). Days are dates, and figures are numbers with the bank's digits. Names
// are inline strings, which never become formulas.

import type { Download, TableColumn } from './table.ts'
import { encodeZip } from './zip.ts'

export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

const XML_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const CONTENT_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const FIRST_DAY_MS = Date.UTC(1899, 11, 30) // day 0 of spreadsheets
const DAY_MS = 86_400_000
const MAX_DIGITS = 15 // precision of numbers in spreadsheets; longer figures are text
const MAX_SHEET_NAME = 31
const STYLE = { title: 1, day: 2, number: 3 } as const

export async function encodeXlsx(table: Download): Promise<Blob> {
  const archive = await encodeZip([
    { name: '[Content_Types].xml', text: contentTypesXml() },
    { name: '_rels/.rels', text: relationsXml('officeDocument', 'xl/workbook.xml') },
    { name: 'xl/workbook.xml', text: workbookXml(table.title) },
    {
      name: 'xl/_rels/workbook.xml.rels',
      text: relationsXml('worksheet', 'worksheets/sheet1.xml', 'styles', 'styles.xml'),
    },
    { name: 'xl/styles.xml', text: stylesXml() },
    { name: 'xl/worksheets/sheet1.xml', text: sheetXml(table) },
  ])
  return new Blob([archive], { type: XLSX_TYPE })
}

function sheetXml({ columns, rows }: Download): string {
  const titles = columns
    .map(({ title }, index) => textCellXml(`${columnLetter(index)}1`, title, STYLE.title))
    .join('')
  const lines = rows.map((row, index) => {
    const cells = row.map((value, column) =>
      cellXml(`${columnLetter(column)}${index + 2}`, columns[column], value),
    )
    return `<row r="${index + 2}">${cells.join('')}</row>`
  })
  const widths = columns.map(({ kind }, index) => {
    const width = kind === 'text' ? 28 : 14
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`
  })
  return (
    `${XML_DECLARATION}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
    `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `<cols>${widths.join('')}</cols><sheetData><row r="1">${titles}</row>${lines.join('')}</sheetData></worksheet>`
  )
}

function cellXml(reference: string, column: TableColumn | undefined, value: string): string {
  if (value === '') return ''
  if (column?.kind === 'day') {
    return `<c r="${reference}" s="${STYLE.day}"><v>${(Date.parse(value) - FIRST_DAY_MS) / DAY_MS}</v></c>`
  }
  if (column?.kind === 'number' && significantDigits(value) <= MAX_DIGITS) {
    return `<c r="${reference}" s="${STYLE.number}"><v>${escapeXml(value)}</v></c>`
  }
  return textCellXml(reference, value, 0)
}

/** Number of digits without leading zeros. */
export function significantDigits(text: string): number {
  return text.replace(/[-.]/g, '').replace(/^0+/, '').length
}

function textCellXml(reference: string, text: string, style: number): string {
  return `<c r="${reference}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(text)}</t></is></c>`
}

function columnLetter(index: number): string {
  return String.fromCharCode(65 + index)
}

/** Escapes text for XML and drops the characters that XML 1.0 forbids. */
function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function workbookXml(title: string): string {
  const name = title.replace(/[\\/?*[\]:']/g, '-').slice(0, MAX_SHEET_NAME)
  return (
    `${XML_DECLARATION}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>` +
    `<sheet name="${escapeXml(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`
  )
}

function stylesXml(): string {
  const formats = '<numFmt numFmtId="164" formatCode="#,##0.00############"/>'
  const fills =
    '<fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
  const font = '<sz val="11"/><name val="Calibri"/>'
  const cellFormats = [
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>',
    '<xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
  ]
  return (
    `${XML_DECLARATION}<styleSheet xmlns="${MAIN}"><numFmts count="1">${formats}</numFmts>` +
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts><fills count="2">${fills}</fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="${cellFormats.length}">${cellFormats.join('')}</cellXfs></styleSheet>`
  )
}

function relationsXml(...kindsAndTargets: readonly string[]): string {
  const elements: string[] = []
  for (let index = 0; index < kindsAndTargets.length; index += 2) {
    const [kind, target] = [kindsAndTargets[index], kindsAndTargets[index + 1]]
    elements.push(`<Relationship Id="rId${index / 2 + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`)
  }
  return `${XML_DECLARATION}<Relationships xmlns="${RELATIONS}">${elements.join('')}</Relationships>`
}

function contentTypesXml(): string {
  const parts = [
    ['/xl/workbook.xml', `${CONTENT_TYPE}.sheet.main+xml`],
    ['/xl/worksheets/sheet1.xml', `${CONTENT_TYPE}.worksheet+xml`],
    ['/xl/styles.xml', `${CONTENT_TYPE}.styles+xml`],
  ].map(([path, type]) => `<Override PartName="${path}" ContentType="${type}"/>`)
  return (
    `${XML_DECLARATION}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`
  )
}
