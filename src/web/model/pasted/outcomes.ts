// Outcomes of a converted list: each row has a result, its own error, or a reason of the server. A row is rounded to
// cents once; the total is the sum of the rounded rows.

import { roundPlaces, sumCents } from '../decimal.ts'
import type { ConversionLeg } from '../rates/support.ts'
import type { PastedRow } from './rows.ts'

/** Conversion of an amount without its sign. */
export type ConversionAnswer = { rate: string; result: string; legs: readonly ConversionLeg[] }
export type AnswerFailure = { status: number; reason?: string }
export type RowConversion = {
  rate: string
  /** Rounded, with the sign of the amount. */
  result: string
  legs: readonly ConversionLeg[]
}
export type RowOutcome = {
  row: PastedRow
  conversion?: RowConversion
  failure?: 'not-synchronized' | 'no-rate'
}
export type ListTotal = { count: number; sum: string }

const SLICE_ROWS = 500

/** Matches rows and answers by row number. Yields between slices, so that the page stays responsive. */
export function* computeOutcomes(
  rows: readonly PastedRow[],
  answers: ReadonlyMap<string, ConversionAnswer | AnswerFailure>,
): Generator<undefined, RowOutcome[]> {
  const outcomes: RowOutcome[] = []
  for (const row of rows) {
    const answer = row.error ? undefined : answers.get(String(row.number))
    outcomes.push({ row, ...(answer && describeAnswer(answer, row.amount ?? '')) })
    if (outcomes.length % SLICE_ROWS === 0) yield
  }
  return outcomes
}

export function sumOutcomes(outcomes: readonly RowOutcome[]): ListTotal {
  const results = outcomes.flatMap(({ conversion }) => conversion?.result ?? [])
  return { count: results.length, sum: sumCents(results) }
}

export function failureReason({ reason }: AnswerFailure): 'not-synchronized' | 'no-rate' {
  return reason === 'not_synchronized' ? 'not-synchronized' : 'no-rate'
}

function describeAnswer(answer: ConversionAnswer | AnswerFailure, amount: string): Partial<RowOutcome> {
  if ('status' in answer) return { failure: failureReason(answer) }
  const { rate, legs } = answer
  const result = amount.startsWith('-') ? `-${answer.result}` : answer.result
  return { conversion: { rate, legs, result: roundPlaces(result, 2) } }
}
