// Encodes a table for the clipboard, as spreadsheets read it: tabs, all digits, no grouping.

import { escapeFormula, quoteCell } from '../files/csv.ts'

/** `number` has a point; `day` is YYYY-MM-DD. Other text is never a formula. */
export type CopiedCell = string | { number: string } | { day: string }

/** @param isLocal decimal commas and dates such as 24/03/2026; else points and ISO dates */
export function encodeCopy(rows: readonly (readonly CopiedCell[])[], isLocal: boolean): string {
  return rows.map((row) => `${row.map((cell) => cellText(cell, isLocal)).join('\t')}\r\n`).join('')
}

function cellText(cell: CopiedCell, isLocal: boolean): string {
  if (typeof cell === 'string') return quoteCell(escapeFormula(cell), '\t')
  if ('day' in cell) return isLocal ? cell.day.split('-').reverse().join('/') : cell.day
  // Three digits after the only separator would be thousands when the text is pasted again.
  const digits = /\.\d{3}$/.test(cell.number) ? `${cell.number}0` : cell.number
  return isLocal ? digits.replace('.', ',') : digits
}
