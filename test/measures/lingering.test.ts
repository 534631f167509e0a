// Speed at which discarded bodies are read, all connections together.

import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { retryWhenStalled } from '../support/stalls.ts'
import { until } from '../support/terminal.ts'
import { MiB, refuse, send, serve } from '../unit/http/listener/lingering-clients.ts'

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

test('the default speed is 64 MiB a second', async (t) => {
  const { url, sockets } = await serve(t, { ms: 60_000 }, {})
  const clients: Socket[] = []
  for (let at = 0; at < 5; at++) clients.push(await refuse(t, url))
  const began = performance.now()
  await Promise.all(clients.map((socket) => send(socket, 15 * MiB)))
  await until(() => sockets.every(({ bytesRead }) => bytesRead >= 14 * MiB))
  const seconds = (performance.now() - began) / 1000
  assert.ok(seconds > (5 * 14) / 64 - 0.1, `75 MiB in ${seconds} s`)
})
