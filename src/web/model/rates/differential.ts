// Exchange differences of positions in foreign currency. A liability has the balance times -1. Books and closing are
// rounded to cents once each, so that every row ties with the ledger. The difference is closing minus books.

import { decimalSign, roundPlaces, subtract, sumCents } from '../decimal.ts'
import type { ShownSide, SideRule } from '../fragment.ts'

export type PositionType = 'asset' | 'liability'
export type Position = {
  id: number
  detail: string
  type: PositionType
  /** As typed: a liability is positive, a credit note is negative. */
  balance: string
  currency: string
  /** Day of registration, or of the last valuation. */
  day: string
}
export type ExchangeDifference = { books: string; closing: string; difference: string }
export type DifferenceTotals = { income: string; expense: string; net: string }

/** @param rule `usual`: assets at the buy rate, liabilities at the sell rate */
export function positionSide(type: PositionType, rule: SideRule): ShownSide {
  if (rule !== 'usual') return rule
  return type === 'asset' ? 'compra' : 'venta'
}

export function signedBalance({ type, balance }: Pick<Position, 'type' | 'balance'>): string {
  return type === 'asset' ? balance : negate(balance)
}

/** @param results unrounded balance × rate at registration and closing, without sign, as the API returns them */
export function computeDifference(
  position: Pick<Position, 'type' | 'balance'>,
  results: { registration: string; closing: string },
): ExchangeDifference {
  const isNegative = decimalSign(signedBalance(position)) < 0
  const signed = (result: string) => roundPlaces(isNegative ? negate(result) : result, 2)
  const [books, closing] = [signed(results.registration), signed(results.closing)]
  return { books, closing, difference: subtract(closing, books) }
}

export function computeTotals(differences: readonly string[]): DifferenceTotals {
  return {
    income: sumCents(differences.filter((one) => decimalSign(one) > 0)),
    expense: sumCents(differences.filter((one) => decimalSign(one) < 0)),
    net: sumCents(differences),
  }
}

function negate(text: string): string {
  return text.startsWith('-') ? text.slice(1) : `-${text}`
}
