// Second opinion on the dollar: Hacienda publishes the central bank's rates at an address of its own. A request is one GET
// without a retry. Its values are compared with the stored ones, and never become rates.

import { randomUUID } from 'node:crypto'
import { networkReason } from '../runtime/errors.ts'
import { isIsoDate } from '../values/dates.ts'
import { canonicalNumber } from '../values/decimal.ts'
import { isJsonObject } from '../values/json-object.ts'
import { excerpt, parseSourceJson, scalarText } from './json.ts'
import { FetchFailure, type OpinionSide } from './provider.ts'
import { readWhole } from './request.ts'

/** `rates`: sides of the dollar. `local`: a cambista answered. `busy`: HTTP 429. `none`: no opinion, with the reason. */
export type Opinion =
  | { kind: 'rates'; sides: OpinionSide[] }
  | { kind: 'local' }
  | { kind: 'busy' }
  | { kind: 'none'; reason: string }

/** `timeoutMs`: for tests; default 10 seconds. */
export type OpinionRequest = { url: string; userAgent: string; timeoutMs?: number | undefined }

/** Source of the second opinion. */
export const OPINION_SOURCE = 'hacienda'

const PATH = '/indicadores/tc/dolar'
const TIMEOUT_MS = 10_000
const BODY_LIMIT = 65_536
const SIDES = ['compra', 'venta'] as const
const DAY_LENGTH = 10 // the day was followed by a time until 2025

/**
 * Requests the dollar once. Each cambista returns the id of a request, also in Hacienda's shape. So an answer with the id of
 * this request is of a cambista.
 * @throws the reason of the signal
 */
export async function fetchOpinion(
  { url, userAgent, timeoutMs = TIMEOUT_MS }: OpinionRequest,
  signal: AbortSignal,
): Promise<Opinion> {
  const id = randomUUID()
  try {
    const response = await fetch(url.replace(/\/+$/, '') + PATH, {
      headers: { Accept: 'application/json', 'User-Agent': userAgent, 'X-Request-Id': id },
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    const { status, headers } = response
    const isLocal = headers.get('x-request-id') === id
    if (isLocal || status !== 200) {
      await response.body?.cancel()
      if (isLocal) return { kind: 'local' }
      return status === 429 ? { kind: 'busy' } : { kind: 'none', reason: statusReason(status, headers) }
    }
    return { kind: 'rates', sides: readSides(await readWhole(response, BODY_LIMIT)) }
  } catch (error) {
    signal.throwIfAborted()
    const isLate = error instanceof Error && error.name === 'TimeoutError'
    const reason = isLate ? `no complete answer within ${timeoutMs / 1000} s` : networkReason(error)
    return { kind: 'none', reason }
  }
}

function statusReason(status: number, headers: Headers): string {
  const target = excerpt(headers.get('location') ?? '')
  return target === ''
    ? `HTTP ${status}`
    : `HTTP ${status}, a redirect to "${target}", which is never followed`
}

/**
 * Parses `{"venta": {"fecha", "valor"}, "compra": {…}}`.
 * @throws FetchFailure for any other text, such as the error `{"code", "status"}`
 */
function readSides(body: string): OpinionSide[] {
  const answer = parseSourceJson(body)
  if (!isJsonObject(answer)) throw new FetchFailure('the answer is not an object')
  if ('code' in answer || 'status' in answer) {
    const words = [answer.code, answer.status].map(scalarText).filter((text) => text !== '')
    throw new FetchFailure(`the answer is an error: ${excerpt(words.join(' '))}`)
  }
  return SIDES.map((side) => {
    const valued = answer[side]
    const day = isJsonObject(valued) ? scalarText(valued.fecha).slice(0, DAY_LENGTH) : ''
    const value = isJsonObject(valued) ? canonicalNumber(scalarText(valued.valor)) : undefined
    if (!isIsoDate(day) || value === undefined)
      throw new FetchFailure(`the answer has no day and value of ${side}`)
    return { rate_type: side, rate_date: day, value }
  })
}
