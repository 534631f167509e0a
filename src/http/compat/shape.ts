// Shared parts of the compat APIs: credentials, provider and side of a request, served rates, cached answers. Each API is a list
// of endpoints, which parse a request, query crosses.ts and encode.

import type { H3Event } from 'h3'
import * as v from 'valibot'
import type { IndicatorReader } from '../../domain/indicators/reader.ts'
import { sourceTerms } from '../../domain/rates/active-providers.ts'
import type { Cross } from '../../domain/rates/crosses.ts'
import type { RateCache, RateSnapshot } from '../../domain/rates/rate-cache.ts'
import { DEFAULT_PROVIDER, PROVIDERS } from '../../providers/list.ts'
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
} from '../endpoint/answers/answer-cache.ts'
import { JSON_TYPE } from '../endpoint/answers/forms.ts'
import { type Credentials, pathParameters } from '../endpoint/api.ts'
import { type AnyEndpoint, get, type Reply } from '../endpoint/endpoint.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'
import type { UnservedLog } from '../endpoint/unserved-log.ts'
import type { Path } from '../routes.ts'
import { type Admission, type AdmittedClient, KEYLESS_CLIENT } from './admission.ts'

/** Provider of the Costa Rican services, and of a key without another one. */
export const PROVIDER = DEFAULT_PROVIDER.code

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
  /** Seconds after which missing days of a provider may be there. */
  retryDelay: (provider: string) => Promise<number>
  /** Answers rounded values too, with a header. */
  serveRounded: boolean
  /** True: the provider is that of the key. Else it is the bank, as for all Costa Rican services. */
  followsKey: boolean
}

/** Request of a compat endpoint. */
export type CompatRequest = {
  query: URLSearchParams
  params: Readonly<Record<string, string>>
  headers: Headers
  today: IsoDate
  /** Side in `tipo`, else the side of the key; always that of the key for a provider without sides. */
  side: Side
  /** Provider that the query names, else that of the key. */
  provider: string
}

/** The provider of an answer, as texts for its readers. */
export type AnswerSource = {
  name: string
  /** Line that names the source, as its terms require. */
  notice: string
}

export type CompatEndpoint<A, T, S = RateSnapshot> = {
  path: Path<'GET'>
  /** True: the answer has both sides of the dollar, and `tipo` is ignored. */
  hasBothSides?: boolean
  /** Returns the provider that a query names, if the API follows the key; undefined: that of the key. */
  namedProvider?(query: URLSearchParams): string | undefined
  /** Default: JSON. */
  contentType?: string | ((input: A) => string)
  /** List of content types, if `contentType` is a function. */
  contentTypes?: readonly string[]
  /** Parses the inputs of the answer; default: none. @throws AppError with the API's text */
  parse?(request: CompatRequest): A
  find(snapshot: S, input: A): T | Promise<T>
  /** Default: JSON of the value. */
  encode?(value: T, input: A, source: AnswerSource): string | Uint8Array
  /** Returns the decimals of a rounded answer. */
  roundedTo?(value: NoInfer<T>): number | undefined
  /** Returns the codes with days that were not synchronized, for the header X-Left-Out. */
  leftOut?(value: NoInfer<T>): readonly string[]
  /** Returns the oldest day of a list that ends at days that were not synchronized, for the header X-Ends-At. */
  endsAt?(value: NoInfer<T>): IsoDate | undefined
}

/** An endpoint with a long answer. Each request makes it again, in parts or as a whole. */
export type CompatStream<A, T> = Omit<CompatEndpoint<A, T>, 'encode'> & {
  encode(value: T, input: A, source: AnswerSource): StreamedBody['body']
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
  const repeating = { ...deps, repeats: true }
  return compatRoute(endpoint, (event, client) => compatReply(repeating, endpoint, event, client))
}

/** Creates an endpoint with a long answer. */
export function compatStream<A, T>(deps: CompatDeps, endpoint: CompatStream<A, T>): AnyEndpoint {
  const { find, encode } = endpoint
  return compatRoute(endpoint, (event, client) => {
    const { input, provider, key, contentType } = requestedAnswer(deps, endpoint, event, client)
    return deps.cache.read((snapshot) =>
      deps.answers.stream(event, snapshot, {
        ...{ key, contentType, headers: { vary: VARY } },
        async make() {
          const value = await find(snapshot, input)
          const source = answerSource(snapshot, provider)
          return { body: encode(value, input, source), headers: ownHeaders(endpoint, value) }
        },
      }),
    )
  })
}

/** Creates an endpoint from its description and the function that replies. */
export function compatRoute<A, T>(
  endpoint: Omit<CompatEndpoint<A, T>, 'encode'>,
  reply: (event: H3Event, client: AdmittedClient) => Reply | Promise<Reply>,
): AnyEndpoint {
  const { path, contentType = JSON_TYPE, roundedTo, leftOut, endsAt } = endpoint
  const sends = [
    roundedTo && ('X-Rounded-To' as const),
    leftOut && ('X-Left-Out' as const),
    endsAt && ('X-Ends-At' as const),
  ]
  return get({
    path,
    answer: v.any(),
    contentTypes: endpoint.contentTypes ?? (typeof contentType === 'string' ? [contentType] : []),
    ...REVALIDATED,
    sends: sends.filter((header) => header !== undefined),
    ignoresUnknown: true,
    handle: ({ event }) => reply(event, admittedClient(event)),
  })
}

