// Where the values of a sheet are (upstream 5). There are three forms: a row for each day and a column for each indicator; a
// row for each indicator and a column for each day, as the website shows it; and of one indicator a row for each day of the
// year and a column for each year. Above and below stand titles and notes, in which nothing is looked for but names.

import type { IsoDate } from '../../../dates.ts'
import { isIsoDate } from '../../../dates.ts'
import { type Cell, type Row, type Sheet, shownCell } from '../../../spreadsheets/cells.ts'
import { plainName } from '../../plain-name.ts'
import { dayOfCell, dayOfYear, isMonth, type Writing, writingOf, yearOf } from './days.ts'

/** What stands for a day; no cell: it is empty. */
export type Entry = { day: IsoDate; cell: Cell | undefined; place: string; writing: Writing }

/** The values of one indicator, and what they are called; undefined: nothing. */
export type Values = { title: string | undefined; place: string; entries: Entry[] }

export type Table = { series: Values[] /** The texts above. */; headings: string[]; faults: string[] }

type Line = Sheet['rows'][number]

const CORNERS = ['', 'indicadores', 'indicador', 'nombre']

/** The table of a sheet; `monthly`: it has months in place of days; undefined: there is none. */
export function findTable(sheet: Sheet): Table | 'monthly' | undefined {
  for (const [at, line] of sheet.rows.entries()) {
    const [first, ...others] = line.cells
    if (!first) continue
    const [column, corner] = first
    const rest = others.map(([, cell]) => cell)
    const below = sheet.rows[at + 1]?.cells
    const isDay = dayOfCell(corner) !== undefined
    if (rest.length > 0 && rest.every((cell) => dayOfCell(cell))) {
      if (isDay || (corner.kind === 'text' && CORNERS.includes(plainName(corner.text))))
        return acrossOf(sheet, at)
    }
    if (isDay && rest.length > 0) return listOf(sheet, at, column)
    const isYears =
      line.cells.size > 0 && [...line.cells.values()].slice(yearOf(corner) ? 0 : 1).every(yearOf)
    const side = below?.get(Math.min(...(below?.keys() ?? [])))
    if (isYears && (yearOf(corner) || rest.length > 0) && side) {
      if (dayOfYear(side)) return matrixOf(sheet, at)
      if (isMonth(side)) return 'monthly'
    }
    if ([...line.cells.values()].filter(isMonth).length > 1) return 'monthly'
  }
  return undefined
}

/** A row for each day. */
function listOf(sheet: Sheet, start: number, dayColumn: number): Table {
  const isHeader = ({ cells }: Line) =>
    [...cells].some(([at, cell]) => at > dayColumn && cell.kind === 'text' && !isValue(cell))
  const headerAt = sheet.rows.slice(0, start).findLastIndex(isHeader)
  const header = sheet.rows[headerAt]
  const first = sheet.rows[start] as Line
  const columns = (header?.cells ?? first.cells).keys().filter((at) => at > dayColumn)
  const byColumn = new Map(
    [...columns].map((at): [number, Values] => [at, valuesOf(sheet, header?.cells, header ?? first, at)]),
  )
  const faults: string[] = []
  for (const { cells, number } of sheet.rows.slice(headerAt + 1)) {
    const dayCell = cells.get(dayColumn)
    const day = dayOfCell(dayCell)
    if (day === undefined) {
      const value = [...cells].find(([at, cell]) => byColumn.has(at) && isValue(cell))
      if (value && dayCell) faults.push(`${sheet.place(number, dayColumn)}: ${shownCell(dayCell)} is no day`)
      else if (value) faults.push(`${sheet.place(number, value[0])}: the row has a value and no day`)
      continue
    }
    for (const [at, cell] of cells) {
      if (at > dayColumn && !byColumn.has(at))
        faults.push(`${sheet.place(number, at)}: ${shownCell(cell)} stands in a column without a title`)
    }
    for (const [at, { entries }] of byColumn) {
      const writing = writingOf(dayCell)
      entries.push({ day, cell: cells.get(at), place: sheet.place(number, at), writing })
    }
  }
  return { series: [...byColumn.values()], headings: headingsAbove(sheet, Math.max(headerAt, 0)), faults }
}

/** A column for each day. */
function acrossOf(sheet: Sheet, at: number): Table {
  const header = sheet.rows[at] as Line
  const days = [...header.cells].flatMap(([column, cell]) => {
    const day = dayOfCell(cell)
    return day === undefined ? [] : [{ column, day, writing: writingOf(cell) }]
  })
  const firstColumn = days[0]?.column ?? 0
  const series: Values[] = []
  const faults: string[] = []
  for (const line of sheet.rows.slice(at + 1)) {
    const values = days.filter(({ column }) => line.cells.has(column))
    if (values.length === 0) continue // a heading, or a note
    const titleColumn = [...line.cells.keys()].find((column) => column < firstColumn)
    const row = valuesOf(sheet, line.cells, line, titleColumn ?? firstColumn)
    if (titleColumn === undefined) faults.push(`${row.place}: its row has no title`)
    for (const { column, day, writing } of days) {
      const place = sheet.place(line.number, column)
      row.entries.push({ day, cell: line.cells.get(column), place, writing })
    }
    for (const [column, cell] of line.cells) {
      if (column > firstColumn && isValue(cell) && !header.cells.has(column))
        faults.push(
          `${sheet.place(line.number, column)}: ${shownCell(cell)} stands in a column without a day`,
        )
    }
    series.push(row)
  }
  return { series, headings: headingsAbove(sheet, at), faults }
}

/** A row for each day of the year, a column for each year. */
function matrixOf(sheet: Sheet, at: number): Table {
  const header = sheet.rows[at] as Line
  const years = [...header.cells].flatMap(([column, cell]) => {
    const year = yearOf(cell)
    return year === undefined ? [] : [{ column, year }]
  })
  const faults: string[] = []
  const all: Values = {
    title: undefined,
    place: sheet.place(header.number, years[0]?.column ?? 1),
    entries: [],
  }
  for (const { cells, number } of sheet.rows.slice(at + 1)) {
    const [first] = cells
    const dayAndMonth = dayOfYear(first?.[1])
    for (const { column, year } of years) {
      const cell = cells.get(column)
      const place = sheet.place(number, column)
      const day = `${year}-${dayAndMonth}`
      if (dayAndMonth !== undefined && isIsoDate(day))
        all.entries.push({ day, cell, place, writing: 'clear' })
      else if (cell && isValue(cell))
        faults.push(`${place}: ${shownCell(cell)} stands in a row that is no day of ${year}`)
    }
  }
  return { series: [all], headings: headingsAbove(sheet, at), faults }
}

function valuesOf(sheet: Sheet, titles: Row | undefined, { number }: Line, column: number): Values {
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

/** Whether a cell looks like a value, in a row that is no day: notes have words. */
function isValue(cell: Cell): boolean {
  return cell.kind === 'number' || (cell.kind === 'text' && /^[\d.,\s]+$/.test(cell.text))
}
