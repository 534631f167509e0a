// Parses CSV of office programs: the separator is a semicolon or tab if the text contains one, else a comma.

import { CsvError, parse } from 'csv-parse/sync'
import { AppError } from '../../runtime/errors.ts'
import { decodeBytes } from '../decode-bytes.ts'
import type { Cell, Sheet } from './cells.ts'

/** Cells of a row without the white space around them, and the first line of the row. */
export type CsvRow = { line: number; cells: string[] }

/** Returns the rows that are not empty. @throws AppError `failed` for invalid CSV */
export function csvRows(text: string, separator: string): CsvRow[] {
  const rows: CsvRow[] = []
  try {
    parse(text.replaceAll(/\r\n?/g, '\n'), {
      delimiter: separator,
      record_delimiter: '\n',
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      on_record(cells, { lines }) {
        const line = lines - (cells.join('').split('\n').length - 1) // `lines` is the last line of the row
        rows.push({ cells, line })
        return null
      },
    })
    return rows
  } catch (error) {
    if (error instanceof CsvError)
      throw new AppError('failed', `it is not CSV: ${error.message}`, { cause: error })
    throw error
  }
}

export function detectSeparator(text: string): string {
  return [';', '\t'].find((one) => text.includes(one)) ?? ','
}

/** Decodes CSV without its mark. @throws AppError `failed` for a binary file */
export function decodeCsv(bytes: Uint8Array): string {
  const text = decodeBytes(bytes).replace(/^\ufeff/, '')
  if (text.includes('\0')) throw new AppError('failed', 'it is not text: save it as "CSV UTF-8"')
  return text
}

/** @throws AppError `failed` for a binary file, or invalid CSV */
export function readCsvSheet(bytes: Uint8Array): Sheet {
  const text = decodeCsv(bytes)
  const rows = csvRows(text, detectSeparator(text)).map(({ line, cells }) => {
    const entries = cells.flatMap((text, at): [number, Cell][] =>
      text === '' ? [] : [[at + 1, { kind: 'text', text }]],
    )
    return { number: line, cells: new Map(entries) }
  })
  const nonEmpty = rows.filter(({ cells }) => cells.size > 0)
  return { name: '', rows: nonEmpty, place: (line, column) => `line ${line}, column ${column}` }
}
