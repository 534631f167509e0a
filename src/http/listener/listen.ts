// The HTTP server below the framework: time-outs, limits, malformed requests, listening and closing.

import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { AppError } from '../../runtime/errors.ts'
import { JSON_TYPE } from '../endpoint/answers/forms.ts'
import { isExpecting } from '../endpoint/body.ts'
import type { ErrorShape } from '../endpoint/error-shape.ts'
import type { Connections } from './connections.ts'
import { createLingering, type Lingering, lingerOnClose } from './lingering.ts'
import { targetPath, type Unreadable, unreadablePath } from './request-line.ts'
import type { Tls } from './tls.ts'

const LIMITS = {
  headersTimeout: 15_000, // for clients that send headers slowly
  requestTimeout: 0, // uploads may take long; body.ts ends bodies that stall
  keepAliveTimeout: 65_000, // longer than the 60 s of common proxies, so that they close first
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 16_000, // less than a TLS record: the request line is then in the packet that node:http reports
  handshakeTimeout: 10_000, // TLS; a closing server waits for as long
  requireHostHeader: false, // its error would have no body; nothing here depends on the host
}
// Connections waiting to be accepted. Clients retry a connection beyond it after 1 s at the earliest.
const BACKLOG = 4096
const NOT_HTTP = /^(HPE|ERR_HTTP)_/
const MALFORMED: Record<string, [status: number, message: string]> = {
  HPE_HEADER_OVERFLOW: [431, 'Request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time'],
}
const CLOSE_WITHIN_MS = 10_000
const LINGER_MS = 1000

/** Address, and the flag of its port (`--port`) for error messages. */
export type ListenAddress = { host: string; port: number; portFlag?: string }

/** Opens a listener and returns its URL. @throws AppError `failed` when the address is not available */
export async function openListener(
  options: ListenAddress & {
    tls?: Tls | undefined
    connections: Connections
    /** Shared by several listeners; without it the listener has its own. */
    lingering?: Lingering | undefined
    /** Returns the error shape of a path. */
    selectErrorShape(path: string): ErrorShape
  },
  handle: (req: IncomingMessage, res: ServerResponse) => void,
  nextId: () => string,
): Promise<{ url: string; close(): Promise<void> }> {
  const { tls, selectErrorShape, connections, lingering = createLingering() } = options
  const ending = new WeakSet<Duplex>()
  const bodies = bodiesInProgress(lingering)
  const begin = (req: IncomingMessage, res: ServerResponse) => {
    if (ending.has(req.socket) || lingering.has(req.socket)) return
    // After an Upgrade header node:http drops the rest of its packet. It parses the next packet as a request, though it
    // may be the body of a dropped request.
    if (req.headers.upgrade !== undefined) {
      ending.add(req.socket)
      res.setHeader('Connection', 'close')
    }
    bodies.note(req)
    connections.begin(req, res, () => handle(req, res))
  }
  const server = tls ? createTlsServer({ ...LIMITS, ...tls.context }, begin) : createServer(LIMITS, begin)
  connections.watch(server)
  // A client that closes its side after its request (`nc -N`) still gets its answer, and its upload is stored.
  Object.assign(server, { httpAllowHalfOpen: true }) // missing in the types
  server.on('checkExpectation', begin) // an unknown Expect is ignored, instead of a 417 without a body
  server.on('checkContinue', begin) // a rejected client gets no 100 Continue: body.ts sends it
  server.on('connect', ({ url = '' }, socket) => {
    // node:http has removed its parser: earlier answers on the socket can no longer be finished.
    if (connections.openAnswers(socket)?.size) socket.destroy()
    else
      refuseUpgrade(
        socket,
        405,
        'Method not allowed',
        nextId(),
        selectErrorShape(targetPath(url)),
        'Allow: GET, HEAD',
      )
  })
  const malformed = new WeakSet<Duplex>()
  server.on('clientError', (error: Unreadable, socket) => {
    // Malformed HTTP gets an answer; malformed TLS and broken connections get none.
    if (!NOT_HTTP.test(error.code ?? '') || lingering.has(socket)) socket.destroy()
    else if (!malformed.has(socket)) {
      malformed.add(socket) // node:http reports each further packet again, also after the answer
      const errors = selectErrorShape(bodies.currentPath(socket) ?? unreadablePath(error))
      afterEarlierAnswers(connections.openAnswers(socket), () =>
        refuseMalformed(error, socket, nextId(), errors),
      )
    }
  })
  await listen(server, options)
  const { port } = server.address() as AddressInfo
  const host = options.host.includes(':') ? `[${options.host}]` : options.host
  const renewal = tls?.follow(server)
  const close = async () => {
    await renewal?.close()
    lingering.close() // lingering connections have their answers
    await closeServer(server)
  }
  return { url: `${tls ? 'https' : 'http'}://${host}:${port}`, close }
}

