// Limits of discarded bodies: time, bytes and connections. Their speed is measured in test/measures/lingering.test.ts.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { until } from '../../../support/terminal.ts'
import { MiB, refuse, requestHead, send, serve } from './lingering-clients.ts'

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
  assert.equal(await send(await refuse(t, url), MiB), MiB)
  await until(() => (sockets[3]?.bytesRead ?? 0) >= MiB)
  assert.equal(sockets[3]?.destroyed, false)
})

test('close() waits for no lingering connection, and admits no more of them', async (t) => {
  const { url, close, sockets } = await serve(t, {})
  await refuse(t, url)
  assert.equal(sockets[0]?.destroyed, false)
  await close() // a wait for it would last an hour
  assert.equal(sockets[0]?.destroyed, true)
})

test('the defaults are 32 connections and 16 MiB a connection', async (t) => {
  const { url, sockets } = await serve(t, { ms: 3_600_000 }, {})
  const clients: Socket[] = []
  for (let at = 0; at < 32; at++) clients.push(await refuse(t, url))
  assert.ok(sockets.every(({ destroyed }) => !destroyed))
  await refuse(t, url)
  await until(() => sockets[32]?.destroyed === true)
  await Promise.all(clients.slice(0, 5).map((socket) => send(socket, 15 * MiB)))
  await until(() => sockets.slice(0, 5).every(({ bytesRead }) => bytesRead >= 14 * MiB))
  assert.ok(sockets.slice(0, 32).every(({ destroyed }) => !destroyed))
  await send(clients[0] as Socket, 2 * MiB)
  await until(() => sockets[0]?.destroyed === true)
})

for (const [title, limits, ms] of [
  ['a connection is cut after its time limit', { ms: 1000 }, 1000],
  ['the default time limit is 5 seconds', {}, 5000],
] as const) {
  test(title, async (t) => {
    const { url, sockets } = await serve(t, limits, {})
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), allowHalfOpen: true })
    t.after(() => socket.destroy())
    socket.on('error', () => {}).resume()
    socket.write(requestHead(MiB))
    await once(socket, 'end')
    while (!sockets[0]?.writableFinished) await setImmediate()
    await setImmediate() // the limit begins after the answer is sent
    t.mock.timers.tick(ms - 1)
    assert.equal(sockets[0].destroyed, false)
    t.mock.timers.tick(1)
    assert.equal(sockets[0].destroyed, true)
  })
}
