// Limits of the number of connections, and of the time in which a client must read its answer.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { queryObjects } from 'node:v8'
import { RATES_ERRORS } from '../../src/http/figures/rates-errors.ts'
import { limitConnections } from '../../src/http/listener/connections.ts'
import { openListener } from '../../src/http/listener/listen.ts'
import { startTestApp } from '../support/app.ts'
import { serverEnd, untilRead } from '../support/events/server-ends.ts'
import { until } from '../support/terminal.ts'

const GET = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

async function dial(t: TestContext, url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.resume() // a paused socket would not see its own end
  return socket
}

/** Resolves to true if the server answers on the socket, to false if it closes it. */
async function isServed(socket: Socket, text = GET): Promise<boolean> {
  socket.write(text)
  const closing = socket.destroyed || once(socket, 'close').then(() => true)
  return Promise.race([once(socket, 'data').then(() => true), Promise.resolve(closing).then(() => false)])
}

test('a full server closes the connection that has been idle longest, and no other', async (t) => {
  const { app } = await startTestApp(t, { listen: { connections: { connections: 3, unreadMs: 60_000 } } })
  const longest = await dial(t, app.url)
  assert.equal(await isServed(longest), true)
  const shorter = await dial(t, app.url)
  assert.equal(await isServed(shorter), true)
  const third = await dial(t, app.url)
  assert.equal(await isServed(third), true)
  assert.equal(await isServed(await dial(t, app.url)), true)
  await until(() => longest.destroyed)
  assert.equal(await isServed(shorter), true)
})

test('a full server does not close a new connection, nor one within its headers', async (t) => {
  const { app, logLines } = await startTestApp(t, {
    listen: { connections: { connections: 3, unreadMs: 60_000 } },
  })
  const [fresh, first, again] = [await dial(t, app.url), await dial(t, app.url), await dial(t, app.url)]
  first.write(GET.slice(0, 20))
  assert.equal(await isServed(again), true)
  again.write(GET.slice(0, 20))
  for (const half of [first, again]) await untilRead(half)
  for (const _ of [1, 2]) assert.equal(await isServed(await dial(t, app.url)), false)
  assert.equal(await isServed(fresh), true)
  for (const half of [first, again]) assert.equal(await isServed(half, GET.slice(20)), true)
  assert.equal(await isServed(await dial(t, app.url)), true, 'there was room again')
  const warnings = logLines.join('').match(/.*too many connections.*/g)
  assert.equal(warnings?.length, 1)
  assert.match(warnings[0] ?? '', /"level":"warn".*"limit":3,"client":"127.0.0.1","refused":1/)
})

test('a client has at most a quarter of the connections, unless the address is shared', async (t) => {
  const serve = async (isShared: boolean) => {
    const warned: string[] = []
    const server = await openListener(
      {
        host: '127.0.0.1',
        port: 0,
        selectErrorShape: () => RATES_ERRORS,
        connections: limitConnections({
          log: { warn: (event) => warned.push(event) },
          limits: { connections: 8, unreadMs: 60_000 },
          isShared: (address) => address === '127.0.0.1' && isShared,
        }),
      },
      (_, res) => res.end('x'),
      () => 'id',
    )
    t.after(() => server.close())
    const results: boolean[] = []
    for (let at = 0; at < 4; at += 1) results.push(await isServed(await dial(t, server.url)))
    return { served: results, warned }
  }
  assert.deepEqual(await serve(true), { served: [true, true, true, true], warned: [] })
  const alone = await serve(false)
  assert.deepEqual(alone.served, [true, true, false, false])
  assert.deepEqual(alone.warned, ['too many connections of one client'])
})

test('a client that does not read its answers is cut off', async (t) => {
  const { app } = await startTestApp(t, { listen: { connections: { connections: 10, unreadMs: 300 } } })
  const deaf = await dial(t, app.url)
  deaf.pause()
  const end = await serverEnd(deaf)
  deaf.write('GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(600))
  await until(() => end.destroyed)
  const closing = once(deaf, 'close')
  deaf.resume()
  await closing // the client reads the rest of what was sent, and the end
})

async function openSlowServer(t: TestContext) {
  const order: string[] = []
  const open: ServerResponse[] = []
  const server = await openListener(
    {
      ...{ host: '127.0.0.1', port: 0, selectErrorShape: () => RATES_ERRORS },
      connections: limitConnections({ log: { warn() {} }, isShared: () => true }),
    },
    (req, res) => {
      order.push(req.url ?? '')
      open.push(res)
    },
    () => 'id',
  )
  t.after(() => server.close())
  return { url: server.url, order, open }
}

test('the 33rd request of a connection waits for an answer', async (t) => {
  const { url, order, open } = await openSlowServer(t)
  const socket = await dial(t, url)
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  const paths = Array.from({ length: 600 }, (_, at) => `/${at}`)
  for (const path of paths)
    socket.write(`POST ${path} HTTP/1.1\r\nContent-Length: 800\r\n\r\n${'x'.repeat(800)}`)
  await until(() => open.length === 32)
  await untilRead(socket)
  assert.equal(open.length, 32)
  while (order.length < paths.length || open.length > 0) {
    assert.ok(open.length <= 32)
    open.shift()?.end('x')
    await setImmediate()
  }
  assert.deepEqual(order, paths)
  await until(() => received.split('HTTP/1.1 200').length - 1 === paths.length)
})

test('a connection is closed whose waiting requests are more than 1000, or more than 1 MiB', async (t) => {
  const { url, open } = await openSlowServer(t)
  for (const [count, size] of [
    [1100, 1],
    [200, 8000],
  ] as const) {
    const socket = await dial(t, url)
    let isClosed = false
    socket
      .on('error', () => {})
      .on('close', () => {
        isClosed = true
      })
    const request = `POST / HTTP/1.1\r\nContent-Length: ${size}\r\n\r\n${'x'.repeat(size)}`
    socket.write(request.repeat(count))
    await until(() => isClosed)
  }
  assert.equal(open.length, 64)
})

test('the end of a client is noticed while its requests wait', async (t) => {
  const { url, open } = await openSlowServer(t)
  const socket = await dial(t, url)
  socket.write('GET / HTTP/1.1\r\n\r\n'.repeat(40))
  await until(() => open.length === 32)
  let closeCount = 0
  for (const res of open) res.on('close', () => closeCount++)
  socket.resetAndDestroy()
  await until(() => closeCount > 0)
  assert.equal(open.length, 32)
})

test('an idle connection retains no memory of an answered request', async (t) => {
  const { app } = await startTestApp(t)
  const answers = () => queryObjects(ServerResponse, { format: 'count' }) // counted after a garbage collection
  const before = answers()
  for (let at = 0; at < 10; at += 1) assert.equal(await isServed(await dial(t, app.url)), true)
  await until(() => answers() <= before) // an answer is free some time after its end
})
