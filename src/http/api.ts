// How an endpoint is mounted: path, parameters, answer and handler in one place. Mounting also writes the
// OpenAPI operation, from the same schemas that check the request. Everything that is the same for all
// endpoints happens here, in this order: key, method, parameters, handler, headers.

import { STATUS_CODES } from 'node:http'
import type { H3, H3Event } from 'h3'
import { FastResponse } from 'srvx/node'
import type * as v from 'valibot'
import { AppError } from '../errors.ts'
import { invalidParameters, type ValidationItem } from './errors.ts'
import { checked, decoded, queryOf } from './params.ts'

export type Endpoint<Q extends v.GenericSchema, P extends v.GenericSchema> = {
  path: string
  summary: string
  /** Whether it may be asked without a key. */
  open?: boolean
  query?: Q
  params?: P
  /** What a 200 holds. */
  answer: v.GenericSchema
  /** Whether a 404 is among the answers. */
  notFound?: string
  handle: (request: {
    event: H3Event
    query: v.InferOutput<Q>
    params: v.InferOutput<P>
  }) => Reply | Promise<Reply>
}

export type AnyEndpoint = Endpoint<v.GenericSchema, v.GenericSchema>

/** An answer: a status, JSON text, and headers beside those that every answer has. */
export type Reply = { status?: number; body: string; headers?: Record<string, string> }

export type Api = {
  get<Q extends v.GenericSchema, P extends v.GenericSchema>(endpoint: Endpoint<Q, P>): void
  /** What was mounted so far, for the OpenAPI document. */
  endpoints: readonly AnyEndpoint[]
}

export function createApi(app: H3, checkKey: (event: H3Event) => void): Api {
  const endpoints: AnyEndpoint[] = []
  return {
    endpoints,
    get(endpoint) {
      endpoints.push(endpoint as unknown as AnyEndpoint)
      app.all(endpoint.path.replace(/\{(\w+)\}/g, ':$1'), (event) => {
        event.context.route = endpoint.path
        if (!endpoint.open) checkKey(event)
        if (event.req.method !== 'GET' && event.req.method !== 'HEAD') {
          throw new AppError('method-not-allowed', 'Method not allowed', { details: 'GET, HEAD' })
        }
        const faults: ValidationItem[] = []
        const params = endpoint.params ? checked(endpoint.params, 'path', pathOf(event), faults) : {}
        const sent = queryOf(event.url.search, faults)
        const query = endpoint.query ? checked(endpoint.query, 'query', sent, faults) : {}
        if (faults.length > 0) throw invalidParameters(faults)
        const reply = endpoint.handle({ event, query, params })
        return reply instanceof Promise ? reply.then((one) => respond(event, one)) : respond(event, reply)
      })
    },
  }
}

/** An answer that no cache may keep. */
export function freshReply(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}

/** Makes the response. Every answer of the program goes through here, errors too. */
export function respond(event: H3Event, reply: Reply): Response {
  const headers: Record<string, string> = {
    'x-request-id': String(event.context.requestId),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...reply.headers,
  }
  const status = reply.status ?? 200
  const statusText = STATUS_CODES[status] ?? ''
  if (status === 304) return new FastResponse(null, { status, statusText, headers })
  headers['content-type'] ??= 'application/json; charset=utf-8'
  if (event.req.method !== 'HEAD') return new FastResponse(reply.body, { status, statusText, headers })
  headers['content-length'] = String(Buffer.byteLength(reply.body))
  return new FastResponse(null, { status, statusText, headers })
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
