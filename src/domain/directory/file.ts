// The file of a directory, as rows of which nothing is known yet but where they stand.
//   JSON: {"companies": [{"id", "name", "code"}], "owners": [{"id", "name", "company_id"}],
//         "agents": [{"id", "company_id", "name", "description", "active"}]}, each list optional.
//   CSV: UTF-8 with a header; the column `kind` (company, owner or agent) and any of id, name, code, company_id,
//        description, active. Separated by commas, or by semicolons or tabs if the header is (Excel in Spanish).
//        An empty cell is a field that is left out.

import { AppError, reasonOf } from '../../errors.ts'
import { csvRecords, separatorIn } from '../../spreadsheets/csv.ts'

export const KINDS = ['company', 'owner', 'agent'] as const
export type Kind = (typeof KINDS)[number]

/** `place` is where a person finds it: `line 4`, or `agents[3]`. */
export type FileRow = { kind: Kind; place: string; row: unknown }
export type Mistake = { place: string; field: string; message: string }
export type DirectoryFile = { rows: FileRow[]; mistakes: Mistake[] }

const LISTS = new Map<string, Kind>([
  ['companies', 'company'],
  ['owners', 'owner'],
  ['agents', 'agent'],
])
const COLUMNS = ['kind', 'id', 'name', 'code', 'company_id', 'description', 'active']

/** @throws AppError `failed` for what is no JSON or CSV at all, or not UTF-8 */
export function readDirectoryFile(bytes: Uint8Array, format: 'json' | 'csv'): DirectoryFile {
  const text = textOf(bytes, format)
  return format === 'json' ? readJson(text) : readCsv(text)
}

function textOf(bytes: Uint8Array, format: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    const hint = format === 'csv' ? ' (in Excel: save as "CSV UTF-8")' : ''
    throw new AppError('failed', `it is not UTF-8: save it as that${hint}`, { cause: error })
  }
}

function readJson(text: string): DirectoryFile {
  const file = parseJson(text)
  const shape = `must be an object with lists under ${[...LISTS.keys()].join(', ')}`
  if (typeof file !== 'object' || file === null || Array.isArray(file)) {
    return { rows: [], mistakes: [{ place: 'the file', field: '', message: shape }] }
  }
  const rows: FileRow[] = []
  const mistakes: Mistake[] = []
  for (const [list, items] of Object.entries(file)) {
    const kind = LISTS.get(list)
    if (!kind)
      mistakes.push({ place: JSON.stringify(list), field: '', message: `is not known: the file ${shape}` })
    else if (!Array.isArray(items)) mistakes.push({ place: list, field: '', message: 'must be a list' })
    else for (const [at, row] of items.entries()) rows.push({ kind, place: `${list}[${at}]`, row })
  }
  return { rows, mistakes }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new AppError('failed', `it is not JSON: ${reasonOf(error)}`, { cause: error })
  }
}

function readCsv(text: string): DirectoryFile {
  const separator = separatorIn(text.split(/[\r\n]/, 1)[0] ?? '')
  const [head, ...records] = csvRecords(text, separator).map(({ line, cells }) => ({
    cells,
    place: `line ${line}`,
  }))
  if (!head)
    return {
      rows: [],
      mistakes: [{ place: 'line 1', field: '', message: `must be the header: ${COLUMNS.join(', ')}` }],
    }
  const columns = head.cells.map((cell) => cell.toLowerCase())
  const mistakes = headMistakes(columns, head.place)
  if (mistakes.length > 0) return { rows: [], mistakes }

  const rows: FileRow[] = []
  for (const { cells, place } of records) {
    if (cells.every((cell) => cell === '')) continue
    if (cells.length !== columns.length) {
      const hint = cells.length > columns.length ? ': put a text that holds the separator into "quotes"' : ''
      const message = `has ${cells.length} cells where the header has ${columns.length}${hint}`
      mistakes.push({ place, field: '', message })
      continue
    }
    const filled = columns.map((column, at) => [column, cells[at]]).filter(([, cell]) => cell !== '')
    const { kind: word = '', ...row }: Record<string, string> = Object.fromEntries(filled)
    const kind = KINDS.find((one) => one === word.toLowerCase())
    if (kind) rows.push({ kind, place, row })
    else
      mistakes.push({
        place,
        field: 'kind',
        message: `must be ${KINDS.join(', ')}, not ${JSON.stringify(word)}`,
      })
  }
  return { rows, mistakes }
}

function headMistakes(columns: readonly string[], place: string): Mistake[] {
  const found = columns.flatMap((column, at) => {
    if (!COLUMNS.includes(column))
      return [`has the column ${JSON.stringify(column)}, which is none of ${COLUMNS.join(', ')}`]
    return columns.indexOf(column) === at ? [] : [`has the column ${column} twice`]
  })
  for (const needed of ['kind', 'id'])
    if (!columns.includes(needed)) found.push(`must have a column ${needed}`)
  return found.map((message) => ({ place, field: 'header', message }))
}
