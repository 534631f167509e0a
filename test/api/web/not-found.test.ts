// The 404 of a wrong address: HTML for a browser, JSON for programs.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { openApp, send } from '../support.ts'

const { app } = await openApp({ listen: { compat: { open: undefined, serveRounded: false } } })
const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const get = (path: string, headers: Record<string, string> = BROWSER, method = 'GET') =>
  send(app.url + path, { headers, method })

test('a browser gets a page without a script, which links to the screens', async () => {
  for (const path of ['/tipo-cambio', '/index.php', '/apis', '/kk', '/rates/']) {
    const { status, headers, body } = await get(path)
    assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'], path)
    assert.match(body, /<html lang="es">[\s\S]*<h1>Esta página no existe<\/h1>/)
    const hrefs = [...body.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href)
    const screens = hrefs.map((href) => new URL(href, `http://host/below${path}`).href)
    assert.deepEqual(
      screens,
      ['#rates', '#documents', '#status'].map((screen) => `http://host/below/${screen}`),
    )
    assert.doesNotMatch(body, /<script|style=|\son\w+=/)
    assert.ok(!body.includes(path.slice(1)) || path === '/rates/', 'the path may contain a key')
    assert.equal(headers['cache-control'], 'no-store')
  }
})

test('the policy of the page allows its own style alone', async () => {
  const { headers, body } = await get('/nothing')
  const [, style = ''] = /<style>([\s\S]*)<\/style>/.exec(body) ?? []
  const hash = createHash('sha256').update(style).digest('base64')
  assert.equal(
    headers['content-security-policy'],
    `default-src 'none'; style-src 'sha256-${hash}'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'`,
  )
})

test('the page is in the language of the browser', async () => {
  const english = await get('/nothing', { ...BROWSER, 'accept-language': 'en-US,en;q=0.9' })
  assert.match(english.body, /<html lang="en">[\s\S]*This page does not exist/)
  const spanish = await get('/nothing', { ...BROWSER, 'accept-language': 'en;q=0.5,es-CR' })
  assert.match(spanish.body, /<html lang="es">/)
})

test('programs, other methods, APIs, shapes, keys and files get JSON', async () => {
  const json = async (...words: Parameters<typeof get>) => {
    const { status, headers } = await get(...words)
    assert.equal(status, 404, words[0])
    assert.doesNotMatch(String(headers['content-type']), /html/, words[0])
  }
  for (const accept of ['*/*', 'application/json', 'text/html;q=0', '']) await json('/nothing', { accept })
  await json('/nothing', BROWSER, 'POST')
  for (const path of [
    '/api/v1/nothing',
    '/api/nothing',
    '/compat/nothing',
    '/k/cbk_x',
    '/page/nothing.js',
    '/t/x/y',
  ]) {
    await json(path)
  }
  const head = await get('/nothing', BROWSER, 'HEAD')
  assert.deepEqual([head.status, head.body], [404, ''])
})
