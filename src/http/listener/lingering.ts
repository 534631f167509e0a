// Lingering close (RFC 9112, 9.6). Closing a socket with unread bytes resets it. A client that writes its whole request
// first would see EPIPE instead of the 413. So our side is closed, and input is read and dropped until the client closes
// its side. Beyond the limits a connection is cut.

import { Socket } from 'node:net'

export type LingeringLimits = {
  /** Time and bytes of one connection. */
  ms: number
  bytes: number
  /** Limits of all connections together. */
  connections: number
  bytesPerSecond: number
}

export type Lingering = {
  /** Starts to linger on a connection whose last answer was written. False: over the limits, and nothing was done. */
  begin(socket: Socket): boolean
  /** Returns true while a connection lingers. */
  has(socket: object): boolean
  /** Cuts all of them, and rejects new ones. */
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

export function createLingering(options: Partial<LingeringLimits> = {}): Lingering {
  const limits = { ...LIMITS, ...options }
  const open = new Set<Socket>()
  const share = (limits.bytesPerSecond * REFILL_EVERY_MS) / 1000
  let budget = share // bytes until the next refill; a negative rest is deducted from it
  let refilling: NodeJS.Timeout | undefined
  let isClosed = false

  const spend = (bytes: number) => {
    budget -= bytes
    if (budget <= 0) for (const socket of open) socket.pause()
  }
  const refill = () => {
    budget = Math.min(share, budget + share)
    if (budget > 0) for (const socket of open) socket.resume()
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
    // Removes the parser: the input is the rest of a rejected body, and later requests must have no effect.
    socket.removeAllListeners('data')
    socket.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > limits.bytes) socket.destroy()
      else spend(piece.length)
    })
    socket.once('end', () => socket.destroy())
    socket.resume()
    // The parser of node:http reads the handle directly and stopped with an unread body. The stream must be restarted.
    socket._read(0)
    if (budget <= 0) socket.pause()
  }
  return {
    begin(socket) {
      if (isClosed || socket.readableEnded || open.size >= limits.connections) return false
      enter(socket)
      socket.end(() => readToEnd(socket)) // the limit of time begins after the answer is sent
      return true
    },
    has: (socket) => open.has(socket as Socket),
    close() {
      isClosed = true
      for (const socket of open) socket.destroy()
    },
  }
}

/** Makes a connection linger when node:http closes it, if `isDue` returns true then. */
export function lingerOnClose(socket: Socket, lingering: Lingering, isDue: () => boolean): void {
  socket.destroySoon = () => {
    if (!isDue() || !lingering.begin(socket)) Socket.prototype.destroySoon.call(socket)
  }
}
