// Tables as CSV, in the dialect of programs or in that of a spreadsheet of Costa Rica, and as NDJSON. Text that a
// spreadsheet would run as a formula begins with an apostrophe, since some texts come from outside.

import * as v from 'valibot'
import type { IsoDate } from '../../../values/dates.ts'
import { DecimalSignParam, DialectParam, DialectSynonymParam, SeparatorParam, sameSigns } from '../params.ts'

export const CSV_TYPE = 'text/csv; charset=utf-8'
export const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8'

/** CSV dialect; `isLocal`: with a byte order mark, CRLF and dd/mm/yyyy too. */
export type Dialect = { isLocal: boolean; separator: string; decimal: string }

/** Type of a column: `plain` are numbers and booleans, `json` is any value. */
type ColumnKind = 'text' | 'day' | 'decimal' | 'plain' | 'json'

/** By name, in their order. */
export type ColumnKinds = Readonly<Record<string, ColumnKind>>

export type TableRow = Readonly<Record<string, unknown>>

/** Parameters of a dialect, for the schema of a query. */
export const DIALECT_PARAMETERS = {
  dialect: v.optional(DialectParam),
  dialecto: v.optional(DialectSynonymParam),
  decimal: v.optional(DecimalSignParam),
  sep: v.optional(SeparatorParam),
}

export type DialectParameters = { [name in keyof typeof DIALECT_PARAMETERS]?: string | undefined }

const SEPARATORS = [',', ';', '\t']
const DECIMAL_SIGNS = ['.', ',']

const FORMULA = /^\s*[=+\-@\t\r]/
const LATER_FORMULA = /[,;\t][^\S\t]*(?=[=+\-@])/g
const BOM = '\ufeff'
/** The dialect of programs. */
export const PLAIN: Dialect = { isLocal: false, separator: ',', decimal: '.' }
const LOCAL: Dialect = { isLocal: true, separator: ';', decimal: ',' }

/**
 * Returns the dialect of a name with other signs; without a name comma and point. Empty signs count as absent.
 * Undefined: no such dialect.
 */
export function findDialect(
  name: string | null | undefined,
  { separator: sep, decimal: sign }: Partial<Record<'separator' | 'decimal', string | null | undefined>>,
): Dialect | undefined {
  const isNamed = name !== undefined && name !== null
  if (isNamed && name.toLowerCase() !== 'es-cr') return undefined
  const base = isNamed ? LOCAL : PLAIN
  const [separator, decimal] = [sep || base.separator, sign || base.decimal]
  const isKnown = SEPARATORS.includes(separator) && DECIMAL_SIGNS.includes(decimal)
  return isKnown && decimal !== separator ? { ...base, separator, decimal } : undefined
}

/** Converts parameters to a dialect; undefined: there are none. @throws AppError `invalid` for equal signs */
export function readDialect({ dialect, dialecto, decimal, sep }: DialectParameters): Dialect | undefined {
  const name = dialect ?? dialecto
  if (name === undefined && decimal === undefined && sep === undefined) return undefined
  const result = findDialect(name, { decimal, separator: sep })
  if (!result) throw sameSigns(sep ?? '')
  return result
}

/** Lines of cells, which are as they shall be shown. */
export function* csvLines(lines: Iterable<readonly string[]>, dialect: Dialect): Generator<string, void> {
  if (dialect.isLocal) yield BOM
  for (const cells of lines) yield csvLine(cells, dialect)
}

/** A line after the first. */
export function csvLine(cells: readonly string[], { isLocal, separator }: Dialect): string {
  return cells.join(separator) + (isLocal ? '\r\n' : '\n')
}

/** A line of JSON for each value. Some readers end a line at U+2028 and U+2029 too, so these are escaped. */
export function* ndjsonLines(values: Iterable<unknown>): Generator<string, void> {
  for (const value of values) {
    const json = JSON.stringify(value).replace(
      /[\u2028\u2029]/g,
      (end) => `\\u${end.charCodeAt(0).toString(16)}`,
    )
    yield `${json}\n`
  }
}

/** Formats the cells of a row. A missing value is an empty cell. */
export function formatCells(columns: ColumnKinds, row: TableRow, dialect: Dialect): string[] {
  return Object.entries(columns).map(([name, kind]) => formatCell(kind, row[name], dialect))
}

function formatCell(kind: ColumnKind, value: unknown, dialect: Dialect): string {
  if (value === undefined || value === null) return ''
  if (kind === 'json') return textCell(JSON.stringify(value), dialect)
  const text = String(value)
  if (kind === 'day') return dayCell(text, dialect)
  if (kind === 'decimal') return decimalCell(text, dialect)
  return kind === 'text' ? textCell(text, dialect) : text
}

export function dayCell(day: IsoDate, { isLocal }: Dialect): string {
  return isLocal ? day.split('-').reverse().join('/') : day
}

export function decimalCell(value: string, { decimal }: Dialect): string {
  return decimal === '.' ? value : value.replace('.', decimal)
}

/** A spreadsheet may split a cell at another separator than ours, so what follows one is guarded too. */
export function textCell(text: string, { separator }: Dialect): string {
  const guardedText = text.replaceAll(LATER_FORMULA, "$&'")
  const safeText = FORMULA.test(text) ? `'${guardedText}` : guardedText
  const isPlain = !safeText.includes(separator) && !/["\r\n]/.test(safeText)
  return isPlain ? safeText : `"${safeText.replaceAll('"', '""')}"`
}
