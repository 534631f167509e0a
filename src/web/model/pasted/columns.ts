// Recognizes the columns of a pasted table: the kind that 80 % of the cells of a column have. A table has at most one
// column of dates, of amounts, of currencies and of types. Text of the other columns is preserved. The decimal sign of
// amounts is that of their unambiguous cells. Without one, a sign before three digits separates thousands.

import { foldText } from '../search.ts'
import {
  type DateOrder,
  type DecimalMark,
  dateOrders,
  readAmountCell,
  readCurrencyCell,
  shownDecimalSign,
} from './cells.ts'
import type { Separator } from './split.ts'

export const COLUMN_KINDS = [
  ...(['dmy', 'mdy', 'serial', 'comma', 'point', 'currency', 'type'] as const),
  ...(['detail', 'unused'] as const),
]
export type PastedKind = (typeof COLUMN_KINDS)[number]
export type PastedTable = {
  headings: readonly string[]
  /** Rows below the headings. */
  rows: readonly (readonly string[])[]
  kinds: readonly PastedKind[]
  /** Number of cells that a row can have; undefined: any. */
  maxCells?: number | undefined
  /** Commas separate the cells and are the decimal signs of amounts too. */
  hasDecimalCommas: boolean
}
export type ReadOptions = {
  codes: ReadonlySet<string>
  separator: Separator
  today: string
  /** Positions of a balance have a type, asset or liability. */
  hasTypes?: boolean
}

const LEAST_SHARE = 0.8
const SLICE_ROWS = 100
const MAX_CACHE = 2000
const MAX_AMOUNT = 80
const DECIMAL_SIGNS: readonly DecimalMark[] = [',', '.']
const AMOUNT_HEADING = /^(monto|importe|saldo|total|valor|amount|balance)/
/** Headings of a copied list in both languages. Computed columns are no input when the list is pasted again. */
const COPIED_HEADINGS = [
  { mark: 'de donde sale', own: ['fila', 'tipo de cambio', 'de donde sale', 'nota'] },
  { mark: 'derivation', own: ['row', 'rate', 'derivation', 'note'] },
]
const RESULT_HEADING = /^(colones|(resultado|result), [a-z]{3})$/
const DATE_KINDS: readonly PastedKind[] = ['dmy', 'mdy', 'serial']
const AMOUNT_KINDS: readonly PastedKind[] = ['comma', 'point']

/**
 * Recognizes the columns of rows with headings or without. Yields between slices, so that the page stays responsive.
 */
export function* recognizeColumns(
  allRows: readonly (readonly string[])[],
  options: ReadOptions,
): Generator<undefined, PastedTable> {
  const [first = []] = allRows
  const hasHeadings = allRows.length > 1 && first.every((cell) => !isValue(cell, options))
  const headings = hasHeadings ? first : []
  const rows = hasHeadings ? allRows.slice(1) : allRows
  const columns: ColumnCounts[] = headings.map(() => createCounts(options))
  for (const [at, row] of rows.entries()) {
    for (const [index, cell] of row.entries()) {
      columns[index] ??= createCounts(options)
      if (cell !== '') columns[index].add(cell)
    }
    if (at % SLICE_ROWS === SLICE_ROWS - 1) yield
  }
  const folded = headings.map(foldText)
  const copied = COPIED_HEADINGS.find(
    ({ mark, own }) => folded.includes(mark) && folded.includes(own[0] ?? ''),
  )
  const isOwn = (heading: string) =>
    copied !== undefined && (copied.own.includes(heading) || RESULT_HEADING.test(heading))
  const kinds = chooseKinds(
    columns.map((counts, index) => counts.describe(folded[index] ?? '', isOwn(folded[index] ?? ''))),
  )
  const isAtCommas = options.separator === ','
  const maxCells = isAtCommas && hasHeadings ? headings.length : undefined
  const hasDecimalCommas = isAtCommas && !hasHeadings && (yield* splitsAmounts(rows, kinds, options))
  return { headings, rows, kinds, maxCells, hasDecimalCommas }
}

