// A server that rejects bodies, and clients that leave their side of the connection open.

import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { RATES_ERRORS } from '../../../../src/http/figures/rates-errors.ts'
import { limitConnections } from '../../../../src/http/listener/connections.ts'
import { createLingering, type LingeringLimits } from '../../../../src/http/listener/lingering.ts'
import { openListener } from '../../../../src/http/listener/listen.ts'
import { until } from '../../../support/terminal.ts'

export const MiB = 1024 ** 2
/** Limits that no test reaches: its own time-out is shorter. */
const WIDE: LingeringLimits = {
  ms: 3_600_000,
  bytes: 1024 * MiB,
  connections: 100,
  bytesPerSecond: 1024 * MiB,
}

export const requestHead = (length: number) =>
  `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** A server that rejects each body; `others` overrides the remaining limits, `{}` uses the program's. */
export async function serve(
  t: TestContext,
  limits: Partial<LingeringLimits>,
  others: Partial<LingeringLimits> = WIDE,
) {
  const sockets: Socket[] = []
  const listener = await openListener(
    {
      host: '127.0.0.1',
      port: 0,
      selectErrorShape: () => RATES_ERRORS,
      connections: limitConnections({ log: { warn: () => {} }, isShared: () => true }),
      lingering: createLingering({ ...others, ...limits }),
    },
    (req, res) => {
      sockets.push(req.socket)
      res.writeHead(413, { connection: 'close', 'content-length': 5 }).end('large')
    },
    () => 'id',
  )
  let isClosed = false
  const close = async () => {
    isClosed = true
    await listener.close()
  }
  t.after(() => (isClosed ? undefined : close()))
  return { ...listener, close, sockets }
}

/** A client that has its answer and our end of the connection, and leaves its own side open. */
export async function refuse(t: TestContext, url: string, length = 1024 * MiB) {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true })
  t.after(() => socket.destroy())
  let received = ''
  let isEnded = false
  socket.on('error', () => {})
  socket.on('data', (piece) => {
    received += piece
  })
  socket.on('end', () => {
    isEnded = true
  })
  socket.write(requestHead(length))
  await until(() => isEnded || socket.destroyed)
  assert.match(received, /^HTTP\/1\.1 413 .*\r\n\r\nlarge$/s)
  return socket
}

/** Writes until `bytes` are sent or the server has cut the connection; returns the number sent. */
export async function send(socket: Socket, bytes: number): Promise<number> {
  const piece = Buffer.alloc(64 * 1024)
  let bytesSent = 0
  while (bytesSent < bytes && !socket.destroyed) {
    await new Promise<void>((resolve) => {
      socket.once('close', resolve)
      socket.write(piece, () => {
        socket.off('close', resolve)
        resolve()
      })
    })
    bytesSent += piece.length
  }
  return bytesSent
}
