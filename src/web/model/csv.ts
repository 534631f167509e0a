// CSV by RFC 4180 (commas, points, ISO dates), or as spreadsheets of Costa Rica read it. An apostrophe precedes text
// that a spreadsheet would run as a formula: names come from outside.

import type { Download, TableColumn } from './table.ts'

/** `isLocal`: decimal commas, and dates such as 24/03/2026. */
export type CsvDialect = { separator: ',' | ';' | '\t'; isLocal: boolean }

const RFC_4180: CsvDialect = { separator: ',', isLocal: false }

export function encodeCsv({ columns, rows }: Download, { separator, isLocal } = RFC_4180): string {
  const titles = columns.map(({ title }) => quoteCell(escapeFormula(title), separator))
  const lines = rows.map((row) =>
    row.map((value, index) => quoteCell(cellText(value, columns[index]?.kind, isLocal), separator)),
  )
  return [titles, ...lines].map((cells) => `${cells.join(separator)}\r\n`).join('')
}

function cellText(value: string, kind: TableColumn['kind'] | undefined, isLocal: boolean): string {
  if (kind === 'text') return escapeFormula(value)
  if (!isLocal) return value
  return kind === 'day' ? value.split('-').reverse().join('/') : value.replace('.', ',')
}

function escapeFormula(text: string): string {
  return /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function quoteCell(text: string, separator: string): string {
  return /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
}
