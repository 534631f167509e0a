// Many conversions with one request. Each is checked and answered as GET /convert answers it with details=true; an element
// that has no answer is answered with the error that it would get there, and spoils no other (decisions 2.20).

import * as v from 'valibot'
import { todayIn } from '../../dates.ts'
import { createSemaphore } from '../../semaphore.ts'
import { createTurns } from '../../turns.ts'
import { bodyOf, checkLength } from '../api/body.ts'
import { type AnyEndpoint, post } from '../api/endpoint.ts'
import { JSON_TYPE } from '../api/forms.ts'
import { nodeOf } from '../api/send.ts'
import { DecimalText } from '../api/shapes.ts'
import type { StoredDeps } from '../api/stored.ts'
import { CONVERSION, ConversionOut } from './convert.ts'

const MOST = 10_000
const MAX_BYTES = 4 * 1024 ** 2 // 400 for each element
const IDLE_MS = 30_000
const AT_ONCE = { batches: 8, waitMs: 5000 } // each holds its elements, a few megabytes

const Id = v.pipe(
  v.union([v.string(), v.pipe(v.number(), v.integer())]),
  v.description('Any text or integer; it is answered as it was sent'),
)
const { amount: _, ...TEXTS } = CONVERSION
const BatchIn = v.pipe(
  v.array(
    v.pipe(
      v.object({
        id: v.optional(Id),
        amount: v.pipe(
          v.union([DecimalText, v.number()]),
          v.description('Decimal number greater than 0; no digit of either is lost'),
        ),
        ...TEXTS,
      }),
      v.title('ConversionIn'),
    ),
  ),
  v.maxLength(MOST),
)
const BatchOut = v.array(
  v.union([
    v.pipe(v.object({ id: v.optional(Id), ...ConversionOut.entries }), v.title('ConversionOfBatch')),
    v.pipe(
      v.object({
        id: v.optional(Id),
        status: v.pipe(v.number(), v.integer(), v.description('As GET /convert would have')),
        detail: v.pipe(v.any(), v.description('As GET /convert would have')),
      }),
      v.title('ConversionError'),
    ),
  ]),
)

export function convertBatchEndpoint({ cache, clock }: Pick<StoredDeps, 'cache' | 'clock'>): AnyEndpoint {
  const message = `${AT_ONCE.batches} batches of conversions are under way: try again in a moment`
  const batches = createSemaphore(AT_ONCE.batches, { ms: AT_ONCE.waitMs, message })
  const inTurns = createTurns()
  return post({
    path: '/api/v1/convert/batch',
    summary: `Up to ${MOST} conversions at once`,
    about:
      'Takes an array and answers one of the same length and order: each conversion as GET /convert gives it with ' +
      'details=true, or its status and detail where that would be an error. All are of one state of the rates.',
    body: BatchIn,
    answer: BatchOut,
    refusals: { 422: 'The body is JSON, but no array' },
    async handle({ event }) {
      const { req, res } = nodeOf(event)
      checkLength(req, MAX_BYTES)
      const permit = await batches.acquire()
      try {
        const body = bodyOf(req, res, { maxBytes: MAX_BYTES, idleMs: IDLE_MS })
        const { answerBatch } = await import('./batch-answer.ts')
        const deps = { cache, today: todayIn(clock), inTurns, permit }
        const answer = await answerBatch(deps, body, { most: MOST, maxBytes: MAX_BYTES })
        return { body: answer, headers: { 'content-type': JSON_TYPE } }
      } catch (error) {
        permit[Symbol.dispose]()
        throw error
      }
    },
  })
}
