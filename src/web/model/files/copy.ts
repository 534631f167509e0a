// Encodes a table for the clipboard, as text and as HTML. Text has tabs and all digits. Cells of HTML have their value
// beside the text. LibreOffice reads `sdval` with `sdnum`, and Excel `x:num`, `x:str` and `mso-number-format`.

import { dayDifference } from '../days.ts'
import { escapeFormula, quoteCell } from './csv.ts'
import type { Download } from './table.ts'
import { escapeXml } from './xml.ts'

/** `number` has a point; `day` is YYYY-MM-DD. Other text is never a formula. */
export type CopiedCell = string | { number: string } | { day: string }
export type CopiedRows = readonly (readonly CopiedCell[])[]

const FIRST_DAY = '1899-12-30' // day 0 of spreadsheets
// Numbers of spreadsheets have 15 digits.
const numbers = new Intl.NumberFormat('en', { maximumSignificantDigits: 15, useGrouping: false })

/** @param isLocal decimal commas and dates such as 24/03/2026; else points and ISO dates */
export function copyText(rows: CopiedRows, isLocal: boolean): string {
  const text = (cell: CopiedCell) =>
    typeof cell === 'string' ? quoteCell(escapeFormula(cell), '\t') : figureText(cell, isLocal)
  const lines = rows.map((row) => row.map(text).join('\t'))
  return lines.length > 1 ? lines.map((line) => `${line}\r\n`).join('') : lines.join('')
}

export function copyHtml(rows: CopiedRows, isLocal: boolean): string {
  const lines = rows.map((row) => `<tr>${row.map((cell) => cellHtml(cell, isLocal)).join('')}</tr>`)
  const table = `<table xmlns:x="urn:schemas-microsoft-com:office:excel">${lines.join('')}</table>`
  return `<meta charset="utf-8">${table}`
}

/** Headings and rows of a table for people. */
export function copiedRows({ columns, rows }: Download): CopiedRows {
  const indexes = [...columns.keys()].filter((index) => columns[index]?.only !== 'programs')
  const cell = (value: string, index: number): CopiedCell => {
    const kind = columns[index]?.kind ?? 'text'
    if (value === '' || kind === 'text' || kind === 'note' || kind === 'instant') return value
    return kind === 'day' || kind === 'month' ? { day: value } : { number: value }
  }
  return [
    indexes.map((index) => columns[index]?.title ?? ''),
    ...rows.map((row) => indexes.map((index) => cell(row[index] ?? '', index))),
  ]
}

function cellHtml(cell: CopiedCell, isLocal: boolean): string {
  if (typeof cell === 'string')
    return `<td sdnum="1033;0;@" x:str ${excelFormat('\\@')}>${escapeXml(cell)}</td>`
  const isDay = 'day' in cell
  const value = isDay
    ? dayDifference(FIRST_DAY, cell.day)
    : numbers.format(cell.number as Intl.StringNumericLiteral)
  const format = isDay
    ? `sdnum="1033;5130;DD/MM/AAAA" ${excelFormat('dd/mm/yyyy')}` // 5130: Spanish of Costa Rica
    : 'sdnum="1033;"'
  return `<td sdval="${value}" x:num="${value}" ${format}>${figureText(cell, isLocal)}</td>`
}

function excelFormat(format: string): string {
  return `${'style'}="mso-number-format:'${format}'"` // the page itself has no inline styles
}

function figureText(cell: { number: string } | { day: string }, isLocal: boolean): string {
  if ('day' in cell) return isLocal ? cell.day.split('-').reverse().join('/') : cell.day
  // Three digits after the only separator would be thousands when the text is pasted again.
  const digits = /\.\d{3}$/.test(cell.number) ? `${cell.number}0` : cell.number
  return isLocal ? digits.replace('.', ',') : digits
}
