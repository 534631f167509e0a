// Notices a client that goes away while it waits for its answer. One that has closed its side of the connection counts as
// gone too: whether it still reads cannot be known before something is sent.

import type { Socket } from 'node:net'

export type Departures = {
  /** Calls `gone` once, when the client closes its side or the connection breaks, until it is disposed of. */
  watch(socket: Socket, gone: () => void): Disposable
}

export function createDepartures(): Departures {
  const watched = new WeakMap<Socket, Set<() => void>>() // one connection may have many requests, one after the other
  const listenTo = (socket: Socket): Set<() => void> => {
    const calls = new Set<() => void>()
    const callAll = () => {
      for (const call of calls) call()
    }
    socket.once('end', callAll).once('close', callAll)
    watched.set(socket, calls)
    return calls
  }
  return {
    watch(socket, gone) {
      if (socket.destroyed || socket.readableEnded) gone()
      const calls = watched.get(socket) ?? listenTo(socket)
      const call = () => gone() // one of its own, should two requests bring the same
      calls.add(call)
      return { [Symbol.dispose]: () => calls.delete(call) }
    },
  }
}
