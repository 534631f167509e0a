// Encodes a table as a workbook (ECMA-376). Its data are below a title block, and its sources on a second sheet. Days
// are dates, and figures are numbers with the bank's digits. Text from outside never becomes a formula.

import { costaRicaTime } from '../days.ts'
import { countPlaces, decimalText, divideRounded, parseUnits } from '../decimal.ts'
import { createFormats, decimalCount } from '../formats.ts'
import {
  cellReference,
  type SheetCell,
  sheetXml,
  tableRange,
  type WorkbookRow,
  type WorkbookSheet,
} from './sheet.ts'
import { type CellStyle, createStyles, type Styles } from './styles.ts'
import type { Download, SourceValue, TableColumn, TableTotal } from './table.ts'
import { contentTypesXml, type NamedSheet, relationsXml, workbookXml } from './xml.ts'
import { encodeZip } from './zip.ts'

export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

/** Texts of the workbook around its table. */
export type WorkbookTexts = {
  /** Third line: when and by whom the values were retrieved. */
  retrieved: string
  /** Address of the view, the fourth line. */
  address: string
  /** Footer on paper; `&P` is the page, `&N` their count. */
  footer: string
  /** Names of the sheets. */
  data: string
  sources: string
  note: string
  /** Remark about a figure that is stored as text. */
  tooLong: (column: string) => string
  sourceTitles: Readonly<Record<keyof SourceValue, string>>
}

const FIRST_DAY_MS = Date.UTC(1899, 11, 30) // day 0 of spreadsheets
const DAY_MS = 86_400_000
const MAX_DIGITS = 15 // precision of numbers in spreadsheets; longer figures are text
const HEADING_ROW = 6
const LINK_ROW = 4
const LINE_HEIGHT = 16
const [MIN_WIDTH, MAX_WIDTH] = [10, 60]
const WRAPPED_WIDTH = 18 // texts of a table that would be too small on paper
const WRAPPED_LINES = /\S{16}|\S.{0,15}(?=\s|$)/g
const PAPER_WIDTH = 140
const { exact, cents } = createFormats('en')
const MAX_RANGES = 200 // SUBTOTAL takes at most 254
const DECIMAL = /^-?\d+(?:\.\d+)?$/
const SUBTOTALS = { mean: 101, sum: 109 } // both without rows that are hidden

export async function encodeXlsx(table: Download, texts: WorkbookTexts): Promise<Blob> {
  const styles = createStyles()
  const sheets = [{ name: texts.data, sheet: dataSheet(withNotes(table, texts), texts, styles) }]
  if (table.sources) sheets.push({ name: texts.sources, sheet: sourcesSheet(table.sources, texts, styles) })
  const [pageAddress = ''] = texts.address.split('#')
  const archive = await encodeZip([
    { name: '[Content_Types].xml', text: contentTypesXml(sheets.length) },
    { name: '_rels/.rels', text: relationsXml([{ kind: 'officeDocument', target: 'xl/workbook.xml' }]) },
    { name: 'xl/workbook.xml', text: workbookXml(sheets.map(sheetName)) },
    {
      name: 'xl/_rels/workbook.xml.rels',
      text: relationsXml([
        ...sheets.map((_, index) => ({ kind: 'worksheet', target: `worksheets/sheet${index + 1}.xml` })),
        { kind: 'styles', target: 'styles.xml' },
      ]),
    },
    { name: 'xl/styles.xml', text: styles.xml() },
    ...sheets.map(({ sheet }, index) => ({
      name: `xl/worksheets/sheet${index + 1}.xml`,
      text: sheetXml(sheet),
    })),
    {
      name: 'xl/worksheets/_rels/sheet1.xml.rels',
      text: relationsXml([{ kind: 'hyperlink', target: pageAddress, isExternal: true }]),
    },
  ])
  return new Blob([archive], { type: XLSX_TYPE })
}

/** Number of digits without leading zeros. */
export function significantDigits(text: string): number {
  return text.replace(/[-.]/g, '').replace(/^0+/, '').length
}

