// Saves downloads under a name.

import { type CsvDialect, encodeCsv } from '../model/csv.ts'
import type { Download } from '../model/table.ts'

/** Lets the browser download a URL. */
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

export function saveCsv(table: Download, name: string, dialect?: CsvDialect): void {
  // Without a byte order mark local spreadsheets decode UTF-8 as Windows-1252.
  const mark = dialect?.isLocal ? '\ufeff' : ''
  saveBlob(new Blob([mark, encodeCsv(table, dialect)], { type: 'text/csv;charset=utf-8' }), `${name}.csv`)
}

export async function saveXlsx(table: Download, name: string): Promise<void> {
  const { encodeXlsx } = await import('../model/xlsx.ts')
  saveBlob(await encodeXlsx(table), `${name}.xlsx`)
}