/**
 * Tracks the request whose body each connection receives: malformed bytes belong to it, also after its answer. A
 * connection that closes before the end of the body lingers.
 */
function bodiesInProgress(lingering: Lingering) {
  const requests = new WeakMap<Duplex, IncomingMessage>()
  const watched = new WeakSet<Duplex>()
  const isBeingSent = (socket: Duplex) => {
    const req = requests.get(socket)
    if (!req || req.complete) return false
    // A client that waits for 100 Continue sends nothing before the body is read.
    return req.readableDidRead || !isExpecting(req)
  }
  return {
    note(req: IncomingMessage): void {
      const { socket, headers } = req
      if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined) return
      if (!watched.has(socket)) {
        watched.add(socket)
        lingerOnClose(socket, lingering, () => isBeingSent(socket))
      }
      requests.set(socket, req)
      req.once('close', () => {
        if (requests.get(socket) === req) requests.delete(socket)
      })
    },
    currentPath(socket: Duplex): string | undefined {
      const req = requests.get(socket)
      return req && !req.complete ? targetPath(req.url ?? '') : undefined
    },
  }
}

/**
 * Calls `then` after the answers to the requests before malformed bytes are complete. The request with the malformed
 * body needs no answer, unless it has begun.
 */
function afterEarlierAnswers(open: Set<ServerResponse> = new Set(), then: () => void): void {
  const [first] = open
  if (!first || (!first.req.complete && !first.headersSent)) then()
  else first.once('close', () => afterEarlierAnswers(open, then))
}

/** Answers malformed HTTP with an error of the usual shape, and closes the connection. */
function refuseMalformed(error: Unreadable, socket: Duplex, id: string, errors: ErrorShape): void {
  const [status, message] = MALFORMED[error.code ?? ''] ?? [400, 'Malformed HTTP request']
  if (!socket.writable) socket.destroy()
  else refuseUpgrade(socket, status, message, id, errors)
}

function refuseUpgrade(
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
  // Reads input for 1 s and then cuts the connection, since the client may send on, or never close its side.
  socket.on('error', () => {})
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

/** Headers of an answer outside of the framework. */
export function bareHeaders(id: string, contentType = JSON_TYPE): Record<string, string> {
  return {
    'x-request-id': id,
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
    'content-type': contentType,
  }
}

function listen(server: Server, address: ListenAddress): Promise<void> {
  const { host, port } = address
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error & { code?: string }) => {
      const why = listenErrorReason(error.code, address) ?? error.message
      const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
      reject(new AppError('failed', `cannot listen on ${where}: ${why}`, { cause: error }))
    })
    server.listen({ host, port, backlog: BACKLOG }, () => resolve())
  })
}

function listenErrorReason(
  code: string | undefined,
  { portFlag = '--port' }: ListenAddress,
): string | undefined {
  if (code === 'EADDRINUSE') return `the port is in use: choose another with ${portFlag}`
  if (code === 'EACCES') {
    const otherwise = 'or let the service take it (cambista service print --low-ports)'
    return `this user may not take the port: choose one from 1024 on with ${portFlag}, ${otherwise}`
  }
  if (code === 'EADDRNOTAVAIL') return 'this machine does not have the address'
  return undefined
}

/** Rejects new requests, and cuts those in flight after 10 s. */
async function closeServer(server: Server): Promise<void> {
  const allClosed = new Promise<void>((resolve) => server.close(() => resolve()))
  // A connection that still receives a rejected body becomes idle later.
  const idle = setInterval(() => server.closeIdleConnections(), 50)
  const cut = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS)
  await allClosed
  clearInterval(idle)
  clearTimeout(cut)
}
