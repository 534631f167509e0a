// Lingering close (RFC 9112, 9.6). A socket that is closed while bytes of its client are unread is reset, and a client that
// writes its whole request first loses the answer with it: it sees EPIPE instead of the 413. Our side is closed, and what
// the client still sends is read and thrown away until it closes its own. Beyond the limits a connection is cut.

import { Socket } from 'node:net'

export type LingeringLimits = {
  /** How long one connection may take, and how much it may send. */
  ms: number
  bytes: number
  /** Of all connections together. */
  connections: number
  bytesPerSecond: number
}

export type Lingering = {
  /** Ends a connection slowly, whose last answer was written. False: there is no room, and nothing was done to it. */
  begin(socket: Socket): boolean
  /** Whether a connection is being ended slowly. */
  has(socket: object): boolean
  /** Cuts all of them, and takes no more. */
  close(): void
}

const MiB = 1024 ** 2
const LIMITS: LingeringLimits = {
  ms: 5000,
  bytes: 16 * MiB,
  connections: 32,
  bytesPerSecond: 64 * MiB,
}
const REFILL_EVERY_MS = 50

export function createLingering(given: Partial<LingeringLimits> = {}): Lingering {
  const limits = { ...LIMITS, ...given }
  const open = new Set<Socket>()
  const share = (limits.bytesPerSecond * REFILL_EVERY_MS) / 1000
  let left = share // of the bytes until the next refill; less than none is taken off that
  let refilling: NodeJS.Timeout | undefined
  let isClosed = false

  const spend = (bytes: number) => {
    left -= bytes
    if (left <= 0) for (const socket of open) socket.pause()
  }
  const refill = () => {
    left = Math.min(share, left + share)
    if (left > 0) for (const socket of open) socket.resume()
  }
  const enter = (socket: Socket) => {
    open.add(socket)
    refilling ??= setInterval(refill, REFILL_EVERY_MS).unref()
    socket.once('close', () => {
      open.delete(socket)
      if (open.size > 0) return
      clearInterval(refilling)
      refilling = undefined
    })
  }
  const readToEnd = (socket: Socket) => {
    if (socket.destroyed) return
    const cut = setTimeout(() => socket.destroy(), limits.ms).unref()
    socket.once('close', () => clearTimeout(cut))
    let bytes = 0
    // No parser any more: what comes is the rest of a refused body, and no request behind it may have an effect.
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > limits.bytes) socket.destroy()
      else spend(piece.length)
    })
    socket.once('end', () => socket.destroy())
    socket.resume()
    // The parser of node:http read past the stream, and has stopped with a body that nobody took; the stream does not know.
    socket._read(0)
    if (left <= 0) socket.pause()
  }
  return {
    begin(socket) {
      if (isClosed || socket.readableEnded || open.size >= limits.connections) return false
      enter(socket)
      socket.end(() => readToEnd(socket)) // an answer that is still on its way has all the time that any has
      return true
    },
    has: (socket) => open.has(socket as Socket),
    close() {
      isClosed = true
      for (const socket of open) socket.destroy()
    },
  }
}

/** Lets a connection end slowly where node:http closes it, if `isDue` says so then. */
export function lingerOn(socket: Socket, lingering: Lingering, isDue: () => boolean): void {
  socket.destroySoon = () => {
    if (!isDue() || !lingering.begin(socket)) Socket.prototype.destroySoon.call(socket)
  }
}
