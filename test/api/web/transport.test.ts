// Transport of sessions: TLS of the server itself, plain HTTP on the machine alone.

import assert from 'node:assert/strict'
import { chmodSync, copyFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startTestApp, temporaryDirectory } from '../../support/app.ts'
import { exchange } from '../support.ts'
import { ask, openBrowser, readDetail, signIn } from './support.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/tls')

function tlsFiles(t: TestContext) {
  const dir = temporaryDirectory(t)
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  copyFileSync(join(FIXTURES, 'first.crt'), files.cert)
  copyFileSync(join(FIXTURES, 'first.key'), files.key)
  chmodSync(files.key, 0o600)
  return files
}

test('over TLS the cookie is Secure, for this host alone', async (t) => {
  const app = await startTestApp(t, { listen: { tls: [tlsFiles(t)] } })
  const { url } = app.app
  const response = await ask(`${url}/session`, { json: { secret: app.key }, headers: { origin: url } })
  assert.equal(response.status, 200, response.body)
  assert.match(
    String(response.headers['set-cookie']),
    /^__Host-cambista=[\w-]{32}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
  )
  const browser = openBrowser(url, response)
  assert.equal((await browser.ask('/api/v1/rates')).status, 200)
  const port = new URL(url).port
  const renamed = { cookie: browser.cookie.replace('__Host-cambista', `cambista-${port}`) }
  assert.equal((await browser.ask('/api/v1/rates', { headers: renamed })).status, 401)
  const plainPage = { origin: url.replace('https:', 'http:') }
  assert.equal((await browser.ask('/api/v1/rates', { headers: plainPage })).status, 403)
  // TLS is known without a proxy, and forwarding headers do not change that.
  const forwarded = { 'x-forwarded-for': '203.0.113.7' }
  assert.equal((await browser.ask('/api/v1/rates', { headers: forwarded })).status, 200)
})

test('over plain HTTP from another address of the machine sign-in is rejected', async (t) => {
  const app = await startTestApp(t, { listen: { host: '0.0.0.0' } })
  const { port } = new URL(app.app.url)
  const here = `http://127.0.0.1:${port}`
  const browser = await signIn(here, app.key)
  const others = Object.values(networkInterfaces()).flatMap((one = []) =>
    one.filter(({ internal, family }) => !internal && family === 'IPv4'),
  )
  for (const { address } of others) {
    const answer = await ask(`http://${address}:${port}/session`, { json: { secret: app.key } })
    assert.equal(answer.status, 403, address)
    assert.match(readDetail(answer), /cambista cert create --host NAME/)
    const rates = await ask(`http://${address}:${port}/api/v1/rates`, { headers: browser.halves() })
    assert.equal(rates.status, 403)
    const withKey = await ask(`http://${address}:${port}/api/v1/rates`, { headers: { 'x-api-key': app.key } })
    assert.equal(withKey.status, 200)
  }
  // A proxy without any forwarding header uses HTTP/1.0, as nginx does by default.
  const body = JSON.stringify({ secret: app.key })
  const head = 'Host: localhost\r\nContent-Type: application/json\r\n'
  const proxied = await exchange(
    here,
    `POST /session HTTP/1.0\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  assert.equal(proxied.status, 403)
  const direct = await exchange(
    here,
    `POST /session HTTP/1.1\r\nConnection: close\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  assert.equal(direct.status, 200)
})
