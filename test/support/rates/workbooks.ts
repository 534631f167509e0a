// Writes workbooks for tests cell by cell, with anything that a program might write into them.

import { encodeZip } from '../../../src/web/model/files/zip.ts'

/** A number as stored in the file, and the index of its style; a text is shared. */
export type TestCell =
  | string
  | undefined
  | { n: string; style?: number }
  | { inline: string }
  | { formula: string }

export type WorkbookParts = { [name: string]: string }

/** Styles of `parts`: general, day, two decimals, eight optional decimals, per cent, month. */
export const [GENERAL, DAY, TWO, UP_TO_EIGHT, PERCENT, MONTH] = [0, 1, 2, 3, 4, 5]

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships'

export async function createWorkbook(
  sheets: Record<string, readonly (readonly TestCell[])[]>,
): Promise<Buffer> {
  return zipped(workbookParts(sheets))
}

export async function zipped(parts: WorkbookParts): Promise<Buffer> {
  const blob = await encodeZip(Object.entries(parts).map(([name, text]) => ({ name, text })))
  return Buffer.from(await blob.arrayBuffer())
}

export function workbookParts(sheets: Record<string, readonly (readonly TestCell[])[]>): WorkbookParts {
  const texts: string[] = []
  const names = Object.keys(sheets)
  const parts = Object.entries(sheets).map(([, rows], at): [string, string] => [
    `xl/worksheets/sheet${at + 1}.xml`,
    sheetXml(rows, texts),
  ])
  const listed = names.map((name, at) => `<sheet name="${name}" sheetId="${at + 1}" r:id="rId${at + 1}"/>`)
  const related = names.map((_, at) => relation(at + 1, 'worksheet', `worksheets/sheet${at + 1}.xml`))
  return {
    '_rels/.rels': relations([relation(1, 'officeDocument', 'xl/workbook.xml')]),
    'xl/workbook.xml': `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([
      ...related,
      relation(98, 'styles', 'styles.xml'),
      relation(99, 'sharedStrings', '/xl/sharedStrings.xml'),
    ]),
    'xl/styles.xml':
      `<styleSheet xmlns="${MAIN}"><numFmts count="1"><numFmt numFmtId="164" formatCode="[$₡-140A]#,##0.00######"/></numFmts>` +
      `<cellStyleXfs><xf numFmtId="9"/></cellStyleXfs><cellXfs><xf/><xf numFmtId="14"/><xf numFmtId="4"/>` +
      `<xf numFmtId="164"/><xf numFmtId="10"/><xf numFmtId="17"/></cellXfs></styleSheet>`,
    'xl/sharedStrings.xml': `<sst xmlns="${MAIN}">${texts.map((one) => `<si><r><t>${one}</t></r><rPh><t>X</t></rPh></si>`).join('')}</sst>`,
    ...Object.fromEntries(parts),
  }
}

/** Serial number of a day, in a cell with the format of a day. */
export function dayCell(day: string): TestCell {
  return { n: String((Date.parse(day) - Date.UTC(1899, 11, 30)) / 86_400_000), style: DAY }
}

function sheetXml(rows: readonly (readonly TestCell[])[], texts: string[]): string {
  const lines = rows.map((row, at) => {
    const cells = row.map((cell, column) => {
      const place = `r="${String.fromCharCode(65 + column)}${at + 1}"`
      if (cell === undefined) return ''
      if (typeof cell === 'string') return `<c ${place} t="s"><v>${texts.push(cell) - 1}</v></c>`
      if ('inline' in cell) return `<c ${place} t="inlineStr"><is><t>${cell.inline}</t></is></c>`
      if ('formula' in cell) return `<c ${place}><f>${cell.formula}</f></c>`
      return `<c ${place} s="${cell.style ?? GENERAL}"><v>${cell.n}</v></c>`
    })
    return `<row r="${at + 1}">${cells.join('')}</row>`
  })
  return `<worksheet xmlns="${MAIN}"><sheetData>${lines.join('')}</sheetData></worksheet>`
}

function relation(id: number, kind: string, target: string): string {
  return `<Relationship Id="rId${id}" Type="${OFFICE}/${kind}" Target="${target}"/>`
}

function relations(lines: readonly string[]): string {
  return `<Relationships xmlns="${PACKAGE}">${lines.join('')}</Relationships>`
}
