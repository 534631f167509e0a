// Converts many amounts on one state of the rates, in requests whose answers are read within a short task. The later
// ones have the instant of the first.

import { serverTime } from './clock.ts'
import { apiRequest, type Failure } from './request.ts'
import type { Conversion } from './responses.ts'

/** `amount` is positive. */
export type BatchEntry = { id: string; amount: string; from: string; to: string; type: string; on: string }
type ElementFailure = { status: number; reason?: string }
export type BatchAnswer = Conversion | ElementFailure
export type BatchResult = {
  answers: ReadonlyMap<string, BatchAnswer>
  /** Milliseconds, when the server answered. */
  at: number
}

const MAX_ELEMENTS = 2500 // an answer of 10,000 has 4 MB, and delays input by 0.2 s

export async function convertBatch(
  elements: readonly BatchEntry[],
  signal: AbortSignal,
): Promise<{ value: BatchResult; failure?: undefined } | { value?: undefined; failure: Failure }> {
  const answers = new Map<string, BatchAnswer>()
  let asOf: string | null = null
  for (let from = 0; from < elements.length; from += MAX_ELEMENTS) {
    const body = elements.slice(from, from + MAX_ELEMENTS)
    const path: string = `/api/v1/convert/batch${asOf === null ? '' : `?as_of=${encodeURIComponent(asOf)}`}`
    const { value, failure } = await apiRequest<{
      list: readonly (BatchAnswer & { id: string })[]
      instant: string | null
    }>(path, { method: 'POST', body, signal, read: readAnswers })
    if (failure) return { failure }
    for (const answer of value.list) answers.set(answer.id, answer)
    asOf ??= value.instant
  }
  return { value: { answers, at: serverTime() } }
}

export function isConverted(answer: BatchAnswer): answer is Conversion {
  return 'result' in answer
}

async function readAnswers(response: Response) {
  return { list: await response.json(), instant: response.headers.get('x-cambista-as-of') }
}
