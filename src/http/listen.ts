// The HTTP server below the framework: time-outs and limits, what is not HTTP, listening and closing.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../errors.ts'
import { type ConnectionOptions, limitConnections } from './connections.ts'
import { errorBody, familyOf } from './errors.ts'
import type { Tls } from './tls.ts'

const LIMITS = {
  headersTimeout: 15_000, // a client that drips its headers
  requestTimeout: 0, // an upload may take long; a body that stalls is ended by body.ts
  keepAliveTimeout: 65_000, // longer than the 60 s of common proxies, so that they close first
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_384,
  handshakeTimeout: 10_000, // of TLS; a server that is closing waits so long
  requireHostHeader: false, // its own answer would have no body; nothing here depends on the host
}
// Of connections that come at once; one that finds no place is tried again by its client a second later, at the soonest.
const BACKLOG = 4096
const NOT_HTTP = /^(HPE|ERR_HTTP)_/
const MALFORMED: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}
const CLOSE_WITHIN_MS = 10_000
const LINGER_MS = 1000

/** Listens; `url` is where. @throws AppError `failed` when the address cannot be had */
export async function listenOn(
  options: { host: string; port: number; tls?: Tls | undefined; connections: ConnectionOptions },
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  nextId: () => string,
): Promise<{ url: string; close(): Promise<void> }> {
  const ending = new WeakSet<Duplex>()
  const begin = (req: IncomingMessage, res: ServerResponse) => {
    if (ending.has(req.socket)) return
    // After a wish to upgrade node:http drops the rest of its block, and takes what comes then for a request, though it
    // may be the body of one that was dropped.
    if (req.headers.upgrade !== undefined) {
      ending.add(req.socket)
      res.setHeader('Connection', 'close')
    }
    connections.note(req, res)
    handle(req, res)
  }
  const { tls } = options
  const server = tls ? createTlsServer({ ...LIMITS, ...tls.context }, begin) : createServer(LIMITS, begin)
  const connections = limitConnections(server, options.connections)
  // A client that closes its side after its request (`nc -N`) still reads, and what it uploaded is kept.
  Object.assign(server, { httpAllowHalfOpen: true }) // as old as node:http, but not in its types
  server.on('checkExpectation', begin) // an Expect that we do not know is ignored, not a bodiless 417
  server.on('checkContinue', begin) // who is refused is not told to send on: body.ts says when to
  server.on('connect', (_, socket) => {
    // It has let go of its parser: answers before it on the socket can no longer be finished.
    if (connections.answersOn(socket)?.size) socket.destroy()
    else refuse(socket, 405, errorBody('rates', 405, 'Method not allowed'), nextId(), 'Allow: GET, HEAD')
  })
  const malformed = new WeakSet<Duplex>()
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    // Only to what is not HTTP there is an answer, not to what is not TLS or to a broken connection.
    if (!NOT_HTTP.test(error.code ?? '')) socket.destroy()
    else if (!malformed.has(socket)) {
      malformed.add(socket) // each further block of it is reported again, also after the answer
      whenItsTurn(connections.answersOn(socket), (res) =>
        refuseMalformed(error, socket, nextId(), res?.req.url),
      )
    }
  })
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const following = tls?.follow(server)
  const close = async () => {
    await following?.close()
    await closeServer(server)
  }
  return { url: `${tls ? 'https' : 'http'}://${host}:${port}`, close }
}

/**
 * Waits until the requests before malformed bytes have their answers, whole and with nothing of ours between.
 * `then` gets the answer of the request that the bytes belong to, if it can still be given.
 */
function whenItsTurn(open: Set<ServerResponse> = new Set(), then: (res?: ServerResponse) => void): void {
  const [first] = open
  if (!first || (!first.req.complete && !first.headersSent)) then(first)
  else first.once('close', () => whenItsTurn(open, then))
}

/** What is not HTTP gets one answer of the usual shape, and the connection ends. */
function refuseMalformed(error: Error & { code?: string }, socket: Duplex, id: string, url = ''): void {
  const [path = ''] = url.split('?', 1)
  const [status, message] = MALFORMED[error.code ?? ''] ?? [400, 'Malformed HTTP request']
  if (!socket.writable) socket.destroy()
  else refuse(socket, status, errorBody(familyOf(path), status, message), id)
}

function refuse(socket: Duplex, status: number, body: string, id: string, ...more: string[]): void {
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
export function bareHeaders(id: string): Record<string, string> {
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
    server.listen({ host, port, backlog: BACKLOG }, () => resolve())
  })
}

/** Takes no new requests, lets those in flight finish for a while, then cuts them. */
async function closeServer(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that is still taking in a refused body now is idle only a moment later.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await closed
  clearInterval(idle)
  clearTimeout(cut)
}
