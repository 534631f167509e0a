// Tables as CSV, in the dialect of programs or in that of a spreadsheet of Costa Rica, and as NDJSON. Text that a
// spreadsheet would run as a formula begins with an apostrophe, since some texts come from outside.

import type { IsoDate } from '../../values/dates.ts'

export const CSV_TYPE = 'text/csv; charset=utf-8'
export const NDJSON_TYPE = 'application/x-ndjson; charset=utf-8'

/** CSV dialect; `isLocal`: with a byte order mark, CRLF and dd/mm/yyyy too. */
export type Dialect = { isLocal: boolean; separator: string; decimal: string }

const SEPARATORS = [',', ';', '\t']
const DECIMAL_SIGNS = ['.', ',']

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

/** Lines of cells, which are as they shall be shown. */
export function* csvLines(
  lines: Iterable<readonly string[]>,
  { isLocal, separator }: Dialect,
): Generator<string, void> {
  const end = isLocal ? '\r\n' : '\n'
  if (isLocal) yield BOM
  for (const cells of lines) yield cells.join(separator) + end
}

/** A line of JSON for each value. */
export function* ndjsonLines(values: Iterable<unknown>): Generator<string, void> {
  for (const value of values) yield `${JSON.stringify(value)}\n`
}

export function dayCell(day: IsoDate, { isLocal }: Dialect): string {
  return isLocal ? day.split('-').reverse().join('/') : day
}

export function decimalCell(value: string, { decimal }: Dialect): string {
  return decimal === '.' ? value : value.replace('.', decimal)
}

export function textCell(text: string, { separator }: Dialect): string {
  const safeText = /^\s*[=+\-@\t\r]/.test(text) ? `'${text}` : text
  const isPlain = !safeText.includes(separator) && !/["\r\n]/.test(safeText)
  return isPlain ? safeText : `"${safeText.replaceAll('"', '""')}"`
}