/** Paper has the first sheet, with its heading on each page; the area of another is an empty cell. */
function sheetName({ name, sheet }: { name: string; sheet: WorkbookSheet }, index: number): NamedSheet {
  const { headingRow, widths } = sheet
  const empty = cellReference(widths.length + 1, 1).replace(/\D+/, '$$$&$$')
  return { name, table: tableRange(sheet), print: index === 0 ? `$${headingRow}:$${headingRow}` : empty }
}

/** Omits the columns for programs, and adds a note to each row with a figure that spreadsheets would round. */
function withNotes(table: Download, { note, tooLong }: WorkbookTexts): Download {
  const indexes = [...table.columns.keys()].filter((index) => table.columns[index]?.only !== 'programs')
  const columns = indexes.flatMap((index) => table.columns[index] ?? [])
  const rows = table.rows.map((row) => indexes.map((index) => row[index] ?? ''))
  const remarks = rows.map((row) =>
    columns.filter((column, index) => isTooLong(column, row[index] ?? '')).map(({ title }) => tooLong(title)),
  )
  const newIndex = (index: number) => indexes.indexOf(index)
  const total = table.total && { ...table.total, columns: table.total.columns.map(newIndex) }
  const withFormulas = columns.map(({ formula, ...column }) =>
    formula
      ? { ...column, formula: (cell: (index: number) => string) => formula((index) => cell(newIndex(index))) }
      : column,
  )
  const result = { ...table, columns: withFormulas, rows, ...(total && { total }) }
  if (remarks.every((remark) => remark.length === 0)) return result
  const place = columns.findIndex(({ kind }) => kind === 'note')
  const at = place < 0 ? columns.length : place
  const noteColumn: TableColumn = { title: note, kind: 'note' }
  return {
    ...result,
    columns: place < 0 ? [...withFormulas, noteColumn] : withFormulas,
    rows: rows.map((row, index) =>
      row.toSpliced(at, 1, [row[at] ?? '', ...(remarks[index] ?? [])].filter((one) => one !== '').join('; ')),
    ),
  }
}

function dataSheet(table: Download, texts: WorkbookTexts, styles: Styles): WorkbookSheet {
  const { columns, rows, notes = [], total } = table
  const { widths, isWrapped } = paperWidths(table)
  const text = (value: string, style: CellStyle = {}): WorkbookRow => ({
    cells: [{ text: value, style: styles.find({ ...style, isQuoted: isFormula(value) }) }],
  })
  const firstRow = HEADING_ROW + 1
  const lines = rows.map((row, index) => {
    const cells = columns.map((column, at) =>
      dataCell(column, row[at] ?? '', cellStyle(column, row[at], index, isWrapped), styles),
    )
    const height = isWrapped ? { height: lineCount(columns, row) * LINE_HEIGHT } : {}
    return {
      cells: cells.map((cell, at) => addFormula(cell, columns[at], cells, firstRow + index)),
      ...height,
    }
  })
  const totals = total && rows.length > 0 ? [totalRow(table, total, styles)] : []
  return {
    rows: [
      { ...text(table.title, { font: 'title' }), height: 22 },
      text(table.source),
      text(texts.retrieved),
      text(texts.address, { font: 'link' }),
      { cells: [] },
      headingRow(columns, styles, isWrapped),
      ...lines,
      ...totals,
      { cells: [] },
      ...notes.map((note) => text(note, { font: 'quiet' })),
    ],
    widths,
    headingRow: HEADING_ROW,
    lastRow: HEADING_ROW + rows.length,
    link: { row: LINK_ROW, fragment: texts.address.split('#')[1] ?? '' },
    footer: texts.footer,
  }
}

