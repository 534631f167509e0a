// Finished answers: head and body by request. http/repeats.ts answers repeated requests with them.

import type { IncomingMessage } from 'node:http'
import type { H3Event, H3EventContext } from 'h3'
import { type CachesByOwner, createCachesByOwner } from '../../../runtime/lru.ts'
import type { IsoDate } from '../../../values/dates.ts'
import type { Reply } from '../endpoint.ts'
import { keyInPath } from '../url-key.ts'
import { nodeContext } from './send.ts'

const CACHE_BYTES = 8 * 1024 * 1024
const ENTRY_BYTES = 700 // overhead of an entry beside request and body
const PLACE = Symbol('place of the finished answer to a request')

/** Sources of an answer, beside its request and the kind, side and provider of its key. */
export type Sources = { data: object; today: IsoDate }

/** Key of a request. */
export type ClientKey = NonNullable<H3EventContext['key']>

export type FinishedAnswer = {
  today: IsoDate
  client: ClientKey
  route: string
  status: number
  /** Names and values in turns. The first header is the id of the request. */
  head: readonly string[]
  body: string | Uint8Array
}

/** Finished answers by snapshot of the data and by request. Answers to an older snapshot are freed with it. */
export type FinishedAnswers = CachesByOwner<FinishedAnswer>

type PlacedRequest = IncomingMessage & { [PLACE]?: { answers: FinishedAnswers; request: string } }

export function openFinishedAnswers(): FinishedAnswers {
  return createCachesByOwner(CACHE_BYTES)
}

/** Sets the place of the answer to a request. */
export function placeAnswer(req: IncomingMessage, answers: FinishedAnswers, request: string): void {
  ;(req as PlacedRequest)[PLACE] = { answers, request }
}

/** Returns a function that caches an answer with its status and headers; undefined: the request has no place. */
export function cacheFinished(
  event: H3Event,
  { data, today }: Sources,
  body: string | Uint8Array,
): Reply['onSent'] {
  const { key: client, route } = event.context
  const place = (nodeContext(event).req as PlacedRequest)[PLACE]
  if (!place || !client || !haveSameAnswers(client, client) || keyInPath(event)) return undefined
  return (status, headers) => {
    if (headers.age !== undefined || headers['set-cookie'] !== undefined) return
    const { 'x-request-id': _, ...others } = headers
    const head = ['x-request-id', '', ...Object.entries(others).flat()]
    const { answers, request } = place
    const answer = { today, client, route: String(route), status, head, body }
    answers.of(data).put(request, answer, ENTRY_BYTES + request.length + body.length)
  }
}

/** Returns true if two keys get the same answers, and the first has neither a network nor websites. */
export function haveSameAnswers(one: ClientKey, other: ClientKey): boolean {
  const { kind, side, provider, network, origins } = one
  if (network !== null || origins !== null) return false
  return kind === other.kind && side === other.side && provider === other.provider
}
