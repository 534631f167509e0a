// Parses the file of a directory into rows with their positions, without validation.

import { type CsvRow, decodeCsv, readCsv } from '../../formats/sheets/csv.ts'
import { AppError, errorReason } from '../../runtime/errors.ts'

export const KINDS = ['company', 'owner', 'agent'] as const
export type DirectoryKind = (typeof KINDS)[number]

/** `place` is where a person finds it: `line 4`, or `agents[3]`. */
export type FileRow = { kind: DirectoryKind; place: string; row: unknown }
export type FileError = { place: string; field: string; message: string }
export type DirectoryFile = { rows: FileRow[]; errors: FileError[] }

const LISTS = new Map<string, DirectoryKind>([
  ['companies', 'company'],
  ['owners', 'owner'],
  ['agents', 'agent'],
])
const COLUMNS = ['kind', 'id', 'name', 'code', 'company_id', 'description', 'active', 'tax_ids']

/** Parses a file. @throws AppError `failed` for a file that is not CSV, or not JSON in UTF-8 */
export function readDirectoryFile(bytes: Uint8Array, format: 'json' | 'csv'): DirectoryFile {
  return format === 'json' ? readJson(decodeJson(bytes)) : readDirectoryCsv(decodeCsv(bytes))
}

function decodeJson(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    throw new AppError('failed', 'it is not UTF-8: save it as that', { cause: error })
  }
}

function readJson(text: string): DirectoryFile {
  const file = parseJson(text)
  const shape = `must be an object with lists under ${[...LISTS.keys()].join(', ')}`
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    return { rows: [], errors: [{ place: 'the file', field: '', message: shape }] }
  }
  const rows: FileRow[] = []
  const errors: FileError[] = []
  for (const [list, items] of Object.entries(file)) {
    const kind = LISTS.get(list)
    if (!kind)
      errors.push({ place: JSON.stringify(list), field: '', message: `is not known: the file ${shape}` })
    else if (!Array.isArray(items)) errors.push({ place: list, field: '', message: 'must be a list' })
    else for (const [at, row] of items.entries()) rows.push({ kind, place: `${list}[${at}]`, row })
  }
  return { rows, errors }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError('failed', `it is not JSON: ${errorReason(error)}`, { cause: error })
  }
}

function readDirectoryCsv(text: string): DirectoryFile {
  const hasHeader = ([header]: readonly CsvRow[]) =>
    header?.cells.some((cell) => COLUMNS.includes(cell.toLowerCase())) ?? false
  const [head, ...lines] = readCsv(text, hasHeader).map(({ line, cells }) => ({
    cells,
    place: `line ${line}`,
  }))
  if (!head)
    return {
      rows: [],
      errors: [{ place: 'line 1', field: '', message: `must be the header: ${COLUMNS.join(', ')}` }],
    }
  const columns = head.cells.map((cell) => cell.toLowerCase())
  const errors = headerErrors(columns, head.place)
  if (errors.length > 0) return { rows: [], errors }

  const rows: FileRow[] = []
  for (const { cells, place } of lines) {
    if (cells.every((cell) => cell === '')) continue
    const extra = cells.slice(columns.length).some((cell) => cell !== '')
    if (extra || cells.length < countFilled(columns)) {
      const hint = extra ? ': put a text that holds the separator into "quotes"' : ''
      const message = `has ${extra ? countFilled(cells) : cells.length} cells where the header has ${columns.length}${hint}`
      errors.push({ place, field: '', message })
      continue
    }
    const filledCells = columns
      .map((column, at) => [column, cells[at] ?? ''])
      .filter(([, cell]) => cell !== '')
    const stray = columns.findIndex((column, at) => column === '' && (cells[at] ?? '') !== '')
    if (stray >= 0) {
      const message = `is ${JSON.stringify(cells[stray])} below an empty cell of the header`
      errors.push({ place, field: `column ${stray + 1}`, message })
      continue
    }
    const { kind: word = '', ...row }: Record<string, string> = Object.fromEntries(filledCells)
    const kind = KINDS.find((one) => one === word.toLowerCase())
    if (kind) rows.push({ kind, place, row })
    else
      errors.push({
        place,
        field: 'kind',
        message: `must be ${KINDS.join(', ')}, not ${JSON.stringify(word)}`,
      })
  }
  return { rows, errors }
}

/** Counts cells without the empty ones at the end. */
function countFilled(cells: readonly string[]): number {
  return cells.findLastIndex((cell) => cell !== '') + 1
}

function headerErrors(columns: readonly string[], place: string): FileError[] {
  const messages = columns.flatMap((column, at) => {
    if (column === '') return []
    if (!COLUMNS.includes(column))
      return [`has the column ${JSON.stringify(column)}, which is none of ${COLUMNS.join(', ')}`]
    return columns.indexOf(column) === at ? [] : [`has the column ${column} twice`]
  })
  for (const needed of ['kind', 'id'])
    if (!columns.includes(needed)) messages.push(`must have a column ${needed}`)
  return messages.map((message) => ({ place, field: 'header', message }))
}