function sourcesSheet(sources: readonly SourceValue[], texts: WorkbookTexts, styles: Styles): WorkbookSheet {
  const { sourceTitles: titles } = texts
  const columns: readonly (TableColumn & { field: keyof SourceValue })[] = [
    { title: titles.series, kind: 'text', field: 'series' },
    { title: titles.indicator, kind: 'text', field: 'indicator' },
    { title: titles.day, kind: 'day', field: 'day' },
    { title: titles.value, kind: 'number', field: 'value' },
    { title: titles.rounding, kind: 'count', field: 'rounding' },
  ]
  const rows = sources.map((source) => columns.map(({ field }) => source[field]))
  return {
    rows: [
      headingRow(columns, styles),
      ...rows.map((row) => ({
        cells: columns.map((column, at) =>
          dataCell(column, row[at] ?? '', cellStyle(column, row[at]), styles),
        ),
      })),
    ],
    widths: columns.map((column, index) => columnWidth(column, rows, index)),
    headingRow: 1,
    lastRow: rows.length + 1,
    footer: texts.footer,
  }
}

function headingRow(columns: readonly TableColumn[], styles: Styles, isWrapped = false): WorkbookRow {
  const style = styles.find({ row: 'heading', font: 'bold' })
  const height = (isWrapped ? 3 : 2) * LINE_HEIGHT + 4
  return { cells: columns.map(({ title }) => ({ text: title, style })), height }
}

function totalRow(
  { columns, rows }: Download,
  { label, operation, columns: totals, rows: counted, note = '' }: TableTotal,
  styles: Styles,
): WorkbookRow {
  const noteIndex = Math.max(...totals, 0) + 1
  const cells = columns.map((column, at): SheetCell => {
    if (totals.includes(at)) {
      const values = counted.map((row) => rows[row]?.[at] ?? '').filter((value) => DECIMAL.test(value))
      const value = values.length > 0 ? totalValue(values, operation) : ''
      const style = styles.find({ ...cellStyle(column, value), row: 'total', font: 'bold' })
      if (value === '') return { text: '', style }
      const ranges = consecutiveRanges(counted, rows.length)
        .map(
          ([from, to]) =>
            `${cellReference(at, from + HEADING_ROW + 1)}:${cellReference(at, to + HEADING_ROW + 1)}`,
        )
        .join(',')
      // A formula would leave out figures that are text.
      if (values.some((one) => isTooLong(column, one))) return { value, style }
      return { value, formula: `SUBTOTAL(${SUBTOTALS[operation]},${ranges})`, style }
    }
    const text = at === 0 ? label : at === noteIndex ? note : ''
    return { text, style: styles.find({ row: 'total', font: at === 0 ? 'bold' : 'quiet' }) }
  })
  return { cells }
}

/** Ranges of consecutive indexes; the whole if there are too many for a formula. */
function consecutiveRanges(indexes: readonly number[], count: number): [number, number][] {
  const ranges: [number, number][] = []
  for (const index of indexes) {
    const last = ranges.at(-1)
    if (last && last[1] === index - 1) last[1] = index
    else ranges.push([index, index])
  }
  return ranges.length > MAX_RANGES ? [[0, count - 1]] : ranges
}

/** Result for programs that compute no formulas, with four places more than the values. */
function totalValue(values: readonly string[], operation: TableTotal['operation']): string {
  const scale = Math.max(...values.map(countPlaces)) + (operation === 'mean' ? 4 : 0)
  const sum = values.reduce((units, value) => units + parseUnits(value, scale), 0n)
  const units = operation === 'mean' ? divideRounded(sum, BigInt(values.length)) : sum
  return decimalText({ units, scale })
}

/** Adds the formula of a column. A cell with an input of text, such as a long figure, has its value alone. */
function addFormula(
  cell: SheetCell,
  column: TableColumn | undefined,
  cells: readonly SheetCell[],
  row: number,
): SheetCell {
  if (!column?.formula || 'text' in cell) return cell
  let hasText = false
  const formula = column.formula((one) => {
    hasText ||= 'text' in (cells[one] ?? {})
    return cellReference(one, row)
  })
  return hasText ? cell : { ...cell, formula }
}

function dataCell(column: TableColumn, value: string, style: CellStyle, styles: Styles): SheetCell {
  const { kind } = column
  const plain = { text: value, style: styles.find({ ...style, format: '', isQuoted: isFormula(value) }) }
  if (value === '' || kind === 'text' || kind === 'note') return plain
  if (kind === 'number' || kind === 'amount' || kind === 'count') {
    return DECIMAL.test(value) && !isTooLong(column, value) ? { value, style: styles.find(style) } : plain
  }
  return { value: serialTime(kind, value), style: styles.find(style) }
}

