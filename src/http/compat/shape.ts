// Shared parts of the compat APIs: credentials, side of the dollar, served rates, cached answers. Each API is a list
// of endpoints, which parse a request, query crosses.ts and encode.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { IndicatorReader } from '../../domain/indicators/reader.ts'
import type { Cross } from '../../domain/rates/crosses.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { ReadDb, Side } from '../../store/tables.ts'
import { type Clock, currentDay, type IsoDate } from '../../values/dates.ts'
import {
  type AnswerCache,
  REVALIDATED,
  type RenderedAnswer,
  type Revision,
  type StreamedBody,
} from '../endpoint/answer-cache.ts'
import { type Credentials, pathParameters } from '../endpoint/api.ts'
import { type AnyEndpoint, get, type Reply } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/errors.ts'
import { JSON_TYPE } from '../endpoint/forms.ts'
import type { UnservedLog } from '../endpoint/unserved-log.ts'
import type { Path } from '../routes.ts'
import type { Admission, AdmittedClient } from './admission.ts'

export const PROVIDER = 'bccr'

export type CompatDeps = {
  /** For instants, which no column has. */
  db: ReadDb
  cache: RateCache
  answers: AnswerCache
  clock: Clock
  log: Log
  admission: Admission
  /** Indicators of the bank, with a revision of their own and so with answers of their own. */
  indicators: { cache: IndicatorReader['cache']; answers: AnswerCache }
  /** Logs requests for data that are not stored. */
  unserved: UnservedLog
  /** Seconds after which missing days may be there. */
  retryDelay: () => Promise<number>
  /** Answers rounded values too, with a header. */
  serveRounded: boolean
}

/** Request of a compat endpoint. */
export type CompatRequest = {
  query: URLSearchParams
  params: Readonly<Record<string, string>>
  headers: Headers
  today: IsoDate
  /** Side in `tipo`, else the side of the key. */
  side: Side
}

export type CompatEndpoint<A, T, S = RateSnapshot> = {
  path: Path<'GET'>
  /** True: the answer has both sides of the dollar, and `tipo` is ignored. */
  hasBothSides?: boolean
  /** Default: JSON. */
  contentType?: string | ((input: A) => string)
  /** List of content types, if `contentType` is a function. */
  contentTypes?: readonly string[]
  /** Parses the inputs of the answer; default: none. @throws AppError with the API's text */
  parse?(request: CompatRequest): A
  find(snapshot: S, input: A): T | Promise<T>
  /** Default: JSON of the value. */
  encode?(value: T, input: A): string | Uint8Array
  /** Returns the decimals of a rounded answer. */
  roundedTo?(value: NoInfer<T>): number | undefined
  /** Returns the codes with days that were not synchronized, for the header X-Left-Out. */
  leftOut?(value: NoInfer<T>): readonly string[]
  /** Returns the oldest day of a list that ends at days that were not synchronized, for the header X-Ends-At. */
  endsAt?(value: NoInfer<T>): IsoDate | undefined
}

/** An endpoint with a long answer. Each request makes it again, in parts or as a whole. */
export type CompatStream<A, T> = Omit<CompatEndpoint<A, T>, 'encode'> & {
  encode(value: T, input: A): StreamedBody['body']
}

/** Errors of services whose own are not known: their readers test the status alone. */
export const plainJsonErrors: ErrorShape = {
  challenge: 'ApiKey',
  contentType: 'application/json',
  body: (_, message) => JSON.stringify({ error: message }),
  schema: v.object({ error: v.string() }),
}

const VARY = 'Accept, Accept-Encoding, X-API-Key, apikey, Authorization'

/** Creates an endpoint. Its answers are cached by their inputs, the side included. */
export function compatEndpoint<A, T>(deps: CompatDeps, endpoint: CompatEndpoint<A, T>): AnyEndpoint {
  return compatRoute(endpoint, (event, side) => compatReply(deps, endpoint, event, side))
}

/** Creates an endpoint with a long answer. */
export function compatStream<A, T>(deps: CompatDeps, endpoint: CompatStream<A, T>): AnyEndpoint {
  const { find, encode } = endpoint
  return compatRoute(endpoint, (event, side) => {
    const { input, key, contentType } = requestedAnswer(deps, endpoint, event, side)
    return deps.cache.read((snapshot) =>
      deps.answers.stream(event, snapshot, {
        ...{ key, contentType, headers: { vary: VARY } },
        async make() {
          const value = await find(snapshot, input)
          return { body: encode(value, input), headers: ownHeaders(endpoint, value) }
        },
      }),
    )
  })
}

/** Creates an endpoint from its description and the function that replies. */
export function compatRoute<A, T>(
  endpoint: Omit<CompatEndpoint<A, T>, 'encode'>,
  reply: (event: H3Event, side: Side) => Reply | Promise<Reply>,
): AnyEndpoint {
  const { path, contentType = JSON_TYPE, leftOut, endsAt } = endpoint
  const sends = [leftOut && ('X-Left-Out' as const), endsAt && ('X-Ends-At' as const)]
  return get({
    path,
    answer: v.any(),
    contentTypes: endpoint.contentTypes ?? (typeof contentType === 'string' ? [contentType] : []),
    ...REVALIDATED,
    sends: sends.filter((header) => header !== undefined),
    ignoresUnknown: true,
    handle({ event }) {
      const { side } = (event.context.admitted as AdmittedClient | undefined) ?? { side: 'venta' as const }
      return reply(event, side)
    },
  })
}

