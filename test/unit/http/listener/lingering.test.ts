// Limits of discarded bodies: time, bytes, connections, and speed.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate, setTimeout as wait } from 'node:timers/promises'
import { limitConnections } from '../../../../src/http/listener/connections.ts'
import { createLingering, type LingeringLimits } from '../../../../src/http/listener/lingering.ts'
import { openListener } from '../../../../src/http/listener/listen.ts'
import { RATES_ERRORS } from '../../../../src/http/rates/errors.ts'
import { retryWhenStalled } from '../../../support/stalls.ts'
import { until } from '../../../support/terminal.ts'

const MiB = 1024 ** 2
const WIDE: LingeringLimits = { ms: 60_000, bytes: 1024 * MiB, connections: 100, bytesPerSecond: 1024 * MiB }
const requestHead = (length: number) => `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n`

/** A server that rejects each body; `others` overrides the remaining limits, `{}` uses the program's. */
async function serve(
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
async function refuse(t: TestContext, url: string, length = 1024 * MiB) {
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
async function send(socket: Socket, bytes: number): Promise<number> {
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

test('a connection ends when its client closes its side', async (t) => {
  const { url, sockets } = await serve(t, {})
  const socket = await refuse(t, url)
  assert.equal(await send(socket, 2 * MiB), 2 * MiB)
  assert.equal(sockets[0]?.destroyed, false)
  socket.end()
  await until(() => sockets[0]?.destroyed === true)
  await until(() => socket.destroyed)
})

test('a request behind a rejected body is discarded with it', async (t) => {
  const { url, sockets } = await serve(t, {})
  const socket = await refuse(t, url, MiB)
  await send(socket, MiB)
  socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => sockets[0]?.destroyed === true)
  assert.equal(sockets.length, 1, 'requests')
})

test('a connection is cut after its time limit', async (t) => {
  const { url, sockets } = await serve(t, { ms: 1000 })
  const began = performance.now()
  await refuse(t, url)
  await until(() => sockets[0]?.destroyed === true)
  const ms = performance.now() - began
  assert.ok(ms >= 990, `${ms} ms`)
})

test('a connection is cut after its byte limit', async (t) => {
  const { url, sockets } = await serve(t, { bytes: MiB })
  const socket = await refuse(t, url)
  assert.equal(await send(socket, MiB), MiB)
  await until(() => (sockets[0]?.bytesRead ?? 0) >= MiB)
  assert.equal(sockets[0]?.destroyed, false)
  await send(socket, MiB)
  await until(() => sockets[0]?.destroyed === true)
  assert.ok((sockets[0]?.bytesRead ?? 0) < MiB + 3 * 64 * 1024, `${sockets[0]?.bytesRead} bytes`)
})

test('connections over the limit are cut at once, and slots are reused', async (t) => {
  const { url, sockets } = await serve(t, { connections: 2 })
  const [first] = [await refuse(t, url), await refuse(t, url)]
  await refuse(t, url)
  await until(() => sockets[2]?.destroyed === true)
  assert.deepEqual([sockets[0]?.destroyed, sockets[1]?.destroyed], [false, false])
  first.destroy()
  await until(() => sockets[0]?.destroyed === true)
  await refuse(t, url)
  await wait(50)
  assert.equal(sockets[3]?.destroyed, false)
})

test('the connections together are read at the rate limit, and none is cut for it', async (t) => {
  await retryWhenStalled(200, async () => {
    const rate = 4 * MiB
    const { url, sockets } = await serve(t, { bytesPerSecond: rate })
    const clients = [await refuse(t, url), await refuse(t, url), await refuse(t, url)]
    const read = () => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0)
    const [before, began] = [read(), performance.now()]
    const sending = clients.map((socket) => send(socket, 1024 * MiB))
    await wait(1000)
    const [bytes, seconds] = [read() - before, (performance.now() - began) / 1000]
    // Each socket has read some bytes that are counted only when it continues.
    const most = rate * (seconds + 0.1) + clients.length * 3 * 64 * 1024
    assert.ok(bytes <= most, `${bytes} bytes in ${seconds} s`)
    assert.ok(bytes > rate / 8, `${bytes} bytes in ${seconds} s`)
    assert.ok(sockets.every(({ destroyed }) => !destroyed))
    for (const socket of clients) socket.destroy()
    await Promise.all(sending)
  })
})

test('close() waits for no lingering connection, and admits no more of them', async (t) => {
  const { url, close, sockets } = await serve(t, {})
  await refuse(t, url)
  assert.equal(sockets[0]?.destroyed, false)
  const began = performance.now()
  await close()
  assert.ok(performance.now() - began < WIDE.ms / 2)
  assert.equal(sockets[0]?.destroyed, true)
})

test('the defaults are 32 connections, 64 MiB a second and 16 MiB a connection', async (t) => {
  const { url, sockets } = await serve(t, { ms: 60_000 }, {})
  const clients: Socket[] = []
  for (let at = 0; at < 32; at++) clients.push(await refuse(t, url))
  assert.ok(sockets.every(({ destroyed }) => !destroyed))
  await refuse(t, url)
  await until(() => sockets[32]?.destroyed === true)
  const began = performance.now()
  await Promise.all(clients.slice(0, 5).map((socket) => send(socket, 15 * MiB)))
  await until(() => sockets.slice(0, 5).every(({ bytesRead }) => bytesRead >= 14 * MiB))
  const seconds = (performance.now() - began) / 1000
  assert.ok(seconds > (5 * 14) / 64 - 0.1, `75 MiB in ${seconds} s`)
  assert.ok(sockets.slice(0, 32).every(({ destroyed }) => !destroyed))
  await send(clients[0] as Socket, 2 * MiB)
  await until(() => sockets[0]?.destroyed === true)
})

test('the default time limit is 5 seconds', async (t) => {
  const { url, sockets } = await serve(t, {}, {})
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true })
  t.after(() => socket.destroy())
  socket.on('error', () => {}).resume()
  socket.write(requestHead(MiB))
  await once(socket, 'end')
  await setImmediate()
  t.mock.timers.tick(4999)
  assert.equal(sockets[0]?.destroyed, false)
  t.mock.timers.tick(1)
  assert.equal(sockets[0]?.destroyed, true)
})
