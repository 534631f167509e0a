// Limits the number of connections. At the limit, the connection that is idle for the longest time between two requests
// is closed. Connections with a request, with an answer, or before their first request are not closed. A connection
// has at most 32 unfinished answers, and its next requests wait. Too many of them close it. Its input is never paused,
// because a paused one does not show that its client is gone.

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../runtime/log.ts'

export type ConnectionLimits = {
  /** Concurrent connections. An address may have a quarter of them, unless many clients share it. */
  connections: number
  /** Time-out of a client that reads nothing of its answer. */
  unreadMs: number
}

export type ConnectionOptions = {
  log: Pick<Log, 'warn'>
  limits?: ConnectionLimits | undefined
  /** Returns true for an address of many clients: this machine, or a proxy. */
  isShared: (address: string) => boolean
}

export type Connections = {
  /** Counts the connections of a server too, and closes those whose answer is not read. */
  watch(server: Server): void
  /** Must be called with each request. Calls `handle` at once, or after earlier answers of its connection. */
  begin(req: IncomingMessage, res: ServerResponse, handle: () => void): void
  /** Returns the unfinished answers of a connection, in the order of their requests. */
  openAnswers(socket: object): Set<ServerResponse> | undefined
}

// A connection takes about 20 kB, so 4096 take 80 MB. Reading an answer has a time-out, but no minimum speed, which
// would cut slow, honest downloads. A slow reader costs no more than frequent requests.
const LIMITS: ConnectionLimits = { connections: 4096, unreadMs: 60_000 }
/** Files of the program itself: database, uploads (64 waiting blobs, 16 written ones), downloads, folders. */
const OTHER_FILES = 160
const ONE_CLIENTS_SHARE = 1 / 4
/** Unfinished answers of a connection: node:http parses up to 700 requests of a packet, and would run them all. */
const UNFINISHED = 32
/** Requests of a connection that wait for an answer, and their bytes. */
const QUEUE = { requests: 1000, bytes: 2 ** 20 }
const WARN_EVERY_MS = 60_000

type Queue = { handlers: (() => void)[]; startBytes: number }

/** Limits the connections of all servers below the file limit of the process, and closes those that block an answer. */
export function limitConnections(options: ConnectionOptions): Connections {
  const { connections, unreadMs } = options.limits ?? LIMITS
  const files = readFileLimit()
  const most = Math.min(connections, Math.max(files - OTHER_FILES, Math.floor(files / 2)))
  const mostOfOne = Math.max(1, Math.floor(most * ONE_CLIENTS_SHARE))
  const answers = new WeakMap<object, Set<ServerResponse>>()
  const queues = new WeakMap<Socket, Queue>() // requests beyond the unfinished answers
  const waiting = new Map<Socket, number>() // connections between two requests, with the bytes read before
  const open = new Map<string, number>() // by address
  const warn = limitWarnings(options.log)
  let count = 0

  const admit = (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const ofOne = (open.get(address) ?? 0) + 1
    open.set(address, ofOne)
    count += 1
    socket.once('close', () => {
      count -= 1
      const others = (open.get(address) ?? 0) - 1
      if (others > 0) open.set(address, others)
      else open.delete(address)
    })
    if (ofOne > mostOfOne && !options.isShared(address)) {
      warn('too many connections of one client', { limit: mostOfOne, client: address })
      socket.destroy()
    } else if (count > most && !closeLongestWaiting(waiting)) {
      warn('too many connections', { limit: most, client: address })
      socket.destroy()
    }
  }

  // Outside of `begin`, where the listener would retain the first request for as long as the connection is open.
  const trackAnswers = (socket: Socket): Set<ServerResponse> => {
    const unfinished = new Set<ServerResponse>()
    answers.set(socket, unfinished)
    socket.once('close', () => waiting.delete(socket))
    return unfinished
  }

  const queue = (socket: Socket, handle: () => void) => {
    const { handlers, startBytes } = queues.getOrInsertComputed(socket, () => {
      return { handlers: [], startBytes: socket.bytesRead }
    })
    handlers.push(handle)
    if (handlers.length > QUEUE.requests || socket.bytesRead - startBytes > QUEUE.bytes) socket.destroy()
  }

  const handleNext = (socket: Socket) => {
    const { handlers } = queues.get(socket) ?? { handlers: [] }
    const handle = socket.writable && handlers.shift()
    if (handlers.length === 0) queues.delete(socket)
    if (handle) handle()
  }

  return {
    watch(server) {
      server.on('connection', admit)
      server.timeout = unreadMs
      // A connection is also silent while an answer is prepared, which is not the client's fault.
      server.on('timeout', (socket: Socket) => {
        if (socket.writableLength > 0 || !answers.get(socket)?.size) socket.destroy()
      })
    },
    begin({ socket }, res, handle) {
      const here = (answers.get(socket) ?? trackAnswers(socket)).add(res)
      waiting.delete(socket)
      res.on('close', () => {
        here.delete(res)
        if (here.size === 0 && !socket.destroyed) waiting.set(socket, socket.bytesRead)
        handleNext(socket)
      })
      if (here.size <= UNFINISHED) handle()
      else queue(socket, handle)
    },
    openAnswers: (socket) => answers.get(socket),
  }
}

/** `waiting`: connections between two requests, with the bytes read before. Returns false if none was closed. */
function closeLongestWaiting(waiting: Map<Socket, number>): boolean {
  for (const [socket, read] of waiting) {
    waiting.delete(socket)
    if (socket.destroyed || socket.bytesRead !== read) continue // a request has begun
    socket.destroy()
    return true
  }
  return false
}

/** Warns at most once a minute, with the number of rejections since the last warning. */
function limitWarnings(log: Pick<Log, 'warn'>): Log['warn'] {
  let next = Number.NEGATIVE_INFINITY
  let refused = 0
  return (event, fields) => {
    refused += 1
    if (performance.now() < next) return
    next = performance.now() + WARN_EVERY_MS
    log.warn(event, { ...fields, refused })
    refused = 0
  }
}

/** Returns the limit of open files of this process; infinity if it cannot be read. */
function readFileLimit(): number {
  try {
    const [, most] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return most === undefined ? Number.POSITIVE_INFINITY : Number(most)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
