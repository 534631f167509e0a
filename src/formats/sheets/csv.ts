// CSV as programs of an office write it: separated by semicolons or tabs where there are any, else by commas.

import { CsvError, parse } from 'csv-parse/sync'
import { AppError } from '../errors.ts'
import type { Cell, Sheet } from './cells.ts'

/** The cells of a row without the white space around them, and the line on which it begins. */
export type CsvRecord = { line: number; cells: string[] }

/** Every row that is not empty. @throws AppError `failed` for what is no CSV */
export function csvRecords(text: string, separator: string): CsvRecord[] {
  const records: CsvRecord[] = []
  try {
    parse(text.replaceAll(/\r\n?/g, '\n'), {
      delimiter: separator,
      record_delimiter: '\n',
      trim: true,
      skip_empty_lines: true,
      relax_column_count: true,
      on_record(cells, { lines }) {
        const line = lines - (cells.join('').split('\n').length - 1) // `lines` is where the row ends
        records.push({ cells, line })
        return null
      },
    })
    return records
  } catch (error) {
    if (error instanceof CsvError)
      throw new AppError('failed', `it is not CSV: ${error.message}`, { cause: error })
    throw error
  }
}

export function separatorIn(text: string): string {
  return [';', '\t'].find((one) => text.includes(one)) ?? ','
}

/** @throws AppError `failed` for what is no text, or no CSV */
export function readCsvSheet(bytes: Uint8Array): Sheet {
  const text = decoded(bytes)
  if (text.includes('\0')) throw new AppError('failed', 'the file is neither a workbook nor CSV in UTF-8')
  const rows = csvRecords(text, separatorIn(text)).map(({ line, cells }) => {
    const known = cells.flatMap((one, at): [number, Cell][] =>
      one === '' ? [] : [[at + 1, { kind: 'text', text: one }]],
    )
    return { number: line, cells: new Map(known) }
  })
  const filled = rows.filter(({ cells }) => cells.size > 0)
  return { name: '', rows: filled, place: (line, column) => `line ${line}, column ${column}` }
}

/** UTF-8, or what Excel writes that is not told to: of that only names need more than ASCII. */
function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('windows-1252').decode(bytes)
  }
}
