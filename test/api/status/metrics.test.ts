// Access to the metrics.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { isLocal } from '../../../src/http/listener/proxy.ts'
import { VERSION } from '../../../src/runtime/assets.ts'
import { startTestApp } from '../../support/app.ts'
import { type Answer, ENDPOINTS, exchange, openApp, send } from '../support.ts'

const off = await openApp()
const on = await openApp({ listen: { metrics: 'local', corsOrigins: ['*'] } })
const alone = await openApp({ listen: { metrics: { host: '127.0.0.1', port: 0 } } })
const ALONE = new URL(alone.app.metricsUrl ?? '').origin

function sameButId(got: Answer, expected: Answer): void {
  const bare = ({ status, headers, body }: Answer) => {
    const { date: _, 'x-request-id': __, ...rest } = headers
    return { status, headers: rest, body }
  }
  assert.deepEqual(bare(got), bare(expected))
}

test('without settings /metrics is a 404 like any unknown path', async () => {
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS', 'PROPFIND']) {
    for (const headers of [{}, { 'X-API-Key': off.key }]) {
      const [got, expected] = [
        await send(`${off.app.url}/metrics`, { method, headers }),
        await send(`${off.app.url}/nothing`, { method, headers }),
      ]
      assert.equal(got.status, 404)
      sameButId(got, expected)
    }
  }
  assert.equal(off.app.metricsUrl, undefined)
})

test('on this machine metrics are read without a key, in the text format of Prometheus', async () => {
  const { status, headers, body } = await send(`${on.app.url}/metrics`)
  assert.equal(status, 200)
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-store')
  const sample = /^[a-z_][a-z_\d]*(\{([a-z_]+="[^"\\\n]*",?)+\})? (-?[\d.e+-]+|\+Inf|Nan)$/
  for (const line of body.split('\n')) {
    if (line !== '' && !line.startsWith('# ')) assert.match(line, sample)
  }
  const metricNames = [...body.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
  assert.equal(new Set(metricNames).size, metricNames.length)
  for (const name of [
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
    'cambista_rates',
  ]) {
    assert.ok(metricNames.includes(name), name)
  }
  assert.ok(body.includes(`cambista_build_info{version="${VERSION}"} 1\n`))
})

test('/metrics answers HEAD, rejects other methods, and is no part of the API', async () => {
  const head = await send(`${on.app.url}/metrics`, { method: 'HEAD' })
  assert.deepEqual([head.status, head.body], [200, ''])
  for (const method of ['POST', 'DELETE', 'OPTIONS']) {
    const { status, headers } = await send(`${on.app.url}/metrics`, { method })
    assert.deepEqual([status, headers.allow], [405, 'GET, HEAD'], method)
  }
  assert.equal((await send(`${on.app.url}/openapi.json`)).body.includes('/metrics'), false)
})

const forwarded = [
  { Forwarded: 'for=127.0.0.1' },
  { 'X-Forwarded-For': '127.0.0.1' },
  { 'X-Forwarded-For': '' },
  { 'X-Real-IP': '127.0.0.1' },
  { Via: '1.1 caddy' },
  { 'X-Forwarded-Proto': 'https' },
  { 'X-Forwarded-Host': 'a' },
]
for (const headers of forwarded) {
  test(`/metrics is rejected through a proxy that sends ${Object.keys(headers)}`, async () => {
    const [got, expected] = [
      await send(`${on.app.url}/metrics`, { headers }),
      await send(`${on.app.url}/nothing`, { headers }),
    ]
    assert.equal(got.status, 404)
    sameButId(got, expected)
  })
}

test('/metrics is rejected through an nginx without forwarding headers', async () => {
  const bytes = 'GET /metrics HTTP/1.0\r\nHost: cambista\r\nConnection: close\r\n\r\n'
  const { status, body } = await exchange(on.app.url, bytes)
  assert.deepEqual([status, body], [404, '{"detail":"Not found"}'])
})

test('/metrics is rejected for another machine', () => {
  const from = (remoteAddress: string | undefined) =>
    isLocal({ socket: { remoteAddress }, headers: {} } as unknown as IncomingMessage)
  for (const address of ['127.0.0.1', '127.8.8.8', '::1', '::ffff:127.0.0.1'])
    assert.equal(from(address), true)
  for (const address of ['10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1', '128.0.0.1', '', undefined]) {
    assert.equal(from(address), false, String(address))
  }
})

test('/metrics is closed to websites, whichever origins are allowed', async () => {
  const { headers } = await send(`${on.app.url}/metrics`, { headers: { Origin: 'https://a.example' } })
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('a port of its own has /metrics, and the main port does not', async () => {
  assert.match(alone.app.metricsUrl ?? '', /^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
  assert.equal((await send(`${ALONE}/metrics`, { headers: { Via: '1.1 x' } })).status, 200)
  assert.equal((await send(`${alone.app.url}/metrics`)).status, 404)
  for (const path of ['/', '/healthz', '/openapi.json', ...ENDPOINTS]) {
    const answer = await send(ALONE + path, { headers: { 'X-API-Key': alone.key } })
    assert.deepEqual([answer.status, answer.body], [404, '{"detail":"Not found"}'], path)
  }
  assert.equal((await send(`${ALONE}/metrics`, { method: 'POST' })).status, 405)
})

test('a port in use stops the start with a clear error, and the other port is released', async (t) => {
  const port = Number(new URL(ALONE).port)
  const listen = { port: 0, metrics: { host: '127.0.0.1', port } }
  await assert.rejects(startTestApp(t, { listen }), /cannot listen on 127\.0\.0\.1:\d+: the port is in use/)
})
