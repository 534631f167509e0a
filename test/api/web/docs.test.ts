// The reference at /docs as a browser requests it. A test in a browser covers Scalar itself.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openApp, send } from '../support.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { app } = await openApp()
const docs = await send(`${app.url}/docs`)

test('/docs allows its own scripts alone, and no other server', () => {
  assert.equal(docs.status, 200)
  assert.equal(docs.headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(
    docs.headers['content-security-policy'],
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; " +
      "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  )
  assert.doesNotMatch(docs.body, /<style|style=|<script>|\son\w+=|https?:\/\//)
})

test('the two files of /docs are served: Scalar, and its settings', async () => {
  const files = [...docs.body.matchAll(/src="(\/page\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.deepEqual(
    files.map((path) => path.replace(/-\w{8}\./, '.')),
    ['/page/reference.js', '/page/docs.js'],
  )
  const [reference, setUp] = await Promise.all(files.map((path) => send(app.url + path)))
  assert.ok((reference?.bytes.length ?? 0) > 1_000_000)
  for (const lock of ['telemetry:!1', 'withDefaultFonts:!1', 'proxyUrl:""', 'persistAuth:!1']) {
    assert.ok(setUp?.body.includes(lock), lock)
  }
})

test('the notices belong to the version of Scalar that is served', () => {
  const locked = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')).packages
  const { version } = locked['node_modules/@scalar/fastify-api-reference']
  const notices = readFileSync(join(ROOT, 'src/web/reference-notices.txt'), 'utf8')
  assert.ok(notices.includes(` @scalar/fastify-api-reference ${version} `))
})
