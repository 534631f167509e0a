// An endpoint is a value: path, method, parameters, answer and handler in one place. Its schemas validate the request
// and generate the OpenAPI description.

import type { H3Event } from 'h3'
import type * as v from 'valibot'
import type { Chunks } from '../../store/blobs/chunks.ts'
import { type Method, type Path, type Permission, routeEntry } from '../routes.ts'

/** OpenAPI tag. */
export type Tag = 'Rates' | 'History' | 'Documents' | 'Agents' | 'Server' | 'Compatibility'

/** Request headers of an endpoint, beside those of authentication and negotiation. */
export type RequestHeader =
  | 'If-None-Match'
  | 'Idempotency-Key'
  | 'Range'
  | 'If-Range'
  | 'Content-Digest'
  | 'Repr-Digest'
  | 'X-Cambista-Priority'
  | 'X-Cambista-Duplicates'

type SentHeader = 'X-Holes' | 'X-Left-Out' | 'X-Rounded-To' | 'X-Future' | 'X-Cambista-As-Of' | 'X-Ends-At'

/** Query parameters by name. Any other parameter is rejected (decisions#unknown-names). */
export type QuerySchema = v.GenericSchema & { readonly entries: v.ObjectEntries }

export type Endpoint<Q extends QuerySchema, P extends v.GenericSchema, M extends Method> = {
  /** A path of `http/routes.ts`, which has its permission and its purpose, the OpenAPI summary. */
  path: Path<M>
  /** OpenAPI description; without it the summary. */
  about?: string
  /** Without it the tag of its API. */
  tag?: Tag
  /** True: ignores unknown query parameters. Without `query` the handler parses them. False: rejects them. */
  ignoresUnknown?: boolean
  query?: Q
  /** Descriptions, by name, of query parameters that the handler parses. */
  takes?: Readonly<Record<string, string>>
  params?: P
  /** Body of a POST or PUT: described by this schema, parsed by the handler. */
  body?: v.GenericSchema
  /** The media types of the body; without it JSON. */
  bodyTypes?: readonly string[]
  /** True: the body may be bytes of any other media type too. */
  rawBody?: boolean
  /** Request headers that it reads. */
  reads?: readonly RequestHeader[]
  /** Response headers that it alone has. */
  sends?: readonly SentHeader[]
  /** Body of a 200. */
  answer: v.GenericSchema
  /** True: a 200 is bytes instead of JSON. */
  binary?: boolean
  /** Media types of a 200; without it only JSON. */
  contentTypes?: readonly string[]
  /** Meaning of a 404, if it can occur. */
  notFound?: string
  /** Meaning of a 410, if it can occur. */
  gone?: string
  /** Meaning of other successes, by status: 304 without a body, 206 with a part of it. */
  also?: Readonly<Record<number, string>>
  /** Meaning of other errors of this endpoint, by status. */
  refusals?: Readonly<Record<number, string>>
  /** Meaning of a 503 of the shape of a 200, if it can occur. */
  unavailable?: string
  handle: (request: {
    event: H3Event
    query: v.InferOutput<Q>
    params: v.InferOutput<P>
    /** Authenticates the client again, before a late answer. @throws AppError as the first check does */
    checkAgain: () => Promise<void>
  }) => Reply | Promise<Reply>
}

export type AnyEndpoint = Omit<Endpoint<QuerySchema, v.GenericSchema, Method>, 'path'> & {
  method: Method
  path: string
  permission: Permission
  summary: string
}

/**
 * An answer: status, JSON text, and headers beside those of every answer. Bytes in chunks need content-type and
 * content-length, and are not generated for a HEAD.
 */
export type Reply = {
  status?: number
  body: string | Uint8Array | Chunks
  headers?: Record<string, string>
  /** Called with the sent status and headers, unless the body is chunks. */
  onSent?: ((status: number, headers: Readonly<Record<string, string>>) => void) | undefined
}

/** An endpoint that answers GET and HEAD. */
export function get<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P, 'GET'>,
): AnyEndpoint {
  return withRoute('GET', endpoint)
}

export function post<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P, 'POST'>,
): AnyEndpoint {
  return withRoute('POST', endpoint)
}

export function put<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P, 'PUT'>,
): AnyEndpoint {
  return withRoute('PUT', endpoint)
}

/** An endpoint that answers DELETE. */
export function remove<Q extends QuerySchema, P extends v.GenericSchema>(
  endpoint: Endpoint<Q, P, 'DELETE'>,
): AnyEndpoint {
  return withRoute('DELETE', endpoint)
}

function withRoute<Q extends QuerySchema, P extends v.GenericSchema, M extends Method>(
  method: M,
  endpoint: Endpoint<Q, P, M>,
): AnyEndpoint {
  return { ...(endpoint as unknown as AnyEndpoint), method, ...routeEntry(method, endpoint.path) }
}

/**
 * Returns true if the endpoint rejects unknown parameters: each GET, and each POST with a query schema. Open endpoints
 * ignore them by default, for probes and monitors add parameters (decisions#unknown-names).
 */
export function refusesUnknown({ permission, method, ignoresUnknown, query }: AnyEndpoint): boolean {
  return !(ignoresUnknown ?? (permission === 'open' || (method !== 'GET' && query === undefined)))
}

/** JSON answer that must not be cached. */
export function freshReply(value: unknown, status = 200): Reply {
  return { status, body: JSON.stringify(value) }
}
