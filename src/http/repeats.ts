// Answers repeated requests with their finished answers. The framework is half of the work on a request, and has all
// others (decisions#caching).

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DatabaseState } from '../domain/operations/database-watch.ts'
import type { CacheState, RateCache } from '../domain/rates/rate-cache.ts'
import { type Clock, currentDay } from '../values/dates.ts'
import type { Keyring } from './access/auth.ts'
import {
  type FinishedAnswers,
  haveSameAnswers,
  openFinishedAnswers,
  placeAnswer,
} from './endpoint/answers/finished.ts'
import { KEY_NAMES } from './endpoint/url-key.ts'
import type { StartRequest } from './request-log.ts'

const MAX_TARGET = 200 // characters; a URL with the contract's parameters takes 150
/** Percent escapes can hide the parameter of a key. */
const MAY_CONTAIN_KEY = new RegExp(`%|token|${KEY_NAMES.join('|')}`, 'i')

/** Answers a request as before. False: it did nothing, and the framework has to answer. */
export type AnswerAgain = (req: IncomingMessage, res: ServerResponse) => boolean

export type RepeatsDeps = {
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
  const all: FinishedAnswers[] = []
  const open = (): AnswerAgain => {
    const answers = openFinishedAnswers()
    all.push(answers)
    return (req, res) => {
      const secret = req.headers['x-api-key'] // comes before keys in other places
      if (!secret || typeof secret !== 'string' || !isRepeatable(req, res)) return false
      const request = requestText(req)
      const answer = answers.of(cache.snapshot()).get(request)
      const isValid = answer?.today === currentDay(clock) && isFresh(database)
      const key = isValid ? keyring.findKey(req.socket, secret) : undefined
      if (!answer || !key || !haveSameAnswers(key, answer.client)) {
        stats.misses += 1
        placeAnswer(req, answers, request)
        return false
      }
      stats.hits += 1
      const { route, status, head, body } = answer
      const { requestId } = startRequest(req, res, { key, route })
      res.writeHead(status, head.with(1, requestId)).end(body)
      return true
    }
  }
  const state = () => {
    const sizes = all.map((answers) => answers.size())
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

/** Returns the parts of a request on which its answer depends. No part contains a line feed. */
function requestText({ url, headers }: IncomingMessage): string {
  return `${url}\n${headers.accept ?? ''}\n${headers['accept-encoding'] ?? ''}\n${headers['if-none-match'] ?? ''}`
}

/** Returns true if the data in memory are as new as those in the database. */
function isFresh(database: Pick<DatabaseState, 'memoryAge'>): boolean {
  try {
    return database.memoryAge() === undefined
  } catch {
    return false // the framework answers with the error
  }
}
