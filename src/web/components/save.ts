// Files, handed to the browser to keep.

import { csvOf, type Dialect } from '../words/csv.ts'
import type { Table } from '../words/table.ts'

/** What the URL gives, which the browser fetches by itself. */
export function saveUrl(url: string, name: string): void {
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
}

export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob)
  saveUrl(url, name)
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export function saveCsv(table: Table, name: string, dialect?: Dialect): void {
  // Without the mark spreadsheets of a place read its letters in an old encoding.
  const mark = dialect?.isLocal ? '\ufeff' : ''
  saveBlob(new Blob([mark, csvOf(table, dialect)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
}

export async function saveXlsx(table: Table, name: string): Promise<void> {
  const { xlsxOf } = await import('../words/xlsx.ts')
  saveBlob(await xlsxOf(table), `${name}.xlsx`)
}
