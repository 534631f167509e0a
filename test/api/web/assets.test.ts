// The page and its files as a browser requests them. test/unit/web has the tests of their content.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startTestApp } from '../../support/app.ts'
import { openApp, send } from '../support.ts'

const { app } = await openApp()
const page = await send(`${app.url}/`)
const FILES = [...page.body.matchAll(/(?:src|href)="(page\/[^"]+)"/g)].map(([, path = '']) => `/${path}`)
const CONTENT_TYPES = [
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.png', 'image/png'],
  ['.webmanifest', 'application/manifest+json'],
] as const
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; " +
  "form-action 'none'; base-uri 'none'; frame-ancestors 'none'; manifest-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'"

test('/ has a policy that allows its own files alone', () => {
  assert.equal(page.status, 200)
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(page.headers['content-security-policy'], POLICY)
  assert.equal(page.headers['referrer-policy'], 'no-referrer')
  assert.equal(page.headers['cross-origin-opener-policy'], 'same-origin')
  assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin')
  assert.equal(page.headers['x-content-type-options'], 'nosniff')
  assert.doesNotMatch(page.body, /<style|style=|<script>|\son\w+=|https?:\/\/(?!www\.w3\.org\/2000\/svg)/)
})

test('each file of the page is served, cached for ever by its name', async () => {
  assert.deepEqual(FILES.map((path) => path.replace(/-[A-Za-z0-9]{8}\./, '.')).sort(), [
    '/page/boot.js',
    '/page/chunk.js',
    '/page/icon-180.png',
    '/page/manifest.webmanifest',
    '/page/style.css',
  ])
  for (const path of FILES) {
    const { status, headers } = await send(`${app.url}${path}`)
    assert.equal(status, 200)
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
    assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
    const [, type] = CONTENT_TYPES.find(([ending]) => path.endsWith(ending)) ?? []
    assert.equal(headers['content-type'], type)
  }
})

test('a file is compressed for clients that accept it, with the same content', async () => {
  for (const path of ['/', ...FILES]) {
    const plain = await send(`${app.url}${path}`)
    const packed = await send(`${app.url}${path}`, { headers: { 'accept-encoding': 'br, gzip' } })
    assert.equal(plain.headers['content-encoding'], undefined)
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.equal(packed.headers.vary, 'Accept-Encoding')
    assert.notEqual(packed.headers.etag, plain.headers.etag)
    assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
  }
})

test('a browser that has cached the page gets 304', async () => {
  assert.equal(page.headers['cache-control'], 'no-cache')
  const headers = { 'if-none-match': String(page.headers.etag) }
  const again = await send(`${app.url}/`, { headers })
  assert.deepEqual([again.status, again.body], [304, ''])
  assert.equal((await send(`${app.url}/`, { headers: { 'if-none-match': '"another"' } })).status, 200)
})

test('an unknown file of the page is a 404, as JSON', async () => {
  for (const path of [
    '/nothing',
    '/page',
    '/page/',
    '/page/app.js',
    '/page/page.html',
    '/page/..%2fpackage.json',
  ]) {
    const { status, headers, body } = await send(`${app.url}${path}`)
    assert.equal(status, 404, path)
    assert.match(headers['content-type'] ?? '', /^application\/json/)
    assert.deepEqual(JSON.parse(body), { detail: 'Not found' })
  }
  assert.equal((await send(`${app.url}/`, { method: 'POST' })).status, 405)
})

test('a host name that another site resolves to this machine is rejected', async () => {
  for (const path of ['/', FILES[0]]) {
    const { status } = await send(`${app.url}${path}`, { headers: { host: 'evil.example' } })
    assert.equal(status, 421)
  }
  assert.equal((await send(`${app.url}/`, { headers: { host: 'localhost' } })).status, 200)
})

test('no website may read the page, whichever origins are allowed', async (t) => {
  const open = await startTestApp(t, { listen: { corsOrigins: ['*'] } })
  const { headers } = await send(`${open.app.url}/`, { headers: { origin: 'https://example.com' } })
  assert.deepEqual(
    Object.keys(headers).filter((name) => name.startsWith('access-control')),
    [],
  )
})

test('an extra query of the address is ignored, and not repeated', async () => {
  for (const query of ['?apikey=cbk_a%ffb', '?utm_source=x', '?%00']) {
    const { status, body } = await send(`${app.url}/${query}`)
    assert.deepEqual([status, body], [200, page.body], query)
  }
})

test('the manifest opens the page above it and names icons that are served', async () => {
  const path = FILES.find((one) => one.endsWith('.webmanifest'))
  const { name, start_url, icons } = JSON.parse((await send(`${app.url}${path}`)).body)
  assert.deepEqual([name, start_url], ['cambista', '../'])
  const facts = icons.map(({ sizes, purpose }: { sizes: string; purpose: string }) => `${sizes} ${purpose}`)
  assert.deepEqual(facts, ['192x192 any', '192x192 maskable', '512x512 any', '512x512 maskable'])
  for (const { src, sizes } of icons) {
    const { status, headers, bytes } = await send(new URL(src, `${app.url}${path}`).href)
    assert.deepEqual([status, headers['content-type']], [200, 'image/png'])
    assert.equal(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, sizes)
  }
})