/** Replies to an authenticated request, for the side of its key, from the snapshots of `cache`. */
export function compatReply<A, T, S extends Revision>(
  deps: Pick<CompatDeps, 'answers' | 'clock' | 'serveRounded'> & {
    cache: { read<R>(query: (snapshot: S) => R | Promise<R>): R | Promise<R> }
  },
  endpoint: CompatEndpoint<A, T, S>,
  event: H3Event,
  keySide: Side,
  query = event.url.searchParams,
) {
  const { find, encode } = endpoint
  const { input, key, contentType } = requestedAnswer(deps, endpoint, event, keySide, query)
  const encodeAnswer = (value: T): RenderedAnswer => ({
    body: encode ? encode(value, input) : JSON.stringify(value),
    headers: { vary: VARY, ...ownHeaders(endpoint, value) },
  })
  return deps.cache.read((snapshot) => {
    const makeAnswer = () => {
      const value = find(snapshot, input)
      return value instanceof Promise ? value.then(encodeAnswer) : encodeAnswer(value)
    }
    return deps.answers.reply(event, snapshot, { key, contentType, make: makeAnswer })
  })
}

/** Parses a request: the inputs of its answer, their key, and the content type. */
function requestedAnswer<A, T>(
  { clock, serveRounded }: Pick<CompatDeps, 'clock' | 'serveRounded'>,
  endpoint: Pick<CompatEndpoint<A, T>, 'path' | 'hasBothSides' | 'contentType' | 'parse'>,
  event: H3Event,
  keySide: Side,
  query = event.url.searchParams,
): { input: A; key: string; contentType: string } {
  const { path, hasBothSides, contentType = JSON_TYPE, parse } = endpoint
  const params = pathParameters(event)
  const side = hasBothSides ? keySide : requestedSide(query, keySide)
  const request = { query, params, headers: event.req.headers, today: currentDay(clock), side }
  const input = parse ? parse(request) : ({} as A)
  const type = typeof contentType === 'string' ? contentType : contentType(input)
  // The setting is in the ETag too, since a restart with another setting changes the answer.
  const key = `${path} ${type} ${serveRounded ? 'rounded ' : ''}${JSON.stringify(input)}`
  return { input, key, contentType: type }
}

function ownHeaders<A, T>(
  { roundedTo, leftOut, endsAt }: Pick<CompatEndpoint<A, T>, 'roundedTo' | 'leftOut' | 'endsAt'>,
  value: T,
): Record<string, string> {
  const headers: Record<string, string> = {}
  const decimals = roundedTo?.(value)
  if (decimals !== undefined) headers['x-rounded-to'] = String(decimals)
  const codes = leftOut?.(value) ?? []
  if (codes.length > 0) headers['x-left-out'] = codes.join(',')
  const oldest = endsAt?.(value)
  if (oldest !== undefined) headers['x-ends-at'] = oldest
  return headers
}

/** Accepts a client with a key, or in an open network. */
export function compatCredentials(admission: Admission): Credentials {
  return {
    permissions: ['any-key'],
    check(event) {
      const admitted = admission(event)
      const store = (client: AdmittedClient) => {
        event.context.admitted = client
      }
      return admitted instanceof Promise ? admitted.then(store) : store(admitted)
    },
    ...{ name: 'anyKey', scheme: { type: 'apiKey', in: 'query', name: 'key' } },
    refusals: { 401: 'Missing or invalid key' },
  }
}

function requestedSide(query: URLSearchParams, keySide: Side): Side {
  const tipo = query.get('tipo')?.toLowerCase()
  if (tipo === undefined || tipo === '') return keySide
  if (tipo === 'compra' || tipo === 'venta') return tipo
  throw new AppError('bad-request', 'tipo must be compra or venta')
}

/** Returns the rates that may be served. Rounded ones are logged and left out, unless the operator serves them. */
export function servedCrosses<C extends Cross>(
  { serveRounded, unserved }: CompatDeps,
  crosses: readonly C[],
): readonly C[] {
  if (serveRounded) return crosses
  const exactCrosses = crosses.filter(({ exact }) => exact)
  if (exactCrosses.length < crosses.length) unserved.rounded(crosses.length - exactCrosses.length)
  return exactCrosses
}

/** The fewest decimals of rates that are not exact. */
export function fewestDecimals(crosses: readonly Pick<Cross, 'exact' | 'roundedTo'>[]): number | undefined {
  const decimals = crosses.flatMap(({ exact, roundedTo }) =>
    exact || roundedTo === undefined ? [] : [roundedTo],
  )
  return decimals.length > 0 ? Math.min(...decimals) : undefined
}
