// Styles of the cells of a workbook. Each combination becomes one entry of the list that cells refer to.

import { escapeXml, MAIN, XML_DECLARATION } from './xml.ts'

export type CellStyle = {
  font?: 'bold' | 'title' | 'link' | 'quiet'
  /** Number format, as `#,##0.00`. */
  format?: string
  /** Row of the table: a heading, a line of data or the total. */
  row?: 'heading' | 'line' | 'total'
  align?: 'start' | 'end'
  /** Text that would be a formula if it were typed again. */
  isQuoted?: boolean
  /** Text in several lines. */
  isWrapped?: boolean
}

export type Styles = {
  /** Index of a style. */
  find(style: CellStyle): number
  xml(): string
}

const FONT = '<sz val="11"/><name val="Calibri"/><family val="2"/>'
const FONTS = {
  plain: FONT,
  bold: `<b/>${FONT}`,
  title: '<b/><sz val="14"/><name val="Calibri"/><family val="2"/>',
  link: '<u/><sz val="11"/><color rgb="FF0563C1"/><name val="Calibri"/><family val="2"/>',
  quiet: '<sz val="10"/><color rgb="FF56615B"/><name val="Calibri"/><family val="2"/>',
}
const FILLS = [
  '<patternFill patternType="none"/>',
  '<patternFill patternType="gray125"/>',
  '<patternFill patternType="solid"><fgColor rgb="FFE0EFE9"/></patternFill>',
  '<patternFill patternType="solid"><fgColor rgb="FFF1F0EA"/></patternFill>',
]
const LINE_ATTRIBUTE = 'style' // the page itself has no inline styles
const side = (name: string, line: 'thin' | 'hair' | 'medium', colour: string) =>
  `<${name} ${LINE_ATTRIBUTE}="${line}"><color rgb="FF${colour}"/></${name}>`
const BORDERS = [
  '<left/><right/><top/><bottom/><diagonal/>',
  `${['left', 'right', 'top', 'bottom'].map((name) => side(name, 'thin', '8FB5A8')).join('')}<diagonal/>`,
  `<left/><right/><top/>${side('bottom', 'hair', '8D9189')}<diagonal/>`,
  `<left/><right/>${side('top', 'medium', '0B5A48')}<bottom/><diagonal/>`,
]
const ROWS = { heading: { fill: 2, border: 1 }, line: { fill: 0, border: 2 }, total: { fill: 3, border: 3 } }
const KNOWN_FORMATS: Readonly<Record<string, number>> = { '': 0, '#,##0': 3, '#,##0.00': 4 }
const FIRST_FORMAT = 164 // first number that a workbook may give

export function createStyles(): Styles {
  const formats: string[] = []
  const entries: string[] = []
  const find = (style: CellStyle) => {
    const entry = entryXml(style, formatNumber(style.format ?? '', formats))
    const index = entries.indexOf(entry)
    return index < 0 ? entries.push(entry) - 1 : index
  }
  find({}) // cells without a style have the first one
  return { find, xml: () => stylesXml(formats, entries) }
}

function formatNumber(format: string, formats: string[]): number {
  const number = KNOWN_FORMATS[format]
  if (number !== undefined) return number
  const index = formats.indexOf(format)
  return FIRST_FORMAT + (index < 0 ? formats.push(format) - 1 : index)
}

function entryXml({ font, row, align, isQuoted, isWrapped }: CellStyle, format: number): string {
  const { fill, border } = row ? ROWS[row] : { fill: 0, border: 0 }
  const fontIndex = Object.keys(FONTS).indexOf(font ?? 'plain')
  const horizontal = align ? ` horizontal="${align === 'end' ? 'right' : 'left" indent="1'}"` : ''
  const wrap = isWrapped ? ' wrapText="1"' : ''
  const line = `${wrap}${horizontal}${row === 'line' ? ' vertical="top"' : ''}`
  const alignment = row === 'heading' ? ' wrapText="1" horizontal="center" vertical="center"' : line
  return (
    `<xf numFmtId="${format}" fontId="${fontIndex}" fillId="${fill}" borderId="${border}" xfId="0"` +
    ` applyNumberFormat="1" applyFont="1" applyFill="1" applyBorder="1"${isQuoted ? ' quotePrefix="1"' : ''}` +
    (alignment === '' ? '/>' : ` applyAlignment="1"><alignment${alignment}/></xf>`)
  )
}

function stylesXml(formats: readonly string[], entries: readonly string[]): string {
  const numbers = formats.map(
    (format, index) => `<numFmt numFmtId="${FIRST_FORMAT + index}" formatCode="${escapeXml(format)}"/>`,
  )
  const list = (name: string, items: readonly string[]) =>
    `<${name} count="${items.length}">${items.join('')}</${name}>`
  return (
    `${XML_DECLARATION}<styleSheet xmlns="${MAIN}">` +
    (numbers.length > 0 ? list('numFmts', numbers) : '') +
    list(
      'fonts',
      Object.values(FONTS).map((font) => `<font>${font}</font>`),
    ) +
    list(
      'fills',
      FILLS.map((fill) => `<fill>${fill}</fill>`),
    ) +
    list(
      'borders',
      BORDERS.map((border) => `<border>${border}</border>`),
    ) +
    '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>' +
    `${list('cellXfs', entries)}</styleSheet>`
  )
}
