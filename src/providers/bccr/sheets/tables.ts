// Finds the values of a sheet (upstream 5), in one of three layouts. Days are rows and indicators columns; or
// indicators are rows and days columns, as on the website. For a single indicator, days of the year may be rows and
// years columns. Titles and notes above and below are searched for names only.

import { type Cell, cellExcerpt, type RowCells, type Sheet } from '../../../formats/sheets/cells.ts'
import type { IsoDate } from '../../../values/dates.ts'
import { isIsoDate } from '../../../values/dates.ts'
import { plainName } from '../../plain-name.ts'
import { cellDay, cellMonthDay, cellYear, type DayNotation, dayNotation, isMonth, timeFault } from './days.ts'

/** Cell of a day; undefined: empty. */
export type DayEntry = { day: IsoDate; cell: Cell | undefined; place: string; notation: DayNotation }

/** Values of an indicator, with their title if any. */
export type SheetValues = { title: string | undefined; place: string; entries: DayEntry[] }

export type IndicatorTable = {
  series: SheetValues[] /** Texts above the table. */
  headings: string[]
  faults: string[]
}

type SheetRow = Sheet['rows'][number]

const CORNERS = ['', 'indicadores', 'indicador', 'nombre']

/** Returns the table of a sheet; `monthly`: a table of months instead of days; undefined: no table. */
export function findTable(sheet: Sheet): IndicatorTable | 'monthly' | undefined {
  for (const [at, line] of sheet.rows.entries()) {
    const [first, ...others] = line.cells
    if (!first) continue
    const [column, corner] = first
    const rest = others.map(([, cell]) => cell)
    const below = sheet.rows[at + 1]?.cells
    // A time without values beside it is that of a query, above or below the table.
    const isDay = cellDay(corner) !== undefined && (rest.some(hasDigit) || !timeFault(corner))
    if (rest.length > 0 && rest.every((cell) => cellDay(cell))) {
      if (isDay || (corner.kind === 'text' && CORNERS.includes(plainName(corner.text))))
        return readDayColumns(sheet, at)
    }
    if (isDay && rest.length > 0) return readDayRows(sheet, at, column)
    const isYears =
      line.cells.size > 0 && [...line.cells.values()].slice(cellYear(corner) ? 0 : 1).every(cellYear)
    const side = below?.get(Math.min(...(below?.keys() ?? [])))
    if (isYears && (cellYear(corner) || rest.length > 0) && side) {
      if (cellMonthDay(side)) return readYearColumns(sheet, at)
      if (isMonth(side)) return 'monthly'
    }
    if ([...line.cells.values()].filter(isMonth).length > 1) return 'monthly'
  }
  return undefined
}

function hasDigit(cell: Cell): boolean {
  return /\d/.test(cellExcerpt(cell))
}

/** Reads a table with a row for each day. */
function readDayRows(sheet: Sheet, start: number, dayColumn: number): IndicatorTable {
  const isHeader = ({ cells }: SheetRow) =>
    [...cells].some(([at, cell]) => at > dayColumn && cell.kind === 'text' && !isValue(cell))
  const headerIndex = sheet.rows.slice(0, start).findLastIndex(isHeader)
  const header = sheet.rows[headerIndex]
  const first = sheet.rows[start] as SheetRow
  const columns = (header?.cells ?? first.cells).keys().filter((at) => at > dayColumn)
  const byColumn = new Map(
    [...columns].map((at): [number, SheetValues] => [
      at,
      emptyValues(sheet, header?.cells, header ?? first, at),
    ]),
  )
  const faults: string[] = []
  for (const { cells, number } of sheet.rows.slice(headerIndex + 1)) {
    const dayCell = cells.get(dayColumn)
    const day = cellDay(dayCell)
    if (day === undefined) {
      const value = [...cells].find(([at, cell]) => byColumn.has(at) && isValue(cell))
      if (value && dayCell)
        faults.push(`${sheet.place(number, dayColumn)}: ${cellExcerpt(dayCell)} is no day`)
      else if (value) faults.push(`${sheet.place(number, value[0])}: the row has a value and no day`)
      continue
    }
    const fault = timeFault(dayCell)
    if (fault && ![...cells].some(([column, cell]) => column !== dayColumn && hasDigit(cell))) continue
    if (fault) faults.push(`${sheet.place(number, dayColumn)}: ${fault}`)
    for (const [at, cell] of cells) {
      if (at > dayColumn && !byColumn.has(at))
        faults.push(`${sheet.place(number, at)}: ${cellExcerpt(cell)} stands in a column without a title`)
    }
    for (const [at, { entries }] of byColumn) {
      const notation = dayNotation(dayCell)
      entries.push({ day, cell: cells.get(at), place: sheet.place(number, at), notation })
    }
  }
  return { series: [...byColumn.values()], headings: headingsAbove(sheet, Math.max(headerIndex, 0)), faults }
}

