// Files that the page makes, handed to the browser to keep.

import { csvOf } from '../words/csv.ts'
import type { Table } from '../words/table.ts'

export function saveBlob(blob: Blob, name: string): void {
  const link = document.createElement('a')
  const url = URL.createObjectURL(blob)
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}

export function saveCsv(table: Table, name: string): void {
  saveBlob(new Blob([csvOf(table)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
}

export async function saveXlsx(table: Table, name: string): Promise<void> {
  const { xlsxOf } = await import('../words/xlsx.ts')
  saveBlob(await xlsxOf(table), `${name}.xlsx`)
}
