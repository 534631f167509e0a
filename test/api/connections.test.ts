// How many connections there may be, and how long one may hold its answer up.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { startTestApp } from '../support/app.ts'
import { until } from '../support/terminal.ts'

const GET = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

async function dial(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume() // or it would not see its own end
  return socket
}

/** Whether the server answers on the socket, or closes it. */
async function isServed(socket: Socket): Promise<boolean> {
  socket.write(GET)
  return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)])
}

test('a connection too many is closed, and idle ones make room for the next', async (t) => {
  const { app } = await startTestApp(t, { listen: { connections: { connections: 2, unreadMs: 5000 } } })
  const idle = [await dial(t, app.url), await dial(t, app.url)]
  for (const socket of idle) assert.equal(await isServed(socket), true)
  assert.equal(await isServed(await dial(t, app.url)), false)
  await until(async () => isServed(await dial(t, app.url)))
})

test('a client that takes nothing of its answers is cut off, one that takes its time is not', async (t) => {
  const { app } = await startTestApp(t, { listen: { connections: { connections: 10, unreadMs: 300 } } })
  const many = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(600)
  const [deaf, slow] = [await dial(t, app.url), await dial(t, app.url)]
  deaf.pause()
  let ended = false
  slow.on('close', () => {
    ended = true
  })
  for (const socket of [deaf, slow]) socket.write(many)
  let taken = 0
  slow.on('data', (bytes) => {
    taken += bytes.length
    slow.pause()
    setTimeout(() => slow.resume(), 20)
  })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  assert.equal(ended, false)
  assert.ok(taken > 0)
  const left = once(deaf, 'close')
  deaf.resume()
  await left // it hears the rest of what was under way, and the end
})
