// Guides and reference at /docs as a browser requests them. A test in a browser covers Scalar itself.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openApp, send } from '../support.ts'

const ROOT = join(import.meta.dirname, '../../..')
const { app } = await openApp()
const PAGES = ['/docs', '/docs/es', '/docs/reference', '/docs/es/reference']
const COMMON =
  "img-src 'self' blob: data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

for (const path of PAGES) {
  test(`${path} allows its own scripts alone, and no other server`, async () => {
    const isReference = path.endsWith('/reference')
    const { status, headers, body } = await send(app.url + path)
    assert.equal(status, 200)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    const start = "default-src 'none'; script-src 'self'; style-src 'self'"
    assert.equal(
      headers['content-security-policy'],
      isReference
        ? `${start} 'unsafe-inline'; ${COMMON}`
        : `${start}; ${COMMON}; require-trusted-types-for 'script'; trusted-types 'none'`,
    )
    assert.doesNotMatch(body, /<style|style=|<script>|\son\w+=/)
    // Only text names a host: the address of a server on this machine.
    const hosts = body.match(/.{6}https?:\/\/[\w.-]+/g) ?? []
    const local = isReference ? [] : ['A_URL=http://127.0.0.1', '--url http://127.0.0.1']
    assert.deepEqual(hosts, local)
    const links = [...body.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link = '']) => link)
    assert.deepEqual(
      links.filter((link) => !/^(\.{1,2}\/|#|data:,$)/.test(link)),
      [],
    )
  })
}

test('the files of the reference are served: Scalar, and its settings', async () => {
  const { body } = await send(`${app.url}/docs/reference`)
  const files = [...body.matchAll(/src="\.\.(\/page\/[^"]+)"/g)].map(([, path = '']) => path)
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
