// Computes the differences of the positions with one request for both rates of each.

import { type BatchAnswer, type BatchEntry, convertBatch, isConverted } from '../../api/convert-batch.ts'
import { createFailure, type Result } from '../../api/request.ts'
import type { Conversion } from '../../api/responses.ts'
import { useLoaded } from '../../components/use-api.ts'
import { type ShownSide, SIDES, type SideRule } from '../../model/fragment.ts'
import { failureReason } from '../../model/pasted/outcomes.ts'
import {
  computeDifference,
  type ExchangeDifference,
  type Position,
  positionSide,
} from '../../model/rates/differential.ts'

export type DifferenceRequest = {
  positions: readonly Position[]
  /** Closing day. */
  day: string
  books: string
  rule: SideRule
}
export type PositionRow = {
  position: Position
  side: ShownSide
  registration?: Conversion
  closing?: Conversion
  difference?: ExchangeDifference
  error?: 'later' | 'not-synchronized' | 'no-rate'
}
export type Differences = {
  key: string
  rows: readonly PositionRow[]
  /** Dollar on the closing day, both sides. */
  dollar: Partial<Record<ShownSide, string>>
  /** Milliseconds, when the server answered. */
  at: number
}

/** @param request undefined: the closing day is refused */
export function useDifferences(request: DifferenceRequest | undefined) {
  const key = request && JSON.stringify(request)
  const load = async (signal: AbortSignal): Promise<Result<Differences>> => {
    if (!key || !request) return { failure: createFailure(0, '') }
    const { value, failure } = await convertBatch(batchElements(request), signal)
    return failure ? { failure } : { value: { key, ...describeRows(request, value.answers), at: value.at } }
  }
  const { value, failure, previous } = useLoaded(key, load, { isRetried: false })
  const differences = value ?? previous
  return {
    differences: request && differences?.key === key ? differences : undefined,
    failure: request && failure,
    isBusy: request !== undefined && !value && !failure,
  }
}

function batchElements({ positions, day, books, rule }: DifferenceRequest): BatchEntry[] {
  const dollar = SIDES.map((type) => ({
    ...{ id: `dollar ${type}`, amount: '1', from: 'USD', to: 'CRC', type, on: day },
  }))
  const both = positions
    .filter((position) => position.day <= day)
    .flatMap(({ id, type, balance, currency, day: registration }) => {
      const amount = balance.replace('-', '')
      const shared = { amount, from: currency, to: books, type: positionSide(type, rule) }
      return [
        { ...shared, id: `${id} registration`, on: registration },
        { ...shared, id: `${id} closing`, on: day },
      ]
    })
  return [...dollar, ...both]
}

function describeRows(
  { positions, day, rule }: DifferenceRequest,
  answers: ReadonlyMap<string, BatchAnswer>,
): Pick<Differences, 'rows' | 'dollar'> {
  const dollar: Differences['dollar'] = {}
  for (const side of SIDES) {
    const answer = answers.get(`dollar ${side}`)
    if (answer && isConverted(answer)) dollar[side] = answer.rate
  }
  const rows = positions.map((position): PositionRow => {
    const row = { position, side: positionSide(position.type, rule) }
    if (position.day > day) return { ...row, error: 'later' }
    const registration = answers.get(`${position.id} registration`)
    const closing = answers.get(`${position.id} closing`)
    if (!registration || !closing) return { ...row, error: 'no-rate' }
    if (!isConverted(registration)) return { ...row, error: failureReason(registration) }
    if (!isConverted(closing)) return { ...row, error: failureReason(closing) }
    const results = { registration: registration.result, closing: closing.result }
    return { ...row, registration, closing, difference: computeDifference(position, results) }
  })
  return { rows, dollar }
}
