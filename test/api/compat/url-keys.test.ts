// Paths below /k/KEY/ are those that accept a key in the URL. The rest of the server is a 404 there, whatever
// other credentials are sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes.ts'
import { exchangeRaw } from '../../support/raw-requests.ts'
import { readAllPaths } from '../openapi/description.ts'
import { addKey } from './asmx.ts'
import { ask, openShapes } from './support.ts'

const KEY = 'cbk_in_the_path'
const app = await openShapes({
  listen: { metrics: 'local', compat: { open: undefined, serveRounded: false } },
})
await addKey(app, { secret: KEY, kind: 'url' })

const { paths } = await readAllPaths(app.app.url)
const TABLES = ['/rates', '/convert', '/series/{series_id}/history', '/history']
const READS = [
  '/rates/latest',
  ...TABLES.flatMap((path) => ['', '.csv', '.ndjson'].map((form) => path + form)),
]
const INDICATORS = [
  '/indicators/{code}/latest',
  ...['/indicators', '/indicators/{code}/history', '/ventanilla'].flatMap((path) =>
    ['', '.csv', '.ndjson'].map((form) => path + form),
  ),
]
const OPEN = [...READS, '/history.ledger', '/history.beancount', ...INDICATORS].map(
  (path) => `/api/v1${path}`,
)

test('the routes that accept a key in the URL are those of this list', () => {
  const routes = Object.entries(ROUTES).filter(([, [permission]]) => permission === 'url-key')
  assert.deepEqual(routes.map(([route]) => route).sort(), OPEN.map((path) => `GET ${path}`).sort())
})

const examplePath = (path: string) => path.replace(/\{\w*id\}/, '1').replace(/\{\w+\}/g, 'x')

test('below /k/KEY/ every endpoint is a 404, but those that read rates or indicators, and the compat APIs', async () => {
  let refused = 0
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags }] of Object.entries(methods)) {
      if (tags.includes('Compatibility') && path.startsWith('/compat/')) continue
      const isOpen = method === 'get' && OPEN.includes(path)
      const response = await fetch(`${app.app.url}/k/${KEY}${examplePath(path)}`, {
        method: method.toUpperCase(),
        headers: { 'x-api-key': app.key, authorization: `Bearer ${app.key}` },
      })
      const text = await response.text()
      assert.ok(!text.includes(KEY), path)
      if (isOpen) assert.ok(response.status !== 404 || /There is no indicator x/.test(text), path)
      else {
        refused += 1
        assert.equal(response.status, 404, `${method} ${path}: ${text.slice(0, 100)}`)
      }
    }
  }
  assert.ok(refused > 30, `${refused} endpoints`)
  assert.deepEqual(
    OPEN.filter((path) => !(path in paths)),
    [],
  )
})

test('below /k/KEY/ undescribed paths are a 404 too', async () => {
  const headers = { 'x-api-key': app.key, accept: 'text/html' }
  for (const path of [
    '/',
    '/docs',
    '/docs/reference',
    '/metrics',
    '/mcp',
    '/session',
    '/openapi.json',
    '/healthz',
    '/favicon.svg',
  ]) {
    assert.equal((await ask(app, `/k/${KEY}${path}`, headers))[0], 404, path)
  }
})

test('a path of dots does not lead out of a compat API', async () => {
  for (const path of [
    '/v1/../metrics',
    '/v1/%2e%2e/%2E%2e/%2e./metrics',
    '/v1\\..\\..\\..\\metrics',
    '/compat/hacienda/../../metrics',
    '/api/v1/rates/../health',
    '/k/x/v1/latest',
  ]) {
    const request = `GET /k/${KEY}${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${app.key}\r\nConnection: close\r\n\r\n`
    const [answer] = await exchangeRaw(Number(new URL(app.app.url).port), request)
    assert.equal(answer?.status, 404, `${path}: ${answer?.body}`)
  }
})

test('below /k/KEY/ each compat API, the spreadsheet and the four endpoints of rates are served', async () => {
  for (const path of [
    '/v1/latest?base=USD',
    '/v2/rates?base=USD',
    '/compat/frankfurter/v1/latest?base=USD',
    '/compat/valor?de=USD',
    '/indicadores/tc',
    '/live',
    '/api/latest.json',
    '/api/v1/rates/latest',
    '/api/v1/rates.csv',
    '/api/v1/convert?amount=1&from=USD&to=CRC',
    '/api/v1/series/1/history.ndjson',
    '/api/v1/history?base=EUR&quote=CRC',
  ]) {
    const [status, body] = await ask(app, `/k/${KEY}${path}`)
    assert.equal(status, 200, `${path}: ${body.slice(0, 200)}`)
  }
})