/** Reads a table with a column for each day. */
function readDayColumns(sheet: Sheet, at: number): IndicatorTable {
  const header = sheet.rows[at] as SheetRow
  const days = [...header.cells].flatMap(([column, cell]) => {
    const day = cellDay(cell)
    return day === undefined ? [] : [{ column, day, notation: dayNotation(cell) }]
  })
  const firstColumn = days[0]?.column ?? 0
  const series: SheetValues[] = []
  const faults = [...header.cells].flatMap(([column, cell]) => {
    const fault = timeFault(cell)
    return fault ? [`${sheet.place(header.number, column)}: ${fault}`] : []
  })
  for (const line of sheet.rows.slice(at + 1)) {
    const values = days.filter(({ column }) => line.cells.has(column))
    if (values.length === 0) continue // a heading, or a note
    const titleColumn = [...line.cells.keys()].find((column) => column < firstColumn)
    const row = emptyValues(sheet, line.cells, line, titleColumn ?? firstColumn)
    if (titleColumn === undefined) faults.push(`${row.place}: its row has no title`)
    for (const { column, day, notation } of days) {
      const place = sheet.place(line.number, column)
      row.entries.push({ day, cell: line.cells.get(column), place, notation })
    }
    for (const [column, cell] of line.cells) {
      if (column > firstColumn && !header.cells.has(column))
        faults.push(
          `${sheet.place(line.number, column)}: ${cellExcerpt(cell)} stands in a column without a day`,
        )
    }
    series.push(row)
  }
  return { series, headings: headingsAbove(sheet, at), faults }
}

/** Reads a table with a row for each day of the year and a column for each year. */
function readYearColumns(sheet: Sheet, at: number): IndicatorTable {
  const header = sheet.rows[at] as SheetRow
  const years = [...header.cells].flatMap(([column, cell]) => {
    const year = cellYear(cell)
    return year === undefined ? [] : [{ column, year }]
  })
  const faults: string[] = []
  const values: SheetValues = {
    title: undefined,
    place: sheet.place(header.number, years[0]?.column ?? 1),
    entries: [],
  }
  for (const { cells, number } of sheet.rows.slice(at + 1)) {
    const [first] = cells
    const dayAndMonth = cellMonthDay(first?.[1])
    for (const [column, cell] of cells) {
      if (dayAndMonth !== undefined && column !== first?.[0] && !header.cells.has(column))
        faults.push(`${sheet.place(number, column)}: ${cellExcerpt(cell)} stands in a column without a year`)
    }
    for (const { column, year } of years) {
      const cell = cells.get(column)
      const place = sheet.place(number, column)
      const day = `${year}-${dayAndMonth}`
      if (dayAndMonth !== undefined && isIsoDate(day))
        values.entries.push({ day, cell, place, notation: 'clear' })
      else if (cell && isValue(cell))
        faults.push(`${place}: ${cellExcerpt(cell)} stands in a row that is no day of ${year}`)
    }
  }
  return { series: [values], headings: headingsAbove(sheet, at), faults }
}

function emptyValues(
  sheet: Sheet,
  titles: RowCells | undefined,
  { number }: SheetRow,
  column: number,
): SheetValues {
  const title = titles?.get(column)
  return {
    title: title?.kind === 'text' ? title.text : undefined,
    place: sheet.place(number, column),
    entries: [],
  }
}

function headingsAbove(sheet: Sheet, at: number): string[] {
  return sheet.rows
    .slice(0, at)
    .flatMap(({ cells }) => [...cells.values()])
    .flatMap((cell) => (cell.kind === 'text' ? [cell.text] : []))
}

/** Returns true for a cell that resembles a value, to distinguish it from notes, which have words. */
function isValue(cell: Cell): boolean {
  return cell.kind === 'number' || (cell.kind === 'text' && /^[\d.,\s]+$/.test(cell.text))
}
