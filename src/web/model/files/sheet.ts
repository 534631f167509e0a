// XML of a sheet: cells, and a frozen heading with a filter. Paper is letter, landscape, and one page wide.

import { escapeXml, MAIN, OFFICE, XML_DECLARATION } from './xml.ts'

/** Cell with the index of its style. A formula has its result as `value`. */
export type SheetCell = { style: number } & ({ text: string } | { value: string; formula?: string })
export type WorkbookRow = { cells: readonly (SheetCell | undefined)[]; height?: number }
export type WorkbookSheet = {
  rows: readonly WorkbookRow[]
  /** In characters. */
  widths: readonly number[]
  /** Rows from 1; the table ends with the last line of data. */
  headingRow: number
  lastRow: number
  /** Row of the link, which is relation `rId1`, and the fragment of its address. */
  link?: { row: number; fragment: string }
  footer: string
}

const LETTER = 1 // paper size

export function sheetXml(sheet: WorkbookSheet): string {
  const { rows, widths, headingRow, link, footer } = sheet
  const columns = widths.map(
    (width, index) => `<col min="${index + 1}" max="${index + 1}" width="${width}" customWidth="1"/>`,
  )
  const pane = `<pane ySplit="${headingRow}" topLeftCell="A${headingRow + 1}" activePane="bottomLeft" state="frozen"/>`
  const location = link && link.fragment !== '' ? ` location="${escapeXml(link.fragment)}"` : ''
  return (
    `${XML_DECLARATION}<worksheet xmlns="${MAIN}" xmlns:r="${OFFICE}">` +
    '<sheetPr><pageSetUpPr fitToPage="1"/></sheetPr>' +
    `<sheetViews><sheetView showGridLines="0" workbookViewId="0">${pane}</sheetView></sheetViews>` +
    `<cols>${columns.join('')}</cols><sheetData>${rows.map(rowXml).join('')}</sheetData>` +
    `<autoFilter ref="${tableRange(sheet).replaceAll('$', '')}"/>` +
    (link ? `<hyperlinks><hyperlink ref="A${link.row}" r:id="rId1"${location}/></hyperlinks>` : '') +
    '<pageMargins left="0.3" right="0.3" top="0.6" bottom="0.7" header="0.3" footer="0.3"/>' +
    `<pageSetup paperSize="${LETTER}" orientation="landscape" fitToWidth="1" fitToHeight="0"/>` +
    `<headerFooter><oddFooter>&amp;C${escapeXml(footer)}</oddFooter></headerFooter></worksheet>`
  )
}

/** Range of headings and rows, as `$A$6:$K$17`. */
export function tableRange({ widths, headingRow, lastRow }: WorkbookSheet): string {
  return `$A$${headingRow}:$${columnLetter(widths.length - 1)}$${lastRow}`
}

/** @param row from 1 */
export function cellReference(column: number, row: number): string {
  return `${columnLetter(column)}${row}`
}

export function columnLetter(index: number): string {
  const last = String.fromCharCode(65 + (index % 26))
  return index < 26 ? last : columnLetter(Math.floor(index / 26) - 1) + last
}

function rowXml({ cells, height }: WorkbookRow, index: number): string {
  const xml = cells.map((cell, column) => (cell ? cellXml(cellReference(column, index + 1), cell) : ''))
  const attributes = height === undefined ? '' : ` ht="${height}" customHeight="1"`
  return `<row r="${index + 1}"${attributes}>${xml.join('')}</row>`
}

function cellXml(reference: string, cell: SheetCell): string {
  const start = `<c r="${reference}" s="${cell.style}"`
  if (!('text' in cell)) {
    const formula = cell.formula === undefined ? '' : `<f>${escapeXml(cell.formula)}</f>`
    return `${start}>${formula}<v>${escapeXml(cell.value)}</v></c>`
  }
  if (cell.text === '') return `${start}/>`
  return `${start} t="inlineStr"><is><t xml:space="preserve">${escapeXml(cell.text)}</t></is></c>`
}
