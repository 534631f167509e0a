// Answers repeated requests with their finished answers, before the framework sees them (decisions#caching).

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DatabaseState } from '../domain/operations/database-watch.ts'
import type { CacheState, RateCache } from '../domain/rates/rate-cache.ts'
import { type CachesByOwner, createCachesByOwner } from '../runtime/lru.ts'
import { type Clock, currentDay } from '../values/dates.ts'
import type { ApiKey, Keyring } from './access/auth.ts'
import { type FinishedAnswer, setPlace } from './endpoint/answers/finished.ts'
import { KEY_NAMES } from './endpoint/url-key.ts'
import type { StartRequest } from './request-log.ts'

const CACHE_BYTES = 12 * 1024 * 1024
const MAX_TARGET = 200 // characters; a URL with the contract's parameters takes 150
/** Percent escapes can hide the parameter of a key. */
const MAY_CONTAIN_KEY = new RegExp(`%|token|${KEY_NAMES.join('|')}`, 'i')

/** Answers a request as before. False: it did nothing, and the framework has to answer. */
export type AnswerAgain = (req: IncomingMessage, res: ServerResponse) => boolean

type RepeatsDeps = {
  cache: Pick<RateCache, 'snapshot'>
  database: Pick<DatabaseState, 'memoryAge'>
  keyring: Pick<Keyring, 'findKey'>
  clock: Clock
  startRequest: StartRequest
}

/** Each listener opens finished answers of its own. `state`: their sums for metrics. */
export function createRepeats({ cache, database, keyring, clock, startRequest }: RepeatsDeps): {
  open(): AnswerAgain
  state(): CacheState
} {
  const stats = { hits: 0, misses: 0 }
  const all: CachesByOwner<FinishedAnswer>[] = []
  const open = (): AnswerAgain => {
    const caches = createCachesByOwner<FinishedAnswer>(CACHE_BYTES, stats)
    all.push(caches)
    return (req, res) => {
      const secret = req.headers['x-api-key'] // comes before keys in other places
      if (!secret || typeof secret !== 'string' || !isRepeatable(req, res) || !isFresh(database)) return false
      const key = keyring.findKey(req.socket, secret)
      if (!key || key.network !== null || key.origins !== null) return false
      const data = cache.snapshot()
      const answers = caches.of(data)
      const request = requestText(req, key)
      const answer = answers.get(request)
      if (answer?.today !== currentDay(clock)) {
        setPlace(req, { answers, data, request, key })
        return false
      }
      const { route, status, head, body } = answer
      const { requestId } = startRequest(req, res, { key, route })
      res.writeHead(status, head.with(1, requestId)).end(body)
      return true
    }
  }
  const state = () => {
    const sizes = all.map((caches) => caches.size())
    const sum = (of: 'entries' | 'bytes') => sizes.reduce((total, size) => total + size[of], 0)
    return { entries: sum('entries'), bytes: sum('bytes'), ...stats }
  }
  return { open, state }
}

function isRepeatable(
  { method, url = '', headers }: IncomingMessage,
  { shouldKeepAlive }: ServerResponse,
): boolean {
  if (method !== 'GET' || !shouldKeepAlive || url.length > MAX_TARGET || MAY_CONTAIN_KEY.test(url))
    return false
  const { origin, expect, upgrade } = headers
  return (
    (origin ?? expect ?? upgrade ?? headers['content-length'] ?? headers['transfer-encoding']) === undefined
  )
}

/** Returns all of a request on which its answer depends. No part contains a line feed. */
function requestText({ url, headers }: IncomingMessage, { kind, side, provider }: ApiKey): string {
  const { accept = '', 'accept-encoding': coding = '', 'if-none-match': condition = '' } = headers
  return `${url}\n${accept}\n${coding}\n${condition}\n${kind} ${side} ${provider ?? ''}`
}

/** Returns true if the data in memory are as new as those in the database. */
function isFresh(database: Pick<DatabaseState, 'memoryAge'>): boolean {
  try {
    return database.memoryAge() === undefined
  } catch {
    return false // the framework answers with the error
  }
}
