// Rows of the table of all currencies: their price in colones, and the value that the bank published.

import { addMonths } from '../days.ts'
import { decimalSign, subtract } from '../decimal.ts'
import { percentage } from './statistics.ts'
import type { ConversionLeg } from './support.ts'

/** A conversion of one unit that the table needs. */
export type UnitConversion = { amount: '1'; from: string; to: 'CRC'; type: 'compra' | 'venta'; on: string }

/** Answer of a batch: a conversion, or its error. */
export type UnitRate = { rate?: string; legs?: readonly ConversionLeg[]; reason?: string }

export type CurrencyRow = {
  code: string
  /** Colones for one unit; undefined: there is no value. */
  buy: string | undefined
  sell: string | undefined
  /** Change of the price to sell within a month, in hundredths. */
  change: string | undefined
  /** Published pair, its values (two for the dollar), and their day. */
  pair: string
  values: readonly string[]
  day: string
  /** The day was not synchronized. */
  isMissing: boolean
}

export const SORT_KEYS = ['name', 'buy', 'sell', 'change', 'pair', 'value', 'day'] as const
export type SortKey = (typeof SORT_KEYS)[number]

/** Currencies before all others. */
export const MAIN_CURRENCIES = ['USD', 'EUR', 'CAD', 'GBP', 'MXN', 'JPY', 'CHF', 'CNY', 'NIO', 'COP']

const DOLLAR_PAIR = 'USD/CRC'
const CONVERSIONS_OF_A_ROW = 3

/** Conversions of every currency, in the order that currencyRows() expects. */
export function unitConversions(codes: readonly string[], day: string): UnitConversion[] {
  const before = addMonths(day, -1)
  return codes.flatMap((from) => {
    const unit = { amount: '1', from, to: 'CRC' } as const
    return [
      { ...unit, type: 'compra', on: day } as const,
      { ...unit, type: 'venta', on: day } as const,
      { ...unit, type: 'venta', on: before } as const,
    ]
  })
}

/** Rows of the currencies that have a value, or would have one on a day that was not synchronized. */
export function currencyRows(codes: readonly string[], answers: readonly UnitRate[]): CurrencyRow[] {
  return codes.flatMap((code, at) => {
    const [buy, sell, before] = answers.slice(at * CONVERSIONS_OF_A_ROW, (at + 1) * CONVERSIONS_OF_A_ROW)
    const isMissing = [buy, sell].some((answer) => answer?.reason === 'not_synchronized')
    if (!buy?.rate && !sell?.rate && !isMissing) return []
    const legs = [...(buy?.legs ?? []), ...(sell?.legs ?? [])]
    const own = legs.filter(({ pair }) => code === 'USD' || pair !== DOLLAR_PAIR)
    const change =
      sell?.rate && before?.rate ? percentage(subtract(sell.rate, before.rate), before.rate) : undefined
    return [
      {
        ...{ code, buy: buy?.rate, sell: sell?.rate, change, isMissing },
        pair: own[0]?.pair ?? '',
        values: [...new Set(own.map(({ value }) => value))],
        day: own.at(-1)?.rate_date ?? '',
      },
    ]
  })
}

/** Main currencies first, then the others by name. */
export function orderRows(rows: readonly CurrencyRow[], name: (code: string) => string): CurrencyRow[] {
  const rank = ({ code }: CurrencyRow) => {
    const at = MAIN_CURRENCIES.indexOf(code)
    return at < 0 ? MAIN_CURRENCIES.length : at
  }
  return rows.toSorted((a, b) => rank(a) - rank(b) || name(a.code).localeCompare(name(b.code)))
}

/** Sorts rows by a column. Rows without a value are last in both directions, and equal ones stay in their order. */
export function sortRows(
  rows: readonly CurrencyRow[],
  { key, isDescending }: { key: SortKey; isDescending: boolean },
  name: (code: string) => string,
): CurrencyRow[] {
  const text = (row: CurrencyRow) => {
    if (key === 'name') return name(row.code)
    return (key === 'value' ? row.values.at(-1) : row[key]) || undefined
  }
  const isText = key === 'name' || key === 'pair' || key === 'day'
  const compare = (a: string, b: string) => (isText ? a.localeCompare(b) : decimalSign(subtract(a, b)))
  return rows.toSorted((a, b) => {
    const [left, right] = [text(a), text(b)]
    if (left === undefined || right === undefined) {
      return Number(left === undefined) - Number(right === undefined)
    }
    return isDescending ? compare(right, left) : compare(left, right)
  })
}
