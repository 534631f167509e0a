// Uploads to nodes whose commits wait for a standby. A relay delays each byte between the two servers, so that the standby
// is 2 ms away.

import { chmodSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { makeServerDirectory, type PostgresServer } from '../../support/postgres/server.ts'
import { setSynchronous, startStandby } from '../../support/postgres/standby.ts'
import type { Figure } from '../figure.ts'
import type { Running } from '../process.ts'
import { besides } from './nodes.ts'
import { uploadsPerSecond } from './uploads.ts'

const ROUNDS = 5
const UPLOADS = 400
const ONE_WAY_MS = 1
const SOCKET = '.s.PGSQL.5432'

export async function measureStandby(
  primary: PostgresServer,
  startNode: () => Promise<Running>,
): Promise<Figure[]> {
  const relay = startRelay(primary.dir)
  const settings = ['fsync=on', `primary_conninfo=host=${relay.dir} user=cambista`]
  const standby = await startStandby(primary, settings)
  const nodes = [await startNode(), await startNode()] as const
  const rounds = []
  for (let round = 0; round <= ROUNDS; round++) {
    await setSynchronous(primary, false)
    const alone = await uploadsPerSecond([nodes[0]], 1, UPLOADS)
    await setSynchronous(primary, true)
    const synchronous = await uploadsPerSecond([nodes[0]], 1, UPLOADS)
    const both = await uploadsPerSecond(nodes, 1, UPLOADS)
    rounds.push({ alone, synchronous, both })
  }
  await setSynchronous(primary, false)
  await Promise.all(nodes.map((node) => node.stop()))
  await standby.close()
  relay.stop()
  const warm = rounds.slice(1)
  const formatRate = (rate: number) => `${rate.toFixed(0)}/s`
  return [
    besides(
      {
        work: 'uploads of one document, a synchronous standby 2 ms away (limit: none)',
        must: { atLeast: 0.9 },
        shown: formatRate,
      },
      warm.map(({ alone, synchronous }) => ({ node: synchronous, limit: alone })),
    ),
    besides(
      { work: 'the same through two nodes (limit: one node)', must: undefined, shown: formatRate },
      warm.map(({ synchronous, both }) => ({ node: both, limit: synchronous })),
    ),
  ]
}

/** Starts a relay to the socket of a server. `dir` has the socket of the relay. */
function startRelay(target: string): { dir: string; stop(): void } {
  const dir = makeServerDirectory()
  const sockets = new Set<Socket>()
  const listener = createServer((client) => {
    const server = createConnection(join(target, SOCKET))
    const end = () => {
      client.destroy()
      server.destroy()
    }
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(from)
      from.on('error', end).on('close', end)
      from.on('data', (bytes) => setTimeout(() => to.write(bytes), ONE_WAY_MS))
    }
  })
  listener.listen(join(dir, SOCKET), () => chmodSync(join(dir, SOCKET), 0o777)) // the standby runs as another user
  return {
    dir,
    stop() {
      listener.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