/** Returns the client of a request. An endpoint that authenticates later has a client without a key. */
export function admittedClient(event: H3Event): AdmittedClient {
  return (event.context.admitted as AdmittedClient | undefined) ?? KEYLESS_CLIENT
}

/** A snapshot of indicators has none: they are the bank's. */
type SnapshotProviders = Partial<Pick<RateSnapshot, 'providers'>>

/** Replies to an authenticated request, for the side and the provider of its key, from the snapshots of `cache`. */
export function compatReply<A, T, S extends Revision & SnapshotProviders>(
  deps: Pick<CompatDeps, 'answers' | 'clock' | 'serveRounded' | 'followsKey'> & {
    cache: { read<R>(query: (snapshot: S) => R | Promise<R>): R | Promise<R> }
    /** True: equal requests have equal answers for a snapshot and a day. */
    repeats?: boolean
  },
  endpoint: CompatEndpoint<A, T, S>,
  event: H3Event,
  client: AdmittedClient,
  query = event.url.searchParams,
) {
  const { find, encode } = endpoint
  const { input, provider, key, contentType, today } = requestedAnswer(deps, endpoint, event, client, query)
  const repeatDay = deps.repeats ? today : undefined
  return deps.cache.read((snapshot) => {
    const encodeAnswer = (value: T): RenderedAnswer => ({
      body: encode ? encode(value, input, answerSource(snapshot, provider)) : JSON.stringify(value),
      headers: { vary: VARY, ...ownHeaders(endpoint, value) },
    })
    const makeAnswer = () => {
      const value = find(snapshot, input)
      return value instanceof Promise ? value.then(encodeAnswer) : encodeAnswer(value)
    }
    return deps.answers.reply(event, snapshot, { key, contentType, today: repeatDay, make: makeAnswer })
  })
}

/** Parses a request: the inputs of its answer, its provider, their key, the content type, and the day. */
function requestedAnswer<A, T>(
  { clock, serveRounded, followsKey }: Pick<CompatDeps, 'clock' | 'serveRounded' | 'followsKey'>,
  endpoint: Pick<CompatEndpoint<A, T>, 'path' | 'hasBothSides' | 'namedProvider' | 'contentType' | 'parse'>,
  event: H3Event,
  client: AdmittedClient,
  query = event.url.searchParams,
): { input: A; provider: string; key: string; contentType: string; today: IsoDate } {
  const { path, hasBothSides, namedProvider, contentType = JSON_TYPE, parse } = endpoint
  const params = pathParameters(event)
  const provider = followsKey ? (namedProvider?.(query) ?? client.provider) : PROVIDER
  const side = hasBothSides || !hasSides(provider) ? client.side : requestedSide(query, client.side)
  const today = currentDay(clock)
  const request = { query, params, headers: event.req.headers, today, side, provider }
  const input = parse ? parse(request) : ({} as A)
  const type = typeof contentType === 'string' ? contentType : contentType(input)
  checkFormat(query, type)
  // The setting is in the ETag too, since a restart with another setting changes the answer.
  // So is another provider, whose name may be in the answer.
  const other = provider === PROVIDER ? '' : `of ${provider} `
  const key = `${path} ${type} ${serveRounded ? 'rounded ' : ''}${other}${JSON.stringify(input)}`
  return { input, provider, key, contentType: type, today }
}

/**
 * Rejects `format` for a form that the answer does not have: a spreadsheet would take JSON for its cells. Other values
 * are ignored, as the services do with `json` and `1`.
 */
export function checkFormat(
  query: { get(name: string): string | null | undefined },
  contentType: string,
): void {
  const format = query.get('format')?.toLowerCase() ?? ''
  if (!/^(?:csv|tsv|xml)$/.test(format) || contentType.includes(format)) return
  throw new AppError('bad-request', `there is no ${format} of this: leave format out`)
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

/** True if the provider publishes both sides of a currency. A provider that this program does not know may. */
function hasSides(code: string): boolean {
  const provider = PROVIDERS.find((one) => one.code === code)
  return !provider || provider.catalogue.some(({ rateType }) => rateType !== 'referencia')
}

function answerSource({ providers }: SnapshotProviders, code: string): AnswerSource {
  const row = providers?.find((one) => one.code === code)
  if (code === PROVIDER && !row?.invented) {
    return { name: DEFAULT_PROVIDER.name, notice: 'The bank is to be named as the source' }
  }
  const name = row?.name ?? code
  return { name, notice: (row && sourceTerms(row).attribution) ?? name }
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

/** Text after a 404: the token that rounded rates need. Programs show it to the person who sets them up. */
export function roundedReason(crosses: readonly Cross[]): string {
  if (crosses.every(({ exact }) => exact)) return ''
  return ": it is stored rounded, and an exact rate needs the bank's token (--bccr-token-file)"
}

/** The fewest decimals of rates that are not exact. */
export function fewestDecimals(crosses: readonly Pick<Cross, 'exact' | 'roundedTo'>[]): number | undefined {
  const decimals = crosses.flatMap(({ exact, roundedTo }) =>
    exact || roundedTo === undefined ? [] : [roundedTo],
  )
  return decimals.length > 0 ? Math.min(...decimals) : undefined
}
