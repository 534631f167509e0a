// Reads the rows of a pasted table by the kinds of their columns. A row has a day, an amount and a currency, or an error.
// A day after the last one with rates is an error here: the API would answer with the last rate.

import type { AmountError } from '../amount.ts'
import type { DateError, RateDays } from '../date-text.ts'
import { unescapeFormula } from '../files/csv.ts'
import { type DateOrder, type DecimalMark, readAmountCell, readCurrencyCell, readDateCell } from './cells.ts'
import { columnRole, type PastedKind, type PastedTable, readTypeCell } from './columns.ts'
import { isBlankRow } from './split.ts'

export type RowError =
  | { kind: 'blank-row' | 'extra-cells' | 'no-date' | 'missing-amount' | 'no-currency' | 'type' }
  | { kind: 'date'; error: DateError; text: string }
  | { kind: 'amount'; error: AmountError; text: string }
  | { kind: 'unknown-currency'; code: string }
export type PastedRow = {
  /** From 1, of the rows below the headings. */
  number: number
  /** Text of the cells as it was pasted. */
  dateText: string
  amountText: string
  details: readonly string[]
  /** YYYY-MM-DD. */
  day?: string
  /** Digits and a point, with a minus if negative. */
  amount?: string
  currency?: string
  /** Currency of the text that another one replaces. */
  replacedCurrency?: string
  type?: 'asset' | 'liability'
  error?: RowError
}
export type RowOptions = {
  codes: ReadonlySet<string>
  days: RateDays
  today: string
  /** Currency of rows without one. */
  defaultCurrency: string
  /** Currencies without rates, and those that replace them. */
  replacements: ReadonlyMap<string, string>
}

const SLICE_ROWS = 100

export type ReadyRow = PastedRow & { day: string; amount: string; currency: string; error?: undefined }

/** Reads the rows of a table. Yields between slices, so that the page stays responsive. */
export function* readRows(
  { rows, kinds, maxCells }: PastedTable,
  options: RowOptions,
): Generator<undefined, PastedRow[]> {
  const readRow = createRowReader(kinds, maxCells, options)
  const pastedRows: PastedRow[] = []
  for (const [at, cells] of rows.entries()) {
    pastedRows.push(readRow(cells, at + 1))
    if (at % SLICE_ROWS === SLICE_ROWS - 1) yield
  }
  return pastedRows
}

function createRowReader(
  kinds: readonly PastedKind[],
  maxCells: number | undefined,
  options: RowOptions,
): (cells: readonly string[], number: number) => PastedRow {
  const dateIndex = kinds.findIndex((kind) => columnRole(kind) === 'date')
  const amountIndex = kinds.findIndex((kind) => columnRole(kind) === 'amount')
  const currencyIndex = kinds.indexOf('currency')
  const typeIndex = kinds.indexOf('type')
  const sign: DecimalMark = kinds[amountIndex] === 'point' ? '.' : ','
  const order = kinds[dateIndex] as DateOrder | undefined
  const readDay = memoize((text: string) => order && readDateCell(text, order, options.days, options.today))
  const readCode = memoize((text: string) => readCurrencyCell(text, options.codes)?.code)
  return (cells, number) => {
    const details = detailCells(cells, kinds)
    const [dateText = '', amountText = ''] = [cells[dateIndex], cells[amountIndex]]
    const row: PastedRow = { number, dateText, amountText, details }
    if (isBlankRow(cells)) return { ...row, error: { kind: 'blank-row' } }
    if (maxCells !== undefined && !isBlankRow(cells.slice(maxCells)))
      return { ...row, error: { kind: 'extra-cells' } }
    const amount = amountText === '' ? undefined : readAmount(amountText, sign, options.codes)
    const date = dateText === '' ? undefined : readDay(dateText)
    Object.assign(row, date?.error === undefined ? { day: date?.day } : {})
    Object.assign(row, amount && amount.error === undefined ? { amount: amount.value } : {})
    const currency = readRowCurrency(amount?.currency, cells[currencyIndex] ?? '', readCode, options)
    Object.assign(row, currency)
    const type = typeIndex < 0 ? undefined : readTypeCell(cells[typeIndex] ?? '')
    if (type) row.type = type
    if (!date) return { ...row, error: { kind: 'no-date' } }
    if (date.error) return { ...row, error: { kind: 'date', error: date.error, text: dateText } }
    if (!amount) return { ...row, error: { kind: 'missing-amount' } }
    if (amount.error !== undefined) {
      return { ...row, error: { kind: 'amount', error: amount.error, text: amountText } }
    }
    if (row.currency === undefined) return { ...row, error: { kind: 'no-currency' } }
    if (!options.codes.has(row.currency)) {
      return { ...row, error: { kind: 'unknown-currency', code: row.currency } }
    }
    return (cells[typeIndex] ?? '') !== '' && !type ? { ...row, error: { kind: 'type' } } : row
  }
}

/** Titles of the preserved columns; columns without a heading have none. */
export function detailHeadings({ headings, kinds }: Pick<PastedTable, 'headings' | 'kinds'>): string[] {
  return kinds.flatMap((kind, index) => (kind === 'detail' ? [headings[index] ?? ''] : []))
}

export function isConvertible(row: PastedRow): row is ReadyRow {
  return row.error === undefined
}

/** Text of the preserved columns, without the apostrophes that a copied list has. */
function detailCells(cells: readonly string[], kinds: readonly PastedKind[]): string[] {
  return kinds.flatMap((kind, index) => (kind === 'detail' ? [unescapeFormula(cells[index] ?? '')] : []))
}

type CellAmount =
  | { value: string; currency: string | undefined; error?: undefined }
  | { value?: undefined; currency?: string | undefined; error: AmountError }

/** A currency without rates is no error of the amount. */
function readAmount(text: string, sign: DecimalMark, codes: ReadonlySet<string>): CellAmount {
  const amount = readAmountCell(text, sign, codes)
  if (amount.error !== 'unknown-currency' || amount.code === undefined) return amount
  return readAmountCell(text, sign, new Set([...codes, amount.code]))
}

/** A currency inside of the amount precedes the column, which precedes the default. */
function readRowCurrency(
  inAmount: string | undefined,
  cell: string,
  readCode: (text: string) => string | undefined,
  { defaultCurrency, replacements }: RowOptions,
): Pick<PastedRow, 'currency' | 'replacedCurrency'> {
  const code = inAmount ?? (cell === '' ? defaultCurrency : readCode(cell))
  if (code === undefined) return /^[a-z]{3}$/i.test(cell) ? { currency: cell.toUpperCase() } : {}
  const replacement = replacements.get(code)
  return replacement === undefined ? { currency: code } : { currency: replacement, replacedCurrency: code }
}

/** Days and currencies repeat from row to row. */
function memoize<T>(read: (text: string) => T): (text: string) => T {
  const cache = new Map<string, T>()
  return (text) => {
    const entry = cache.get(text)
    if (entry !== undefined) return entry
    const value = read(text)
    cache.set(text, value)
    return value
  }
}
