// A TCP address that leads to one of several servers, as HAProxy or a virtual address does. The test chooses the server
// of new connections, and cuts, silences or refuses connections. Bytes are passed without parsing.

import { once } from 'node:events'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { PostgresServer } from './server.ts'

export type Switch = {
  /** Address for nodes, on a port that stays the same; a parameter can be appended with `&`. */
  url: string
  /** Leads new connections to a server, and cuts the present ones. Also ends `refuse` and `silence`. */
  lead(server: PostgresServer): void
  /** Leads new connections to a server. The present ones stay open. */
  leadNew(server: PostgresServer): void
  /** Cuts all connections. New ones reach the same server. */
  cut(): void
  /** Cuts all connections and closes new ones at once, until `lead`. */
  refuse(): void
  /** Passes no byte either way, as a network without a route does, until `lead`. */
  silence(): void
  /** Number of open connections. */
  connections(): number
}

const SOCKET = '.s.PGSQL.5432'

/** Opens a switch that leads to a server. Closed when the test ends. */
export async function startSwitch(t: Pick<TestContext, 'after'>, server: PostgresServer): Promise<Switch> {
  let state: 'open' | 'refused' | 'silent' = 'open'
  let target = server
  const pairs = new Set<readonly [Socket, Socket]>()
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.destroy()
    pairs.clear()
  }
  const listener = createServer((client) => {
    if (state === 'refused') return client.destroy()
    const pair = [client, createConnection(join(target.dir, SOCKET))] as const
    pairs.add(pair)
    connectPair(pair, {
      isOpen: () => state === 'open',
      onEnd: () => pairs.delete(pair),
    })
    if (state === 'silent') for (const socket of pair) socket.pause()
    return undefined
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  t.after(() => {
    listener.close()
    cut()
  })
  const { port } = listener.address() as AddressInfo
  return {
    url: `postgres://cambista@127.0.0.1:${port}/postgres?sslmode=disable`,
    lead(next) {
      target = next
      state = 'open'
      cut()
    },
    leadNew(next) {
      target = next
    },
    cut,
    refuse() {
      state = 'refused'
      cut()
    },
    silence() {
      state = 'silent'
      for (const pair of pairs) for (const socket of pair) socket.pause()
    },
    connections: () => pairs.size,
  }
}

/** Passes the bytes of each side to the other. The end of a side ends the other. */
function connectPair(
  [client, server]: readonly [Socket, Socket],
  { isOpen, onEnd }: { isOpen(): boolean; onEnd(): void },
): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.setNoDelay(true)
    from.on('data', (bytes) => {
      if (!to.write(bytes)) {
        from.pause()
        to.once('drain', () => isOpen() && from.resume())
      }
    })
    from.on('error', () => {}) // followed by close
    from.on('close', () => {
      to.destroy()
      onEnd()
    })
  }
}
