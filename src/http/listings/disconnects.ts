// Detects a client that disconnects while it waits. A half-closed connection counts as closed: only a write could
// show that the client still reads.

import type { Socket } from 'node:net'

export type Disconnects = {
  /** Calls `gone` once, when the client closes its side or the connection breaks, until it is disposed of. */
  watch(socket: Socket, onDisconnect: () => void): Disposable
}

export function createDisconnects(): Disconnects {
  const listeners = new WeakMap<Socket, Set<() => void>>() // a connection may have many requests, in sequence
  const addListeners = (socket: Socket): Set<() => void> => {
    const calls = new Set<() => void>()
    const callAll = () => {
      for (const call of calls) call()
    }
    socket.once('end', callAll).once('close', callAll)
    listeners.set(socket, calls)
    return calls
  }
  return {
    watch(socket, onDisconnect) {
      if (socket.destroyed || socket.readableEnded) onDisconnect()
      const calls = listeners.get(socket) ?? addListeners(socket)
      const call = () => onDisconnect() // a new function, since two requests may pass the same
      calls.add(call)
      return { [Symbol.dispose]: () => calls.delete(call) }
    },
  }
}