/** Returns true if each number beside an amount can be a part of it, as in `1.250,50`. */
function* splitsAmounts(
  rows: readonly (readonly string[])[],
  kinds: readonly PastedKind[],
  options: ReadOptions,
): Generator<undefined, boolean> {
  const amountIndex = kinds.findIndex((kind) => AMOUNT_KINDS.includes(kind))
  for (const index of [amountIndex - 1, amountIndex]) {
    const kind = kinds[index]
    if (!kind || columnRole(kind) === 'date') continue
    let isPart: boolean | undefined
    for (const [at, row] of rows.entries()) {
      const [cell = '', next = ''] = [row[index], row[index + 1]]
      if (/^\d/.test(next)) {
        isPart = /^\d{1,3}(?!\d)/.test(next) && amountMarks(`${cell},${next}`, options).length > 0
        if (!isPart) break
      }
      if (at % SLICE_ROWS === SLICE_ROWS - 1) yield
    }
    if (isPart) return true
  }
  return false
}

/** Changes the kind of a column. Another column of the same role becomes a detail. */
export function changeKind(kinds: readonly PastedKind[], index: number, kind: PastedKind): PastedKind[] {
  const isSameRole = (other: PastedKind) => columnRole(other) === columnRole(kind)
  const isUnique = kind !== 'detail' && kind !== 'unused'
  return kinds.map((one, at) => {
    if (at === index) return kind
    return isUnique && isSameRole(one) ? 'detail' : one
  })
}

export function columnRole(kind: PastedKind): 'date' | 'amount' | 'currency' | 'type' | 'detail' | 'unused' {
  if (DATE_KINDS.includes(kind)) return 'date'
  if (AMOUNT_KINDS.includes(kind)) return 'amount'
  return kind as 'currency' | 'type' | 'detail' | 'unused'
}

/** Reads asset or liability, in both languages. */
export function readTypeCell(cell: string): 'asset' | 'liability' | undefined {
  const text = foldText(cell)
  if (/^(activos?|assets?|a)$/.test(text)) return 'asset'
  return /^(pasivos?|liabilit(y|ies)|p|l)$/.test(text) ? 'liability' : undefined
}

type ColumnFacts = {
  isEmpty: boolean
  isOwn: boolean
  dateKind: DateOrder | undefined
  amountKind: 'comma' | 'point' | 'ambiguous' | undefined
  /** How likely this is the column of amounts among several. */
  rank: number
  isCurrency: boolean
  isType: boolean
}

type ColumnCounts = ReturnType<typeof createCounts>
type CellFacts = ReturnType<typeof cellFacts>

/** Counts what the cells of a column can be. */
function createCounts(options: ReadOptions) {
  const cache = new Map<string, CellFacts>()
  const counts = { cells: 0, dmy: 0, mdy: 0, serial: 0, currency: 0, type: 0 }
  const amounts = { ',': 0, '.': 0 }
  const signs = { ',': 0, '.': 0 }
  const thousands = { ',': 0, '.': 0 }
  let hasMarks = false
  let isCounter = true
  let previous: number | undefined
  return {
    add(cell: string) {
      const facts = cache.get(cell) ?? cellFacts(cell, options)
      if (cache.size < MAX_CACHE) cache.set(cell, facts)
      counts.cells += 1
      for (const order of facts.orders) counts[order] += 1
      for (const sign of facts.amountSigns) amounts[sign] += 1
      if (facts.shownSign) signs[facts.shownSign] += 1
      else if (facts.onlySign) thousands[facts.onlySign] += 1
      if (facts.isCurrency) counts.currency += 1
      if (facts.isType) counts.type += 1
      hasMarks ||= facts.hasMarks
      isCounter &&= previous === undefined || Number(cell) === previous + 1
      previous = Number(cell)
    },
    describe(heading: string, isOwn: boolean): ColumnFacts {
      const isMost = (count: number) => count > 0 && count >= counts.cells * LEAST_SHARE
      const hasEvidence = signs['.'] !== signs[',']
      const isPoint = hasEvidence ? signs['.'] > signs[','] : thousands[','] > 0
      const isAmbiguous = !hasEvidence && isPoint && thousands['.'] > 0
      const amountKind = isPoint ? 'point' : 'comma'
      const order = counts.mdy > counts.dmy ? 'mdy' : 'dmy'
      const dateKind = counts[order] >= counts.serial ? order : 'serial'
      const hasSeparators = signs[','] + signs['.'] + thousands[','] + thousands['.'] > 0
      return {
        isEmpty: counts.cells === 0,
        isOwn,
        dateKind: isMost(counts[dateKind]) ? dateKind : undefined,
        amountKind: isMost(amounts[isPoint ? '.' : ','])
          ? isAmbiguous
            ? 'ambiguous'
            : amountKind
          : undefined,
        rank:
          (AMOUNT_HEADING.test(heading) ? 8 : 0) +
          (hasMarks ? 4 : 0) +
          (hasSeparators ? 2 : 0) -
          (isCounter && counts.cells > 1 ? 4 : 0),
        isCurrency: isMost(counts.currency),
        isType: options.hasTypes === true && isMost(counts.type),
      }
    },
  }
}

