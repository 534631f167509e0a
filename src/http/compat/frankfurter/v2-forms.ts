// The forms of Frankfurter v2's rows: JSON, NDJSON, and CSV in its own dialect or in that of a spreadsheet of Costa Rica.

import type { IsoDate } from '../../../dates.ts'
import { AppError } from '../../../errors.ts'
import { rawNumber } from '../../../json/raw.ts'

/** A row: what one unit of `base` is worth in `quote`, on a day. */
export type Row = { date: IsoDate; base: string; quote: string; rate: string }

export type Dialect = { isLocal: boolean; separator: string; decimal: string }

const SEPARATORS = [',', ';', '\t']
const BOM = '\ufeff'
const LOCAL: Dialect = { isLocal: true, separator: ';', decimal: ',' }

/** How CSV is written: `dialect=es-CR` (or `dialecto`), or a separator and a decimal sign. @throws AppError `invalid` */
export function dialectIn(query: URLSearchParams): Dialect {
  const name = query.get('dialect') ?? query.get('dialecto')
  if (name !== null) {
    if (name.toLowerCase() !== 'es-cr') throw new AppError('invalid', 'invalid dialect: es-CR is one')
    return LOCAL
  }
  const decimal = query.get('decimal') || '.'
  const separator = query.get('sep') || ','
  const fits = SEPARATORS.includes(separator) && ['.', ','].includes(decimal) && decimal !== separator
  if (!fits) throw new AppError('invalid', 'decimal must be . or , and sep another of , ; and tab')
  return { isLocal: false, separator, decimal }
}

/** `withProviders`: beside each rate the rate of each provider, of which there is one. */
export function encodeJson(rows: readonly Row[], withProviders: boolean): string {
  return JSON.stringify(rows.map((row) => objectOf(row, withProviders)))
}

export function encodeNdjson(rows: readonly Row[], withProviders: boolean): string {
  return rows.map((row) => `${JSON.stringify(objectOf(row, withProviders))}\n`).join('')
}

export function encodeCsv(rows: readonly Row[], dialect: Dialect, withProviders: boolean): string {
  const { isLocal, separator, decimal } = dialect
  const end = isLocal ? '\r\n' : '\n'
  const numberOf = (rate: string) => (decimal === '.' ? rate : rate.replace('.', decimal))
  const head = isLocal ? ['fecha', 'base', 'moneda', 'tipo'] : ['date', 'base', 'quote', 'rate']
  if (withProviders) head.push('providers')
  const lines = rows.map(({ date, base, quote, rate }) => {
    const cells = [isLocal ? date.split('-').reverse().join('/') : date, base, quote, numberOf(rate)]
    if (withProviders) cells.push(`BCCR:${numberOf(rate)}`)
    return cells.join(separator)
  })
  return (isLocal ? BOM : '') + [head.join(separator), ...lines].map((line) => line + end).join('')
}

/** One row as an object. */
export function objectOf({ date, base, quote, rate }: Row, withProviders: boolean): Record<string, unknown> {
  const row = { date, base, quote, rate: rawNumber(rate) }
  return withProviders ? { ...row, providers: [{ key: 'BCCR', date, rate: rawNumber(rate) }] } : row
}
