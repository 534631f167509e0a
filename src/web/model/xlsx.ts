// A workbook with one sheet (ECMA-376). Days are dates, the bank's digits are numbers, digit by digit; all else is text
// that is written as text, so that no name can become a formula.

import type { Column, Table } from './table.ts'
import { zipOf } from './zip.ts'

export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

const DECLARED = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const KIND = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const FIRST_DAY_MS = Date.UTC(1899, 11, 30) // the day 0 of spreadsheets
const DAY_MS = 86_400_000
const MOST_DIGITS = 15 // a spreadsheet's numbers keep no more; what has more stays text
const MOST_TITLE = 31
const STYLE = { title: 1, day: 2, number: 3 } as const

export async function xlsxOf(table: Table): Promise<Blob> {
  const archive = await zipOf([
    { name: '[Content_Types].xml', text: contentTypes() },
    { name: '_rels/.rels', text: relations('officeDocument', 'xl/workbook.xml') },
    { name: 'xl/workbook.xml', text: workbook(table.title) },
    {
      name: 'xl/_rels/workbook.xml.rels',
      text: relations('worksheet', 'worksheets/sheet1.xml', 'styles', 'styles.xml'),
    },
    { name: 'xl/styles.xml', text: styles() },
    { name: 'xl/worksheets/sheet1.xml', text: sheet(table) },
  ])
  return new Blob([archive], { type: XLSX_TYPE })
}

function sheet({ columns, rows }: Table): string {
  const titles = columns.map(({ title }, index) => textCell(`${letter(index)}1`, title, STYLE.title)).join('')
  const lines = rows.map((row, index) => {
    const cells = row.map((value, at) => cell(`${letter(at)}${index + 2}`, columns[at], value))
    return `<row r="${index + 2}">${cells.join('')}</row>`
  })
  const widths = columns.map(({ kind }, index) => {
    const width = kind === 'text' ? 28 : 14
    return `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`
  })
  return (
    `${DECLARED}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0">` +
    `<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>` +
    `<cols>${widths.join('')}</cols><sheetData><row r="1">${titles}</row>${lines.join('')}</sheetData></worksheet>`
  )
}

function cell(place: string, column: Column | undefined, value: string): string {
  if (value === '') return ''
  if (column?.kind === 'day') {
    return `<c r="${place}" s="${STYLE.day}"><v>${(Date.parse(value) - FIRST_DAY_MS) / DAY_MS}</v></c>`
  }
  if (column?.kind === 'number' && significantDigits(value) <= MOST_DIGITS) {
    return `<c r="${place}" s="${STYLE.number}"><v>${escaped(value)}</v></c>`
  }
  return textCell(place, value, 0)
}

/** How many digits a number has that say something: without zeros in front and at the end. */
export function significantDigits(text: string): number {
  return text.replace(/[-.]/g, '').replace(/^0+/, '').length
}

function textCell(place: string, text: string, style: number): string {
  return `<c r="${place}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
}

function letter(index: number): string {
  return String.fromCharCode(65 + index)
}

/** Without what XML 1.0 cannot hold. */
function escaped(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

function workbook(title: string): string {
  const name = title.replace(/[\\/?*[\]:']/g, '-').slice(0, MOST_TITLE)
  return (
    `${DECLARED}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>` +
    `<sheet name="${escaped(name)}" sheetId="1" r:id="rId1"/></sheets></workbook>`
  )
}

function styles(): string {
  const formats = '<numFmt numFmtId="164" formatCode="#,##0.00############"/>'
  const plain =
    '<fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill>'
  const font = '<sz val="11"/><name val="Calibri"/>'
  const uses = [
    '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>',
    '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>',
    '<xf numFmtId="14" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
    '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>',
  ]
  return (
    `${DECLARED}<styleSheet xmlns="${MAIN}"><numFmts count="1">${formats}</numFmts>` +
    `<fonts count="2"><font>${font}</font><font><b/>${font}</font></fonts><fills count="2">${plain}</fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="${uses.length}">${uses.join('')}</cellXfs></styleSheet>`
  )
}

function relations(...kindsAndTargets: readonly string[]): string {
  const lines: string[] = []
  for (let at = 0; at < kindsAndTargets.length; at += 2) {
    const [kind, target] = [kindsAndTargets[at], kindsAndTargets[at + 1]]
    lines.push(`<Relationship Id="rId${at / 2 + 1}" Type="${OFFICE}/${kind}" Target="${target}"/>`)
  }
  return `${DECLARED}<Relationships xmlns="${RELATIONS}">${lines.join('')}</Relationships>`
}

function contentTypes(): string {
  const parts = [
    ['/xl/workbook.xml', `${KIND}.sheet.main+xml`],
    ['/xl/worksheets/sheet1.xml', `${KIND}.worksheet+xml`],
    ['/xl/styles.xml', `${KIND}.styles+xml`],
  ].map(([path, type]) => `<Override PartName="${path}" ContentType="${type}"/>`)
  return (
    `${DECLARED}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Default Extension="xml" ContentType="application/xml"/>${parts.join('')}</Types>`
  )
}
