// The HTTP server: what is mounted, what every request passes, where errors end.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { H3, type H3Event, HTTPError } from 'h3'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import type { Clock } from '../dates.ts'
import { AppError, reasonOf } from '../errors.ts'
import type { Log } from '../log.ts'
import type { RateBook } from '../store/rate-book.ts'
import type { Db } from '../store/tables.ts'
import type { Scheduler } from '../sync/scheduler.ts'
import { createApi, respond } from './api.ts'
import type { Keyring } from './auth.ts'
import { mountConvert } from './convert.ts'
import { errorAnswer, familyOf } from './errors.ts'
import { mountHealth } from './health.ts'
import { mountOpenapi } from './openapi.ts'
import { mountProviders } from './providers.ts'
import { mountRates } from './rates.ts'
import { mountScheduler } from './scheduler.ts'
import { mountSeries } from './series.ts'
import { mountSyncRuns } from './sync-runs.ts'

export type HttpDeps = {
  db: Db
  book: RateBook
  keyring: Keyring
  scheduler: Scheduler
  clock: Clock
  log: Log
}

const LIMITS = {
  headersTimeout: 15_000, // a client that drips its headers
  requestTimeout: 60_000, // no request of the rates API has a body worth waiting for
  keepAliveTimeout: 65_000, // longer than the 60 s of common proxies, so that they close first
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
  requireHostHeader: false, // its own answer would have no body; nothing here depends on the host
}
const CLOSE_WITHIN_MS = 10_000
const LINGER_MS = 1000
const SANE_ID = /^[\w.:/+=-]{1,128}$/

/** Listens; `url` is where. @throws AppError `failed` when the address cannot be had */
export async function startServer(
  deps: HttpDeps,
  options: { host: string; port: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const nextId = requestIds()
  const app = createH3(deps, nextId)
  const handle = (req: IncomingMessage, res: ServerResponse) => answer(app, deps.log, nextId, req, res)
  const server = createServer(LIMITS, handle)
  server.on('checkExpectation', handle) // an Expect that we do not know is ignored, not a bodiless 417
  server.on('connect', (_, socket) => refuse(socket, 405, 'Method not allowed', nextId(), 'Allow: GET, HEAD'))
  server.on('clientError', (error, socket) => refuseMalformed(error, socket, nextId()))
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  return { url: `http://${host}:${port}`, close: () => closeServer(server) }
}

/** Ids for requests that bring none: when the server started, and a number. */
function requestIds(): () => string {
  const started = Date.now().toString(36)
  let requests = 0
  return () => {
    requests += 1
    return `${started}-${requests.toString(36)}`
  }
}

function createH3(deps: HttpDeps, nextId: () => string): H3 {
  const { log, keyring } = deps
  const app = new H3({
    silent: true,
    allowMalformedURL: true, // a bad escape in a path is a 404 of ours, not a 400 of the framework's
    onRequest(event) {
      const sent = event.req.headers.get('x-request-id')
      event.context.requestId = sent && SANE_ID.test(sent) ? sent : nextId()
      logWhenDone(event, log)
    },
    onError: (error, event) => respondToError(error, event, log),
  })
  const api = createApi(app, (event) => keyring.check(event.req.headers.get('x-api-key')))
  mountHealth(api, deps)
  mountProviders(api, deps)
  mountSeries(api, deps)
  mountRates(api, deps)
  mountConvert(api, deps)
  mountSyncRuns(api, deps)
  mountScheduler(api, deps)
  mountOpenapi(api)
  return app
}

function respondToError(error: HTTPError, event: H3Event, log: Log): Response {
  let cause: unknown = error.unhandled ? error.cause : error
  if (HTTPError.isError(cause) && cause.status === 404) cause = new AppError('not-found', 'Not found')
  const { status, body } = errorAnswer(cause, familyOf(event.url.pathname))
  if (status === 500) {
    const { requestId, route } = event.context
    const text = cause instanceof Error ? cause.stack : String(cause)
    log.error('request failed', { id: String(requestId), route: String(route ?? '-'), cause: text })
  }
  const allow =
    cause instanceof AppError && cause.code === 'method-not-allowed' ? String(cause.details) : undefined
  return respond(event, { status, body, headers: allow ? { allow } : {} })
}

function answer(app: H3, log: Log, nextId: () => string, req: IncomingMessage, res: ServerResponse): void {
  const failed = (error: unknown) => {
    const id = nextId()
    log.error('response failed', { id, reason: reasonOf(error) })
    if (res.headersSent) res.destroy()
    else res.writeHead(500, bareHeaders(id)).end(errorAnswer(undefined, 'rates').body)
  }
  // Nothing here depends on the host, and one that is no host (`a:99999`) would make the URL unreadable.
  req.headers.host = 'localhost'
  try {
    const response = app.fetch(new NodeRequest({ req, res }))
    if (response instanceof Promise) response.then((one) => sendNodeResponse(res, one)).catch(failed)
    else sendNodeResponse(res, response).catch(failed)
  } catch (error) {
    failed(error)
  }
}

function logWhenDone(event: H3Event, log: Log): void {
  const res = event.runtime?.node?.res
  const started = performance.now()
  res?.once('close', () => {
    const { requestId, route } = event.context
    log.info('request', {
      id: String(requestId),
      method: event.req.method,
      route: String(route ?? '-'),
      status: res.statusCode,
      ms: Math.round((performance.now() - started) * 10) / 10,
    })
  })
}

/** What is not HTTP gets one answer of the usual shape, and the connection ends. */
function refuseMalformed(error: Error & { code?: string }, socket: Duplex, id: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy()
  else if (error.code === 'HPE_HEADER_OVERFLOW') refuse(socket, 431, 'Request headers are too large', id)
  else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    refuse(socket, 408, 'The request did not arrive in time', id)
  } else refuse(socket, 400, 'Malformed HTTP request', id)
}

function refuse(socket: Duplex, status: number, detail: string, id: string, ...more: string[]): void {
  const body = JSON.stringify({ detail })
  const headers = Object.entries(bareHeaders(id)).map(([name, value]) => `${name}: ${value}`)
  const length = `content-length: ${Buffer.byteLength(body)}`
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...headers,
    ...more,
    length,
    'connection: close',
  ]
  // The client may still be sending, or never close its side: it is read for a moment, then cut.
  socket.on('error', () => {})
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** The headers of an answer that is made without the framework. */
function bareHeaders(id: string): Record<string, string> {
  return {
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-type': 'application/json; charset=utf-8',
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use' : error.message
      reject(new AppError('failed', `cannot listen on ${host}:${port}: ${why}`, { cause: error }))
    })
    server.listen({ host, port }, () => resolve())
  })
}

/** Takes no new requests, lets those in flight finish for a while, then cuts them. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await closed
  clearTimeout(cut)
}
