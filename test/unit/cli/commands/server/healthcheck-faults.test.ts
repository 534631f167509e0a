// `healthcheck`: errors of a server that cannot be reached, and --fresh with old rates.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp } from '../../../../support/app.ts'
import { runCommand } from '../../../../support/terminal.ts'

const FIXTURES = join(import.meta.dirname, '../../../../fixtures/tls')
const TLS = { cert: join(FIXTURES, 'first.crt'), key: join(FIXTURES, 'first.key') }
const PEM = { cert: readFileSync(TLS.cert), key: readFileSync(TLS.key) }

async function listen(t: TestContext, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  return String((server.address() as AddressInfo).port)
}

test('--fresh fails when a side of the dollar is stale, with its age', async (t) => {
  const { app, clock, sync } = await startTestApp(t, { now: '2026-01-01T12:00:00Z' })
  const { port } = new URL(app.url)
  const healthcheck = (...words: string[]) => runCommand(['healthcheck', '--port', port, ...words])
  const none = await healthcheck('--fresh')
  const faults = 'the dollar has no value of compra; the dollar has no value of venta'
  assert.deepEqual(none, { code: 1, out: '', err: `cambista: ${faults}\n` })
  assert.equal((await healthcheck()).code, 0, 'the server is ready nevertheless')

  await sync({ from: '2025-12-20', to: '2026-01-01' })
  const fresh = { code: 0, out: `http://127.0.0.1:${port} is ready, and the dollar is fresh\n`, err: '' }
  assert.deepEqual(await healthcheck('--fresh'), fresh)
  assert.deepEqual(await runCommand(['healthcheck', '--url', app.url, '--fresh']), fresh)
  clock.now = new Date('2026-03-22T12:00:00Z')
  const stale = await healthcheck('--fresh', '--wait', '0')
  const side = (name: string) => `the newest ${name} of the dollar is of 2026-01-01, 80 days ago`
  assert.deepEqual(stale, { code: 1, out: '', err: `cambista: ${side('compra')}; ${side('venta')}\n` })
})

test('the error of a self-signed certificate suggests --tls-cert, which trusts it', async (t) => {
  const { port } = new URL((await startTestApp(t, { listen: { tls: [TLS] } })).app.url)
  const words = ['healthcheck', '--url', `https://127.0.0.1:${port}`]
  const strict = await runCommand(words)
  const why = 'its certificate is self-signed: trust a copy of it with --tls-cert FILE'
  const err = `cambista: https://127.0.0.1:${port}/readyz cannot be reached: ${why}\n`
  assert.deepEqual(strict, { code: 1, out: '', err })
  assert.equal((await runCommand([...words, '--tls-cert', TLS.cert])).code, 0)
  const other = await runCommand([...words, '--tls-cert', join(FIXTURES, 'second.crt')])
  assert.equal(other.err, err)
  const missing = await runCommand([...words, '--tls-cert', '/nowhere.pem'])
  assert.match(missing.err, /^cambista: cannot read the certificate to trust: ENOENT/)
})

test('the error of a certificate for another host has its hosts', async (t) => {
  const { port } = new URL((await startTestApp(t, { listen: { tls: [TLS], host: '127.0.0.2' } })).app.url)
  const words = ['healthcheck', '--url', `https://127.0.0.2:${port}`, '--tls-cert', TLS.cert]
  assert.match(
    (await runCommand(words)).err,
    /cannot be reached: .*127\.0\.0\.2 is not in the cert's list: 127\.0\.0\.1/,
  )
})

test('the error of a port with the other protocol has the right URL', async (t) => {
  const ourApps = { https: await startTestApp(t, { listen: { tls: [TLS] } }), http: await startTestApp(t) }
  const otherPorts = {
    https: await listen(
      t,
      createHttpsServer(PEM, (_, answer) => answer.end()),
    ),
    http: await listen(
      t,
      createHttpServer((_, answer) => answer.end()),
    ),
  }
  for (const port of [new URL(ourApps.https.app.url).port, otherPorts.https]) {
    const where = `http://127.0.0.1:${port}/readyz cannot be reached`
    const why = `the port speaks HTTPS: ask https://127.0.0.1:${port}`
    const expected = { code: 1, out: '', err: `cambista: ${where}: ${why}\n` }
    assert.deepEqual(await runCommand(['healthcheck', '--port', port]), expected)
    assert.deepEqual(await runCommand(['healthcheck', '--url', `http://127.0.0.1:${port}`]), expected)
  }
  for (const port of [new URL(ourApps.http.app.url).port, otherPorts.http]) {
    const where = `https://127.0.0.1:${port}/readyz cannot be reached`
    const why = `the port speaks HTTP, without TLS: ask http://127.0.0.1:${port}`
    const expected = { code: 1, out: '', err: `cambista: ${where}: ${why}\n` }
    assert.deepEqual(await runCommand(['healthcheck', '--port', port, '--tls-cert', TLS.cert]), expected)
    assert.deepEqual(await runCommand(['healthcheck', '--url', `https://127.0.0.1:${port}`]), expected)
  }
})

test('an HTTPS port that answers 400 to plain HTTP is reported as HTTPS', async (t) => {
  // As nginx, which accepts both protocols on one port.
  const plain = createHttpServer((_, answer) => answer.writeHead(400).end('sent to HTTPS port'))
  const secure = createHttpsServer(PEM, (_, answer) => answer.end())
  const both = createServer((socket) =>
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null
      if (first) socket.unshift(first)
      ;(first?.[0] === 22 ? secure : plain).emit('connection', socket)
    }),
  )
  const port = await listen(t, both)
  const end = await runCommand(['healthcheck', '--port', port])
  assert.match(end.err, /the port speaks HTTPS: ask https:/)
})

test('--host accepts an IPv6 address in brackets', async (t) => {
  const { app } = await startTestApp(t, { listen: { host: '::1' } })
  const { port } = new URL(app.url)
  for (const host of ['[::1]', '::1', '[::]']) {
    const end = await runCommand(['healthcheck', '--host', host, '--port', port])
    assert.deepEqual(end, { code: 0, out: `http://[::1]:${port} is ready\n`, err: '' })
  }
})
