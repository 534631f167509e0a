// CSV as RFC 4180 says: commas, points, ISO dates; or as spreadsheets of a place read it. Text that a spreadsheet would take
// for a formula begins with an apostrophe, for names come from outside.

import type { Column, Table } from './table.ts'

/** `isLocal`: decimal commas, and days as 24/03/2026. */
export type Dialect = { separator: ',' | ';' | '\t'; isLocal: boolean }

const PLAIN: Dialect = { separator: ',', isLocal: false }

export function csvOf({ columns, rows }: Table, { separator, isLocal } = PLAIN): string {
  const titles = columns.map(({ title }) => cell(harmless(title), separator))
  const lines = rows.map((row) =>
    row.map((value, index) => cell(written(value, columns[index]?.kind, isLocal), separator)),
  )
  return [titles, ...lines].map((cells) => `${cells.join(separator)}\r\n`).join('')
}

function written(value: string, kind: Column['kind'] | undefined, isLocal: boolean): string {
  if (kind === 'text') return harmless(value)
  if (!isLocal) return value
  return kind === 'day' ? value.split('-').reverse().join('/') : value.replace('.', ',')
}

function harmless(text: string): string {
  return /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function cell(text: string, separator: string): string {
  return /["\r\n]/.test(text) || text.includes(separator) ? `"${text.replaceAll('"', '""')}"` : text
}
