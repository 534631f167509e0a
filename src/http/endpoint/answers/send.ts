// Writes every answer of the program, errors too.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import { FastResponse } from 'srvx/node'
import { addCors } from '../cors.ts'
import type { Reply } from '../endpoint.ts'
import { setRetryDelay } from '../error-shape.ts'
import { sendChunks } from './chunks.ts'
import { JSON_TYPE } from './forms.ts'

declare module 'h3' {
  interface H3EventContext {
    /** Cookie that the answer renews, unless it sets another. */
    renewedCookie?: string
  }
}

/** Returns request and response of node:http, below the framework. */
export function nodeContext(event: H3Event): { req: IncomingMessage; res: ServerResponse } {
  const node = event.runtime?.node
  if (!node?.res) throw new TypeError('not a request of node:http')
  return { req: node.req as IncomingMessage, res: node.res as ServerResponse }
}

/** Placeholder for an answer that was already sent. */
export const SENT = new FastResponse(null)

/** Writes an answer. Text and bytes bypass the web Response, which would take a third more processor time. */
export function send(event: H3Event, reply: Reply & { body: string | Uint8Array }): Response
export function send(event: H3Event, reply: Reply): Response | Promise<Response>
export function send(event: H3Event, reply: Reply): Response | Promise<Response> {
  const headers: Record<string, string> = {
    'x-request-id': String(event.context.requestId),
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    ...reply.headers,
  }
  const { cors, age, renewedCookie } = event.context
  if (cors) addCors(headers, cors)
  if (renewedCookie !== undefined) headers['set-cookie'] ??= renewedCookie
  const { body, status = 200 } = reply
  if (age !== undefined && status < 400) headers.age = String(age)
  if (status === 503) setRetryDelay(headers) // also for answers that are not errors, such as /readyz
  if (status === 413) headers.connection = 'close' // draining the rest of the body would cost more than a new connection
  const { res } = nodeContext(event)
  if (status === 304 || status === 204) {
    res.writeHead(status, headers).end()
    reply.onSent?.(status, headers)
    return SENT
  }
  headers['content-type'] ??= JSON_TYPE
  if (typeof body === 'object' && 'next' in body) {
    return sendChunks(res, body, status, headers).then(() => SENT)
  }
  headers['content-length'] ??= String(typeof body === 'string' ? Buffer.byteLength(body) : body.length)
  res.writeHead(status, headers).end(event.req.method === 'HEAD' ? undefined : body)
  reply.onSent?.(status, headers)
  return SENT
}