/** Days since day 0 of spreadsheets; the time of day is that of Costa Rica. */
function serialTime(kind: 'day' | 'month' | 'instant', value: string): string {
  if (kind === 'instant') {
    const seconds = Math.round((Date.parse(`${costaRicaTime(Date.parse(value))}Z`) - FIRST_DAY_MS) / 1000)
    return String(seconds / 86_400)
  }
  return String((Date.parse(value.length === 7 ? `${value}-01` : value) - FIRST_DAY_MS) / DAY_MS)
}

function cellStyle(column: TableColumn, value = '', row = 0, isWrapped = false): CellStyle {
  const { kind } = column
  if (kind === 'day') return { row: 'line', format: 'dd/mm/yyyy', align: 'end' }
  if (kind === 'instant') return { row: 'line', format: 'dd/mm/yyyy hh:mm', align: 'end' }
  if (kind === 'month') return { row: 'line', format: 'mmmm yyyy', align: 'start' }
  if (kind === 'count') return { row: 'line', format: '#,##0', align: 'end' }
  if (kind === 'text' || kind === 'note') return { row: 'line', align: 'start', isWrapped }
  const places = DECIMAL.test(value) ? decimalCount(figureText(column, value, row)) : 2
  return { row: 'line', format: `#,##0.${'0'.repeat(places)}`, align: 'end' }
}

function isTooLong({ kind }: TableColumn, value: string): boolean {
  return (kind === 'number' || kind === 'amount') && significantDigits(value) > MAX_DIGITS
}

function isFormula(text: string): boolean {
  return /^\s*[=+\-@]/.test(text)
}

function figureText(
  { kind, format = kind === 'amount' ? cents : exact }: TableColumn,
  value: string,
  row: number,
) {
  return format(value, row)
}

/** Widths of the columns. On paper the table is one page wide: texts of a wide one have several lines. */
function paperWidths({ columns, rows, total }: Download): { widths: number[]; isWrapped: boolean } {
  const widths = columns.map((column, index) =>
    Math.max(columnWidth(column, rows, index), index === 0 ? (total?.label ?? '').length + 2 : 0),
  )
  if (widths.reduce((sum, width) => sum + width, 0) <= PAPER_WIDTH) return { widths, isWrapped: false }
  const narrow = columns.map((column, index) => columnWidth(column, rows, index, true))
  return { widths: narrow, isWrapped: true }
}

/** Width for the content, and for the heading in its lines with the button of its filter. */
function columnWidth(column: TableColumn, rows: Download['rows'], index: number, isWrapped = false): number {
  const { title, kind } = column
  const lengths = rows.map((row, at) => visibleLength(column, row[index] ?? '', at))
  const words = title.split(' ').map(({ length }) => length)
  const heading = Math.max(...words, Math.ceil(title.length / (isWrapped ? 3 : 2))) + 3
  const widest = lengths.reduce((most, length) => Math.max(most, length), 0)
  const limit = isWrapped && (kind === 'text' || kind === 'note') ? WRAPPED_WIDTH : MAX_WIDTH
  return Math.min(limit, Math.max(isWrapped ? 0 : MIN_WIDTH, heading, widest + 2))
}

/** Number of lines of a row with wrapped texts. A line is two characters short, for wide letters. */
function lineCount(columns: readonly TableColumn[], row: readonly string[]): number {
  const texts = row.filter((_, at) => columns[at]?.kind === 'text' || columns[at]?.kind === 'note')
  return Math.max(1, ...texts.map((text) => text.match(WRAPPED_LINES)?.length ?? 0))
}

function visibleLength(column: TableColumn, value: string, row: number): number {
  const { kind } = column
  if (value === '') return 0
  if (kind === 'day') return 10
  if (kind === 'month' || kind === 'instant') return 16
  if (kind === 'text' || kind === 'note' || !DECIMAL.test(value)) return value.length
  return figureText(column, value, row).length
}
