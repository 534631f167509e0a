// An endpoint is a value: path, method, parameters, answer and handler in one place. The OpenAPI description is made from
// the same schemas that check the request.

import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { Chunks } from '../../store/blobs/chunks.ts'

export type Method = 'GET' | 'POST' | 'DELETE'

/** Under what an endpoint is described. */
export type Tag = 'Rates' | 'Documents' | 'Agents' | 'Operation' | 'Compatibility'

/** The headers that an endpoint may read, beside those that say who asks and which forms are taken. */
export type RequestHeader =
  | 'If-None-Match'
  | 'Idempotency-Key'
  | 'Range'
  | 'If-Range'
  | 'Content-Digest'
  | 'Repr-Digest'

export type SentHeader = 'X-Holes' | 'X-Left-Out' | 'X-Future'

/** The parameters of a query string by name. There are no others: one that is not here is refused (decisions 1.5). */
export type QuerySchema = v.GenericSchema & { readonly entries: v.ObjectEntries }

export type Endpoint<Q extends QuerySchema, P extends v.GenericSchema> = {
  path: string
  summary: string
  /** A sentence or more on what it does; without it the summary says all. */
  about?: string
  /** Without it that of its API. */
  tag?: Tag
  /** Whether a client need not say who it is. */
  open?: boolean
  /** Whether a key that was made for URLs opens it, and may stand in its URL. */
  takesUrlKeys?: boolean
  /** Whether parameters that it does not have are ignored, as of what is open. Without `query` it reads them itself. */
  ignoresUnknown?: boolean
  /** What the credentials must be good for, where they may be good for a part of an API. */
  scope?: string
  /** What they must be good for there, where it is not the method: such as CLAIM. */
  action?: string
  query?: Q
  /** Query parameters that the handler reads by itself, by name, with what they are. */
  takes?: Readonly<Record<string, string>>
  params?: P
  /** What a POST sends; described here, read by the handler. */
  body?: v.GenericSchema
  /** The media types of the body; without it JSON. */
  bodyTypes?: readonly string[]
  /** Whether the body may be bytes of any other type instead, which are taken as they are. */
  rawBody?: boolean
  /** The headers that it reads. */
  reads?: readonly RequestHeader[]
  /** Headers of a 200 that are its own. */
  sends?: readonly SentHeader[]
  /** What a 200 holds. */
  answer: v.GenericSchema
  /** Whether a 200 holds bytes instead of JSON. */
  binary?: boolean
  /** The media types that a 200 may have; without it only JSON. */
  contentTypes?: readonly string[]
  /** What a 404 means, where it is among the answers. */
  notFound?: string
  /** What a 410 means, where it is among the answers. */
  gone?: string
  /** What other successes than a 200 mean, by status: 304 has no body, 206 a part of it. */
  also?: Readonly<Record<number, string>>
  /** What other refusals mean that are its own, by status. */
  refusals?: Readonly<Record<number, string>>
  /** What a 503 of the same shape as a 200 means, where it is among the answers. */
  unavailable?: string
  /** A reply that the address alone tells, because it was asked before: looked for before parameters are read. */
  recall?: (event: H3Event) => Reply | Promise<Reply> | undefined
  handle: (request: {
    event: H3Event
    query: v.InferOutput<Q>
    params: v.InferOutput<P>
    /** Whether the client may still ask, for an answer that comes late. @throws AppError like the first time */
    checkAgain: () => Promise<void>
  }) => Reply | Promise<Reply>
}

export type AnyEndpoint = Endpoint<QuerySchema, v.GenericSchema> & { method: Method }

/**
 * An answer: a status, JSON text, and headers beside those that every answer has. Bytes in pieces come with their
 * own content-type and content-length, and are not made for a HEAD.
 */
export type Reply = {
  status?: number
  body: string | Uint8Array | Chunks
  headers?: Record<string, string>
}

/** An endpoint that answers GET and HEAD. */
export function get<Q extends QuerySchema, P extends v.GenericSchema>(endpoint: Endpoint<Q, P>): AnyEndpoint {
  return { ...(endpoint as unknown as AnyEndpoint), method: 'GET' }
}

export function post<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P>,
): AnyEndpoint {
  return { ...(endpoint as unknown as AnyEndpoint), method: 'POST' }
}

/** An endpoint that answers DELETE. */
export function remove<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P>,
): AnyEndpoint {
  return { ...(endpoint as unknown as AnyEndpoint), method: 'DELETE' }
}

/**
 * Whether the endpoint refuses parameters that it does not have: what reads data of an API does, and what is sent with
 * parameters. The contract's POSTs do not, nor what is open to probes and monitors, which add things (decisions 1.5).
 */
export function refusesUnknown({ open, method, ignoresUnknown, query }: AnyEndpoint): boolean {
  return (method === 'GET' || query !== undefined) && !open && !ignoresUnknown
}

/** An answer that no cache may keep. */
export function freshReply(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}
