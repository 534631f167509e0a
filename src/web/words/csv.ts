// CSV as RFC 4180 says: commas, points, ISO dates. Text that a spreadsheet would take for a formula begins with an
// apostrophe, for names come from outside.

import type { Table } from './table.ts'

export function csvOf({ columns, rows }: Table): string {
  const titles = columns.map(({ title }) => cell(harmless(title)))
  const lines = rows.map((row) =>
    row.map((value, index) => cell(columns[index]?.kind === 'text' ? harmless(value) : value)),
  )
  return [titles, ...lines].map((cells) => `${cells.join(',')}\r\n`).join('')
}

function harmless(text: string): string {
  return /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
}

function cell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
