// Shared parts of the compat APIs: credentials, side of the dollar, served rates, cached answers. Each API is a list
// of endpoints, which parse a request, query crosses.ts and encode.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { Cross } from '../../domain/rates/crosses.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { AppError } from '../../runtime/errors.ts'
import type { Log } from '../../runtime/log.ts'
import type { ReadDb, Side } from '../../store/tables.ts'
import { type Clock, currentDay, type IsoDate } from '../../values/dates.ts'
import { type AnswerCache, REVALIDATED, type RenderedAnswer } from '../endpoint/answer-cache.ts'
import { type Credentials, pathParameters } from '../endpoint/api.ts'
import { type AnyEndpoint, get } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/errors.ts'
import { JSON_TYPE } from '../endpoint/forms.ts'
import type { Path } from '../routes.ts'
import type { Admission, AdmittedClient } from './admission.ts'
import type { UnservedLog } from './unserved-log.ts'

export const PROVIDER = 'bccr'

export type CompatDeps = {
  /** For instants, which no column has. */
  db: ReadDb
  cache: RateCache
  answers: AnswerCache
  clock: Clock
  log: Log
  admission: Admission
  /** Logs requests for data that are not stored. */
  unserved: UnservedLog
  /** Time of the next sync; undefined: no scheduler runs. */
  nextSync: () => Promise<Date | undefined>
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

export type CompatEndpoint<A, T> = {
  path: Path<'GET'>
  /** True: the answer has both sides of the dollar, and `tipo` is ignored. */
  hasBothSides?: boolean
  /** Default: JSON. */
  contentType?: string | ((input: A) => string)
  /** List of content types, if `contentType` is a function. */
  contentTypes?: readonly string[]
  /** Parses the inputs of the answer; default: none. @throws AppError with the API's text */
  parse?(request: CompatRequest): A
  find(snapshot: RateSnapshot, input: A): T | Promise<T>
  /** Default: JSON of the value. */
  encode?(value: T, input: A): string | Uint8Array
  /** Returns the decimals of a rounded answer. */
  roundedTo?(value: NoInfer<T>): number | undefined
  /** Returns the codes with days that were not synchronized, for the header X-Left-Out. */
  leftOut?(value: NoInfer<T>): readonly string[]
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
  const { path, contentType = JSON_TYPE } = endpoint
  return get({
    path,
    answer: v.any(),
    contentTypes: endpoint.contentTypes ?? (typeof contentType === 'string' ? [contentType] : []),
    ...REVALIDATED,
    ...(endpoint.leftOut && { sends: ['X-Left-Out'] as const }),
    ignoresUnknown: true,
    handle({ event }) {
      const { side } = (event.context.admitted as AdmittedClient | undefined) ?? { side: 'venta' as const }
      return compatReply(deps, endpoint, event, side)
    },
  })
}

/** Replies to an authenticated request, for the side of its key. */
export function compatReply<A, T>(
  { cache, answers, clock, serveRounded }: Pick<CompatDeps, 'cache' | 'answers' | 'clock' | 'serveRounded'>,
  {
    path,
    hasBothSides,
    contentType = JSON_TYPE,
    parse,
    find,
    encode,
    roundedTo,
    leftOut,
  }: CompatEndpoint<A, T>,
  event: H3Event,
  keySide: Side,
  query = event.url.searchParams,
) {
  const params = pathParameters(event)
  const side = hasBothSides ? keySide : requestedSide(query, keySide)
  const request = { query, params, headers: event.req.headers, today: currentDay(clock), side }
  const input = parse ? parse(request) : ({} as A)
  const type = typeof contentType === 'string' ? contentType : contentType(input)
  // The setting is in the ETag too, since a restart with another setting changes the answer.
  const key = `${path} ${type} ${serveRounded ? 'rounded ' : ''}${JSON.stringify(input)}`
  const encodeAnswer = (value: T): RenderedAnswer => {
    const decimals = roundedTo?.(value)
    const headers: Record<string, string> = { vary: VARY }
    if (decimals !== undefined) headers['x-rounded-to'] = String(decimals)
    const codes = leftOut?.(value) ?? []
    if (codes.length > 0) headers['x-left-out'] = codes.join(',')
    return { body: encode ? encode(value, input) : JSON.stringify(value), headers }
  }
  return cache.read((snapshot) => {
    const makeAnswer = () => {
      const value = find(snapshot, input)
      return value instanceof Promise ? value.then(encodeAnswer) : encodeAnswer(value)
    }
    return answers.reply(event, snapshot, { key, contentType: type, make: makeAnswer })
  })
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
