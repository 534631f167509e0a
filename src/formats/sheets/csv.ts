// Parses CSV of office programs. The separator is that of a first line such as `sep=;`. Else it is the first of tab,
// semicolon and comma with which the rows have a table. A comma may be a decimal sign, and each of them part of a note.

import { CsvError, parse } from 'csv-parse/sync'
import { AppError } from '../../runtime/errors.ts'
import { decodeBytes } from '../decode-bytes.ts'
import type { Cell, Sheet } from './cells.ts'

/** Cells of a row without the white space around them, and the first line of the row. */
export type CsvRow = { line: number; cells: string[] }

const SEPARATORS = ['\t', ';', ',']
const SEPARATOR_LINE = /^"?sep=([^"\r\n])\1*"?[ \t]*(?:[\r\n]|$)/i

/** Returns the rows that are not empty. @throws AppError `failed` for invalid CSV */
export function csvRows(text: string, separator: string, firstLine = 1): CsvRow[] {
  const rows = parseRows(text, separator, firstLine)
  if (!(rows instanceof CsvError)) return rows
  const message = `it is not CSV: ${rows.message}, column ${Number(rows.column) + 1}`
  throw new AppError('failed', message, { cause: rows })
}

/** Returns the rows of any office program. @throws AppError `failed` for invalid CSV */
export function readCsv(text: string, isTable: (rows: readonly CsvRow[]) => boolean): CsvRow[] {
  const [, declared] = SEPARATOR_LINE.exec(text) ?? []
  if (declared !== undefined) return csvRows(text, declared, 2)
  const separator = SEPARATORS.find((one) => {
    const rows = parseRows(text, one)
    return !(rows instanceof CsvError) && isTable(rows)
  })
  const [firstLine = ''] = text.split(/[\r\n]/, 1)
  return csvRows(text, separator ?? SEPARATORS.find((one) => firstLine.includes(one)) ?? ',')
}

function parseRows(text: string, separator: string, firstLine = 1): CsvRow[] | CsvError {
  const rows: CsvRow[] = []
  try {
    parse(text.replaceAll(/\r\n?/g, '\n'), {
      delimiter: separator,
      record_delimiter: '\n',
      from_line: firstLine,
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
    if (error instanceof CsvError) return error
    throw error
  }
}

/** Decodes CSV without its mark. @throws AppError `failed` for a binary file */
export function decodeCsv(bytes: Uint8Array): string {
  const text = decodeBytes(bytes).replace(/^\ufeff/, '')
  if (text.includes('\0')) throw new AppError('failed', 'it is not text: save it as "CSV UTF-8"')
  return text
}

/** @throws AppError `failed` for a binary file, or invalid CSV */
export function readCsvSheet(bytes: Uint8Array, isTable: (sheet: Sheet) => boolean): Sheet {
  return toSheet(readCsv(decodeCsv(bytes), (rows) => isTable(toSheet(rows))))
}

function toSheet(csv: readonly CsvRow[]): Sheet {
  const rows = csv.map(({ line, cells }) => {
    const entries = cells.flatMap((text, at): [number, Cell][] =>
      text === '' ? [] : [[at + 1, { kind: 'text', text }]],
    )
    return { number: line, cells: new Map(entries) }
  })
  const nonEmpty = rows.filter(({ cells }) => cells.size > 0)
  return { name: '', rows: nonEmpty, place: (line, column) => `line ${line}, column ${column}` }
}
