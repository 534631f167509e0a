// How an endpoint is mounted: path, parameters, answer and handler in one place. Mounting also writes the
// OpenAPI operation, from the same schemas that check the request. Everything that is the same for all
// endpoints happens here, in this order: preflight, key, method, kept answer, parameters, handler, headers.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3, H3Event } from 'h3'
import { FastResponse } from 'srvx/node'
import type * as v from 'valibot'
import { AppError } from '../errors.ts'
import type { Pieces } from '../store/blob-pieces.ts'
import { addCors, preflightHeaders } from './cors.ts'
import { invalidParameters, type ValidationItem } from './errors.ts'
import { checked, decoded, queryOf } from './params.ts'
import { sendPieces } from './pieces.ts'

/** Who may ask: anybody, who has a key of the rates API, or a token of the family and the endpoint's method. */
export type Access = 'open' | 'key' | 'documents' | 'agent'

export type Method = 'GET' | 'POST'

export type Endpoint<Q extends v.GenericSchema, P extends v.GenericSchema> = {
  path: string
  summary: string
  /** By default a key is needed. */
  access?: Access
  query?: Q
  params?: P
  /** What a POST sends; described here, read by the handler. */
  body?: v.GenericSchema
  /** What a 200 holds. */
  answer: v.GenericSchema
  /** Whether a 200 holds bytes instead of JSON. */
  binary?: boolean
  /** Whether the answer is made from the stored rates, by cachedReply(). */
  stored?: boolean
  /** What a 404 means, where it is among the answers. */
  notFound?: string
  /** What a 503 of the same shape as a 200 means, where it is among the answers. */
  unavailable?: string
  handle: (request: {
    event: H3Event
    query: v.InferOutput<Q>
    params: v.InferOutput<P>
  }) => Reply | Promise<Reply>
}

export type AnyEndpoint = Endpoint<v.GenericSchema, v.GenericSchema> & { method: Method }

/**
 * An answer: a status, JSON text, and headers beside those that every answer has. Bytes in pieces come with their
 * own content-type and content-length, and are not made for a HEAD.
 */
export type Reply = {
  status?: number
  body: string | Uint8Array | Pieces
  headers?: Record<string, string>
}

export type Api = {
  get<Q extends v.GenericSchema, P extends v.GenericSchema>(endpoint: Endpoint<Q, P>): void
  post<Q extends v.GenericSchema, P extends v.GenericSchema>(endpoint: Endpoint<Q, P>): void
  /** What was mounted so far, for the OpenAPI document. */
  endpoints: readonly AnyEndpoint[]
}

export function createApi(
  app: H3,
  check: (event: H3Event, access: Exclude<Access, 'open'>, method: Method) => void,
  kept: (event: H3Event) => Reply | Promise<Reply> | undefined,
): Api {
  const endpoints: AnyEndpoint[] = []
  const mount = <Q extends v.GenericSchema, P extends v.GenericSchema>(
    endpoint: Endpoint<Q, P>,
    method: Method,
  ) => {
    endpoints.push({ ...(endpoint as unknown as AnyEndpoint), method })
    const { path, access = 'key' } = endpoint
    const allowed = method === 'GET' ? ['GET', 'HEAD'] : [method]
    app.all(path.replace(/\{(\w+)\}/g, ':$1'), (event) => {
      // The router takes a trailing slash for nothing; an unknown path is a 404 (decisions 1.4).
      if (event.url.pathname.endsWith('/')) throw new AppError('not-found', 'Not found')
      event.context.route = path
      // The one question that is answered before the key: a browser asks it without one (decisions 1.6).
      const preflight = event.req.method === 'OPTIONS' && preflightHeaders(event, allowed)
      if (preflight) return respond(event, { status: 204, body: '', headers: preflight })
      if (access !== 'open') check(event, access, method)
      if (!allowed.includes(event.req.method)) {
        throw new AppError('method-not-allowed', 'Method not allowed', { details: allowed.join(', ') })
      }
      const known = endpoint.stored && kept(event)
      if (known) return answered(event, known)
      const faults: ValidationItem[] = []
      const params = endpoint.params ? checked(endpoint.params, 'path', pathOf(event), faults) : {}
      const sent = queryOf(event.url.search, faults)
      const query = endpoint.query ? checked(endpoint.query, 'query', sent, faults) : {}
      if (faults.length > 0) throw invalidParameters(faults)
      return answered(event, endpoint.handle({ event, query, params }))
    })
  }
  return {
    endpoints,
    get: (endpoint) => mount(endpoint, 'GET'),
    post: (endpoint) => mount(endpoint, 'POST'),
  }
}

/** The request and the response below the framework, for a body or a stream of our own. */
export function nodeOf(event: H3Event): { req: IncomingMessage; res: ServerResponse } {
  const node = event.runtime?.node
  if (!node?.res) throw new TypeError('not a request of node:http')
  return { req: node.req as IncomingMessage, res: node.res as ServerResponse }
}

/** An answer that no cache may keep. */
export function freshReply(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}

/** Stands for an answer that has been given. */
export const ANSWERED = new FastResponse(null)

/**
 * Gives the answer. Every answer of the program goes through here, errors too. Text and bytes are written at
 * once: by way of a web Response they take a third more of the processor.
 */
export function respond(event: H3Event, reply: Reply & { body: string | Uint8Array }): Response
export function respond(event: H3Event, reply: Reply): Response | Promise<Response>
export function respond(event: H3Event, reply: Reply): Response | Promise<Response> {
  const headers: Record<string, string> = {
    'x-request-id': String(event.context.requestId),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...reply.headers,
  }
  const { cors } = event.context
  if (cors) addCors(headers, cors)
  const { body, status = 200 } = reply
  const { res } = nodeOf(event)
  if (status === 304 || status === 204) {
    res.writeHead(status, headers).end()
    return ANSWERED
  }
  headers['content-type'] ??= 'application/json; charset=utf-8'
  if (typeof body === 'object' && 'next' in body) {
    return sendPieces(res, body, status, headers).then(() => ANSWERED)
  }
  headers['content-length'] ??= String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
  res.writeHead(status, headers).end(event.req.method === 'HEAD' ? undefined : body)
  return ANSWERED
}

function answered(event: H3Event, reply: Reply | Promise<Reply>): Response | Promise<Response> {
  return reply instanceof Promise ? reply.then((one) => respond(event, one)) : respond(event, reply)
}

function pathOf(event: H3Event): Record<string, string> {
  const values: Record<string, string> = {}
  for (const [name, raw] of Object.entries(event.context.params ?? {})) {
    const value = decoded(raw.replaceAll('+', '%2B'))
    if (value === undefined) throw new AppError('not-found', 'Not found')
    values[name] = value
  }
  return values
}
