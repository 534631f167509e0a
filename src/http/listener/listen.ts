// The HTTP server below the framework: time-outs and limits, what is not HTTP, listening and closing.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../../errors.ts'
import { isExpecting } from '../api/body.ts'
import type { ErrorShape } from '../api/errors.ts'
import { JSON_TYPE } from '../api/forms.ts'
import type { Connections } from './connections.ts'
import { createLingering, type Lingering, lingerOn } from './lingering.ts'
import { pathOf, pathOfUnreadable, type Unreadable } from './request-line.ts'
import type { Tls } from './tls.ts'

const LIMITS = {
  headersTimeout: 15_000, // a client that drips its headers
  requestTimeout: 0, // an upload may take long; a body that stalls is ended by body.ts
  keepAliveTimeout: 65_000, // longer than the 60 s of common proxies, so that they close first
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_000, // less than a TLS record: what is too large is so in the one that the request line is in
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

/** Where to listen, and the flag of its port (`--port`), for the message when it is taken. */
export type Place = { host: string; port: number; portFlag?: string }

/** Listens; `url` is where. @throws AppError `failed` when the address cannot be had */
export async function listenOn(
  options: Place & {
    tls?: Tls | undefined
    connections: Connections
    /** Of all listeners that share it; without it, of this one alone. */
    lingering?: Lingering | undefined
    /** The shape of the errors of a path. */
    errorsOf(path: string): ErrorShape
  },
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  nextId: () => string,
): Promise<{ url: string; close(): Promise<void> }> {
  const { tls, errorsOf, connections, lingering = createLingering() } = options
  const ending = new WeakSet<Duplex>()
  const bodies = bodiesInProgress(lingering)
  const begin = (req: IncomingMessage, res: ServerResponse) => {
    if (ending.has(req.socket) || lingering.has(req.socket)) return
    // After a wish to upgrade node:http drops the rest of its block, and takes what comes then for a request, though it
    // may be the body of one that was dropped.
    if (req.headers.upgrade !== undefined) {
      ending.add(req.socket)
      res.setHeader('Connection', 'close')
    }
    bodies.note(req)
    connections.note(req, res)
    handle(req, res)
  }
  const server = tls ? createTlsServer({ ...LIMITS, ...tls.context }, begin) : createServer(LIMITS, begin)
  connections.watch(server)
  // A client that closes its side after its request (`nc -N`) still reads, and what it uploaded is kept.
  Object.assign(server, { httpAllowHalfOpen: true }) // as old as node:http, but not in its types
  server.on('checkExpectation', begin) // an Expect that we do not know is ignored, not a bodiless 417
  server.on('checkContinue', begin) // a client that is refused is not told to send on: body.ts says when to
  server.on('connect', ({ url = '' }, socket) => {
    // It has let go of its parser: answers before it on the socket can no longer be finished.
    if (connections.answersOn(socket)?.size) socket.destroy()
    else refuse(socket, 405, 'Method not allowed', nextId(), errorsOf(pathOf(url)), 'Allow: GET, HEAD')
  })
  const malformed = new WeakSet<Duplex>()
  server.on('clientError', (error: Unreadable, socket) => {
    // Only to what is not HTTP there is an answer, not to what is not TLS or to a broken connection.
    if (!NOT_HTTP.test(error.code ?? '') || lingering.has(socket)) socket.destroy()
    else if (!malformed.has(socket)) {
      malformed.add(socket) // each further block of it is reported again, also after the answer
      const errors = errorsOf(bodies.pathOn(socket) ?? pathOfUnreadable(error))
      whenItsTurn(connections.answersOn(socket), () => refuseMalformed(error, socket, nextId(), errors))
    }
  })
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const following = tls?.follow(server)
  const close = async () => {
    await following?.close()
    lingering.close() // these have their answers
    await closeServer(server)
  }
  return { url: `${tls ? 'https' : 'http'}://${host}:${port}`, close }
}

/**
 * Which request each connection is receiving the body of: bytes that are not HTTP belong to it, also when it was answered.
 * A connection that is closed before it was received lingers.
 */
function bodiesInProgress(lingering: Lingering) {
  const requests = new WeakMap<Duplex, IncomingMessage>()
  const watched = new WeakSet<Duplex>()
  const isBeingSent = (socket: Duplex) => {
    const req = requests.get(socket)
    if (!req || req.complete) return false
    // Its client waits for our word to send it, which it was not given as long as nothing was read.
    return req.readableDidRead || !isExpecting(req)
  }
  return {
    note(req: IncomingMessage): void {
      const { socket, headers } = req
      if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
      if (!watched.has(socket)) {
        watched.add(socket)
        lingerOn(socket, lingering, () => isBeingSent(socket))
      }
      requests.set(socket, req)
      req.once('close', () => {
        if (requests.get(socket) === req) requests.delete(socket)
      })
    },
    pathOn(socket: Duplex): string | undefined {
      const req = requests.get(socket)
      return req && !req.complete ? pathOf(req.url ?? '') : undefined
    },
  }
}

/**
 * Waits until the requests before malformed bytes have their answers, whole and with nothing of ours between. The one
 * that the bytes belong to has none, if it can still be given.
 */
function whenItsTurn(open: Set<ServerResponse> = new Set(), then: () => void): void {
  const [first] = open
  if (!first || (!first.req.complete && !first.headersSent)) then()
  else first.once('close', () => whenItsTurn(open, then))
}

/** What is not HTTP gets one answer of the usual shape, and the connection ends. */
function refuseMalformed(error: Unreadable, socket: Duplex, id: string, errors: ErrorShape): void {
  const [status, message] = MALFORMED[error.code ?? ''] ?? [400, 'Malformed HTTP request']
  if (!socket.writable) socket.destroy()
  else refuse(socket, status, message, id, errors)
}

function refuse(
  socket: Duplex,
  status: number,
  message: string,
  id: string,
  errors: ErrorShape,
  ...more: string[]
): void {
  const body = errors.body(status, message)
  const headers = Object.entries(bareHeaders(id, errors.contentType)).map(
    ([name, value]) => `${name}: ${value}`,
  )
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
export function bareHeaders(id: string, contentType = JSON_TYPE): Record<string, string> {
  return {
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-type': contentType,
  }
}

function listen(server: Server, place: Place): Promise<void> {
  const { host, port } = place
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const why = whyNot(error.code, place) ?? error.message
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
      reject(new AppError('failed', `cannot listen on ${where}: ${why}`, { cause: error }))
    })
    server.listen({ host, port, backlog: BACKLOG }, () => resolve())
  })
}

function whyNot(code: string | undefined, { portFlag = '--port' }: Place): string | undefined {
  if (code === 'EADDRINUSE') return `the port is in use: choose another with ${portFlag}`
  if (code === 'EACCES') {
    const otherwise = 'or let the service take it (cambista service print --low-ports)'
    return `this user may not take the port: choose one from 1024 on with ${portFlag}, ${otherwise}`
  }
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have the address'
  return undefined
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
