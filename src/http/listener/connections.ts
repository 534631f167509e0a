// How many connections there may be, and which of them give way. One that waits between two requests is closed when its
// place is needed, the longest waiting first; one that is asking, answered, or has not asked yet is not.

import { readFileSync } from 'node:fs'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../../log.ts'

export type ConnectionLimits = {
  /** Connections at once. One address may have a quarter of them, and those that many clients share have no such limit. */
  connections: number
  /** How long a client may take nothing of its answer. */
  unreadMs: number
}

export type ConnectionOptions = {
  log: Pick<Log, 'warn'>
  limits?: ConnectionLimits | undefined
  /** Whether many clients come from this address: this machine, a proxy. */
  isShared: (address: string) => boolean
}

export type Connections = {
  /** Counts the connections of a server too, and ends those of its answers that nothing is read of. */
  watch(server: Server): void
  /** To be told each request, when it begins. */
  note(req: IncomingMessage, res: ServerResponse): void
  /** The answers that are not yet finished on a connection, in the order of their requests. */
  answersOn(socket: object): Set<ServerResponse> | undefined
}

// A connection takes some 20 kB, so that a flood of them takes no more than 80 MB. Not limited is how slowly an answer is
// read, as long as something of it is: a reader of a byte a minute has a place and the answer's memory, as one that asks
// again and again has, and a least speed would cut an honest download over a bad line.
const LIMITS: ConnectionLimits = { connections: 4096, unreadMs: 60_000 }
/** Files of the program itself: database, uploads (64 blobs that wait, 16 that are written), downloads, folders. */
const OTHER_FILES = 160
const ONE_CLIENTS_SHARE = 1 / 4
const WARN_EVERY_MS = 60_000

/** Keeps the connections of all servers below the files that the process may open, and ends those that hold an answer up. */
export function limitConnections(options: ConnectionOptions): Connections {
  const { connections, unreadMs } = options.limits ?? LIMITS
  const files = filesAllowed()
  const most = Math.min(connections, Math.max(files - OTHER_FILES, Math.floor(files / 2)))
  const mostOfOne = Math.max(1, Math.floor(most * ONE_CLIENTS_SHARE))
  const answers = new WeakMap<object, Set<ServerResponse>>()
  const waiting = new Map<Socket, number>() // those between two requests, with the bytes read of each until then
  const open = new Map<string, number>() // by address
  const warn = sparingly(options.log)
  let count = 0

  const closeLongestWaiting = (): boolean => {
    for (const [socket, read] of waiting) {
      waiting.delete(socket)
      if (socket.destroyed || socket.bytesRead !== read) continue // it has begun to ask
      socket.destroy()
      return true
    }
    return false
  }

  const admit = (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const ofOne = (open.get(address) ?? 0) + 1
    open.set(address, ofOne)
    count += 1
    socket.once('close', () => {
      count -= 1
      const left = (open.get(address) ?? 0) - 1
      if (left > 0) open.set(address, left)
      else open.delete(address)
    })
    if (ofOne > mostOfOne && !options.isShared(address)) {
      warn('too many connections of one client', { limit: mostOfOne, client: address })
      socket.destroy()
    } else if (count > most && !closeLongestWaiting()) {
      warn('too many connections', { limit: most, client: address })
      socket.destroy()
    }
  }

  // Apart from a request: what listens to a connection would keep its first request for as long as it lasts.
  const answersFirst = (socket: Socket): Set<ServerResponse> => {
    const unfinished = new Set<ServerResponse>()
    answers.set(socket, unfinished)
    socket.once('close', () => waiting.delete(socket))
    return unfinished
  }

  return {
    watch(server) {
      server.on('connection', admit)
      server.timeout = unreadMs
      // Nothing moves while we work on an answer, too: that is no fault of the client's.
      server.on('timeout', (socket: Socket) => {
        if (socket.writableLength > 0 || !answers.get(socket)?.size) socket.destroy()
      })
    },
    note({ socket }, res) {
      const here = (answers.get(socket) ?? answersFirst(socket)).add(res)
      waiting.delete(socket)
      res.once('close', () => {
        here.delete(res)
        if (here.size === 0 && !socket.destroyed) waiting.set(socket, socket.bytesRead)
      })
    },
    answersOn: (socket) => answers.get(socket),
  }
}

/** Warns at most once a minute, with how often there was reason to since the last time. */
function sparingly(log: Pick<Log, 'warn'>): Log['warn'] {
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

/** How many files this process may have open; without a limit that can be read, as many as it likes. */
function filesAllowed(): number {
  try {
    const [, most] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return most === undefined ? Number.POSITIVE_INFINITY : Number(most)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
