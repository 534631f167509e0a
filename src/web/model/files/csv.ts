// CSV by RFC 4180 for programs (commas, points, ISO dates, line feeds), or as spreadsheets of Costa Rica read it. An
// apostrophe precedes text that a spreadsheet would run as a formula: names come from outside.

import { costaRicaTime } from '../days.ts'
import type { Download, DownloadKind, TableColumn } from './table.ts'

/** `isLocal`: decimal commas, and dates such as 24/03/2026. `isForPrograms`: the columns and names of the API. */
export type CsvDialect = { separator: ',' | ';'; isLocal: boolean; isForPrograms: boolean }

export const PROGRAM_CSV: CsvDialect = { separator: ',', isLocal: false, isForPrograms: true }
export const SPANISH_CSV: CsvDialect = { separator: ';', isLocal: true, isForPrograms: false }

export function encodeCsv({ columns, rows }: Download, dialect: CsvDialect): string {
  const { separator, isLocal, isForPrograms } = dialect
  const omitted = isForPrograms ? 'people' : 'programs'
  const indexes = [...columns.keys()].filter((index) => columns[index]?.only !== omitted)
  const title = (column: TableColumn | undefined) =>
    (isForPrograms ? column?.name : undefined) ?? column?.title ?? ''
  const titles = indexes.map((index) => quoteCell(escapeFormula(title(columns[index])), separator))
  const lines = rows.map((row) =>
    indexes.map((index) => quoteCell(cellText(row[index] ?? '', columns[index]?.kind, isLocal), separator)),
  )
  const lineEnd = isForPrograms ? '\n' : '\r\n'
  return [titles, ...lines].map((cells) => cells.join(separator) + lineEnd).join('')
}

function cellText(value: string, kind: DownloadKind | undefined, isLocal: boolean): string {
  if (kind === 'text' || kind === 'note') return escapeFormula(value)
  const full = kind === 'month' && value.length === 7 ? `${value}-01` : value
  if (!isLocal || full === '') return full
  if (kind === 'day' || kind === 'month') return localDay(full)
  if (kind === 'instant') {
    const [day = '', time = ''] = costaRicaTime(Date.parse(full)).split('T')
    return `${localDay(day)} ${time}`
  }
  return full.replace('.', ',')
}

function localDay(day: string): string {
  return day.split('-').reverse().join('/')
}

/** Guards text behind another separator too, at which a spreadsheet may split a cell. */
export function escapeFormula(text: string): string {
  const guardedText = text.replaceAll(/[,;\t][^\S\t]*(?=[=+\-@])/g, "$&'")
  return /^\s*[=+\-@\t\r]/.test(text) ? `'${guardedText}` : guardedText
}

/** Removes the apostrophes of `escapeFormula`. */
export function unescapeFormula(text: string): string {
  return text.replace(/^'(?=\s*[=+\-@\t\r])/, '').replaceAll(/([,;\t][^\S\t]*)'(?=[=+\-@])/g, '$1')
}

export function quoteCell(text: string, separator: string): string {
  return /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
}