function cellFacts(cell: string, options: ReadOptions) {
  const [onlySign] = (/[.,](?=\d)/.exec(cell) ?? []) as DecimalMark[]
  return {
    onlySign,
    orders: dateOrders(cell, options.today),
    amountSigns: amountMarks(cell, options),
    shownSign: shownDecimalSign(cell),
    isCurrency: readCurrencyCell(cell, options.codes) !== undefined,
    isType: readTypeCell(cell) !== undefined,
    hasMarks: /[^\d.,\s()+-]/.test(cell),
  }
}

function chooseKinds(columns: readonly ColumnFacts[]): PastedKind[] {
  const kinds = columns.map(({ isEmpty, isOwn }): PastedKind => (isEmpty || isOwn ? 'unused' : 'detail'))
  const free = () =>
    columns.map((column, index) => ({ column, index })).filter(({ index }) => kinds[index] === 'detail')
  const text = free().find(({ column }) => column.dateKind && column.dateKind !== 'serial')
  if (text?.column.dateKind) kinds[text.index] = text.column.dateKind
  const amounts = free().filter(({ column }) => column.amountKind)
  const serials = text ? [] : amounts.filter(({ column }) => column.dateKind === 'serial')
  // A number is a date only beside another column of amounts.
  const [serial] = amounts.length > 1 ? serials.sort((a, b) => a.column.rank - b.column.rank) : []
  if (serial) kinds[serial.index] = 'serial'
  const [amount] = amounts.filter((one) => one !== serial).sort((a, b) => b.column.rank - a.column.rank)
  const { amountKind } = amount?.column ?? {}
  if (amount && amountKind && amountKind !== 'ambiguous') kinds[amount.index] = amountKind
  const type = free().find(({ column }) => column.isType)
  if (type) kinds[type.index] = 'type'
  const currency = free().find(({ column }) => column.isCurrency)
  if (currency) kinds[currency.index] = 'currency'
  return kinds
}

/** Decimal signs with which a cell is an amount. A quick test excludes details with numbers. */
function amountMarks(cell: string, options: ReadOptions): readonly DecimalMark[] {
  if (!/\d/.test(cell) || cell.length > MAX_AMOUNT || /\d[^\p{L}]*\p{L}.*\d/u.test(cell)) return []
  if (/[.,]/.test(cell)) return DECIMAL_SIGNS.filter((sign) => isAmountCell(cell, sign, options))
  return isAmountCell(cell, ',', options) ? DECIMAL_SIGNS : []
}

/** Returns true for an amount, also in a currency without rates, and for zero. */
function isAmountCell(cell: string, sign: DecimalMark, { codes }: ReadOptions): boolean {
  const { error } = readAmountCell(cell, sign, codes)
  return error === undefined || error === 'zero' || error === 'unknown-currency'
}

function isValue(cell: string, options: ReadOptions): boolean {
  if (cell === '') return false
  if (dateOrders(cell, options.today).length > 0) return true
  return amountMarks(cell, options).length > 0
}
