// Finished answers: head and body by request, for a snapshot of the rates. http/repeats.ts answers repeated requests with
// them.

import type { IncomingMessage } from 'node:http'
import type { H3Event, H3EventContext } from 'h3'
import type { LruCache } from '../../../runtime/lru.ts'
import type { IsoDate } from '../../../values/dates.ts'
import type { Reply } from '../endpoint.ts'
import { keyInPath } from '../url-key.ts'
import { nodeContext } from './send.ts'

const ENTRY_BYTES = 500 // overhead of an entry beside request and body
const PLACE = Symbol('place of the finished answer to a request')

export type FinishedAnswer = {
  today: IsoDate
  route: string
  status: number
  /** Names and values in turns. The first header is the id of the request. */
  head: readonly string[]
  body: string | Uint8Array
}

/** Place of the answer to a request with this key, if it is of these data. */
export type Place = {
  answers: LruCache<FinishedAnswer>
  data: object
  request: string
  key: H3EventContext['key']
}

type PlacedRequest = IncomingMessage & { [PLACE]?: Place }

export function setPlace(req: IncomingMessage, place: Place): void {
  ;(req as PlacedRequest)[PLACE] = place
}

/** Returns a function that stores an answer of the data and the day; undefined: the request has no place. */
export function finishedStore(
  event: H3Event,
  { data, today }: { data: object; today: IsoDate },
  body: string | Uint8Array,
): Reply['onSent'] {
  const place = (nodeContext(event).req as PlacedRequest)[PLACE]
  const { key, route = '' } = event.context
  if (place?.data !== data || place.key !== key || keyInPath(event)) return undefined
  return (status, headers) => {
    if (headers.age !== undefined || headers['set-cookie'] !== undefined) return
    const { 'x-request-id': _, ...others } = headers
    const head = ['x-request-id', '', ...Object.entries(others).flat()]
    const { answers, request } = place
    answers.put(request, { today, route, status, head, body }, ENTRY_BYTES + request.length + body.length)
  }
}
