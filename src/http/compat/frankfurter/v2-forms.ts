// Encodes rows of Frankfurter v2: JSON, NDJSON, and CSV in its own dialect or that of a Costa Rican spreadsheet.

import { rawNumber } from '../../../formats/json/raw.ts'
import { AppError } from '../../../runtime/errors.ts'
import type { IsoDate } from '../../../values/dates.ts'
import {
  csvLines,
  type Dialect,
  dayCell,
  decimalCell,
  findDialect,
  ndjsonLines,
} from '../../endpoint/answers/csv.ts'

/** A row: value of one unit of `base` in `quote`, on a day. */
export type QuoteRow = { date: IsoDate; base: string; quote: string; rate: string }

/**
 * Parses the CSV dialect: `dialect=es-CR` (or `dialecto`), or a separator and a decimal sign. @throws AppError
 * `invalid`
 */
export function parseDialect(query: URLSearchParams): Dialect {
  const name = query.get('dialect') ?? query.get('dialecto')
  const dialect = findDialect(name, { decimal: query.get('decimal'), separator: query.get('sep') })
  if (dialect) return dialect
  if (name !== null) throw new AppError('invalid', 'invalid dialect: es-CR is one')
  throw new AppError('invalid', 'decimal must be . or , and sep another of , ; and tab')
}

/** `provider`: its key beside each rate, for `expand=providers`; undefined: without it. */
export function encodeJson(rows: readonly QuoteRow[], provider?: string): string {
  return JSON.stringify(rows.map((row) => rowObject(row, provider)))
}

export function encodeNdjson(rows: readonly QuoteRow[], provider?: string): string {
  return [...ndjsonLines(rows.map((row) => rowObject(row, provider)))].join('')
}

export function quotesCsv(rows: readonly QuoteRow[], dialect: Dialect, provider?: string): string {
  const head = dialect.isLocal ? ['fecha', 'base', 'moneda', 'tipo'] : ['date', 'base', 'quote', 'rate']
  if (provider !== undefined) head.push('providers')
  const lines = rows.map(({ date, base, quote, rate }) => {
    const value = decimalCell(rate, dialect)
    const cells = [dayCell(date, dialect), base, quote, value]
    return provider === undefined ? cells : [...cells, `${provider}:${value}`]
  })
  return [...csvLines([head, ...lines], dialect)].join('')
}

/** Encodes a row as an object. */
export function rowObject({ date, base, quote, rate }: QuoteRow, provider?: string): Record<string, unknown> {
  const row = { date, base, quote, rate: rawNumber(rate) }
  if (provider === undefined) return row
  return { ...row, providers: [{ key: provider, date, rate: rawNumber(rate) }] }
}
