// Time and memory of answers that clients read slowly, or not at all.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { send } from '../api/support.ts'
import { startTestApp } from '../support/app.ts'
import { batch, CREATE, fillDirectory, pdf, post, TOKENS } from '../support/directory.ts'
import { listOpenFiles } from '../support/resources.ts'
import { retryWhenStalled } from '../support/stalls.ts'
import { until } from '../support/terminal.ts'

async function dial(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

test('a client that reads slowly is not cut off', async (t) => {
  const { app } = await startTestApp(t, { listen: { connections: { connections: 10, unreadMs: 300 } } })
  await retryWhenStalled(150, async () => {
    const slow = await dial(t, app.url)
    let isClosed = false
    slow.on('close', () => {
      isClosed = true
    })
    let bytesRead = 0
    slow.on('data', (bytes) => {
      bytesRead += bytes.length
      slow.pause()
      setTimeout(() => slow.resume(), 20)
    })
    slow.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(600))
    await wait(1500)
    assert.equal(isClosed, false)
    assert.ok(bytesRead > 0)
    slow.destroy()
  })
})

test('40 clients that do not read a download use less than 100 MB', async (t) => {
  const app = await startTestApp(t, { listen: { connections: { connections: 100, unreadMs: 0 } } })
  await fillDirectory(app)
  const base64 = randomBytes(30_000_000).toString('base64')
  assert.equal((await post(app, CREATE, batch({ ...pdf(), base64 }))).status, 200)
  const before = process.memoryUsage.rss()
  for (let client = 0; client < 40; client += 1) {
    const socket = await dial(t, app.app.url)
    socket.pause()
    const path = '/api/v1/documents/1/content'
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${TOKENS.all}\r\n\r\n`)
  }
  await until(() => listOpenFiles(join(app.dataDir, 'blobs')).length === 40)
  await wait(500)
  const rise = process.memoryUsage.rss() - before
  assert.ok(rise < 100_000_000, `${Math.round(rise / 1e6)} MB for 40 clients`)
})

test('clients without gzip share the unpacked file, also those that read nothing', async (t) => {
  const { app } = await startTestApp(t)
  const { body } = await send(`${app.url}/docs/reference`)
  const [path = ''] = /\/page\/reference-[\w-]+\.js/.exec(body) ?? []
  const { bytes } = await send(`${app.url}${path}`)
  assert.ok(bytes.length > 1e6)
  const socket = await dial(t, app.url)
  socket.pause()
  const before = process.memoryUsage().arrayBuffers
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(30))
  await wait(500)
  const grown = process.memoryUsage().arrayBuffers - before
  assert.ok(grown < 2 * bytes.length, `${grown} bytes`)
})
