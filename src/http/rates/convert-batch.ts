// Many conversions with one request. Each is validated and answered like GET /convert with details=true. A failed
// element has the error of that endpoint, and does not affect others (decisions#batch).

import * as v from 'valibot'
import { createInterleaver } from '../../runtime/interleave.ts'
import { createSemaphore } from '../../runtime/semaphore.ts'
import { currentDay } from '../../values/dates.ts'
import { JSON_TYPE } from '../endpoint/answers/forms.ts'
import { nodeContext } from '../endpoint/answers/send.ts'
import { DecimalText, Integer, Reason, titledObject, withDescription } from '../endpoint/answers/shapes.ts'
import { checkLength, readBody } from '../endpoint/body.ts'
import { type AnyEndpoint, post } from '../endpoint/endpoint.ts'
import { AsOfParam } from '../endpoint/params.ts'
import { pastDay, type StoredDeps } from '../endpoint/stored.ts'
import { CONVERSION, ConversionOut } from '../figures/conversion.ts'
import { answerBatch } from './batch-answer.ts'
import { createBatchMemory } from './batch-memory.ts'

const MAX_CONVERSIONS = 10_000
const MAX_BYTES = 4 * 1024 ** 2 // 400 for each element
const IDLE_MS = 30_000
const CONCURRENCY = { batches: 8, waitMs: 5000 } // each has its elements in memory, a few megabytes

const Id = withDescription(
  v.union([v.string(), Integer]),
  'Any text or integer; it is answered as it was sent',
)
const { amount: _, ...TEXTS } = CONVERSION
const BatchBody = v.pipe(
  v.array(
    titledObject('ConversionIn', {
      id: v.optional(Id),
      amount: withDescription(
        v.union([DecimalText, v.number()]),
        'Decimal number greater than 0; no digit of either is lost',
      ),
      ...TEXTS,
    }),
  ),
  v.maxLength(MAX_CONVERSIONS),
)
const BatchOut = v.array(
  v.union([
    titledObject('ConversionOfBatch', { id: v.optional(Id), ...ConversionOut.entries }),
    titledObject('ConversionError', {
      id: v.optional(Id),
      status: v.pipe(v.number(), v.integer(), v.description('As GET /convert would have')),
      detail: withDescription(v.any(), 'As GET /convert would have'),
      reason: Reason,
    }),
  ]),
)

export function convertBatchEndpoint({
  cache,
  past,
  clock,
}: Pick<StoredDeps, 'cache' | 'past' | 'clock'>): AnyEndpoint {
  const message = `${CONCURRENCY.batches} batches of conversions are under way: try again in a moment`
  const batches = createSemaphore(CONCURRENCY.batches, { ms: CONCURRENCY.waitMs, message })
  const interleave = createInterleaver()
  const openPieces = createBatchMemory()
  return post({
    path: '/api/v1/convert/batch',
    about:
      'Takes an array of at most 10,000 and answers one of the same length and order: each conversion as GET ' +
      '/convert gives it with details=true, or its status and detail where that would be an error. All are of one ' +
      'state of the rates. The header X-Cambista-As-Of has its instant: the same body with that `as_of` has the ' +
      'same results later.',
    query: v.object({ as_of: v.optional(AsOfParam) }),
    body: BatchBody,
    sends: ['X-Cambista-As-Of'],
    answer: BatchOut,
    notFound: 'Nothing is known of the instant: `gap` or `record_from` says why',
    refusals: { 422: 'The body is JSON, but no array; or a parameter is invalid or not one of this path' },
    async handle({ event, query: { as_of: asOf } }) {
      const { req, res } = nodeContext(event)
      checkLength(req, MAX_BYTES)
      const today = asOf === undefined ? currentDay(clock) : pastDay(asOf, clock(), cache.snapshot())
      const cut = () => void res.destroy()
      using body = openPieces(cut)
      for await (const piece of readBody(req, res, { maxBytes: MAX_BYTES, idleMs: IDLE_MS })) body.add(piece)
      using _permit = await batches.acquire()
      using parts = new DisposableStack()
      const answer = parts.use(openPieces(cut))
      const deps = { cache, past, today, asOf, interleave }
      const bounds = { most: MAX_CONVERSIONS, maxBytes: MAX_BYTES }
      const answerInstant = await answerBatch(deps, { body, answer }, bounds)
      parts.move()
      const instant = answerInstant === undefined ? undefined : { 'x-cambista-as-of': answerInstant }
      return { body: answer.chunks(), headers: { 'content-type': JSON_TYPE, ...instant } }
    },
  })
}
