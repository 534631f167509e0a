// Below /k/<key>/ there is what reads a key in its URL, and nothing else of the server, whatever credentials come with it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exchangeRaw } from '../../support/raw-requests.ts'
import { addKey } from './asmx.ts'
import { ask, openShapes } from './support.ts'

const KEY = 'cbk_in_the_path'
const app = await openShapes({
  listen: { metrics: 'local', compat: { open: undefined, serveRounded: false } },
})
await addKey(app, { secret: KEY, kind: 'url' })

type Description = { paths: Record<string, Record<string, { tags: string[] }>> }
const { paths } = await app.json<Description>('/openapi.json')
const TABLES = ['/rates', '/convert', '/series/{series_id}/history', '/history']
const READS = [
  '/rates/latest',
  ...TABLES.flatMap((path) => ['', '.csv', '.ndjson'].map((form) => path + form)),
]
const OPEN = READS.map((path) => `/api/v1${path}`)

const filled = (path: string) => path.replace(/\{\w*id\}/, '1').replace(/\{\w+\}/g, 'x')

test('every endpoint of the server is nothing there, but the four reading routes and the shapes', async () => {
  let refused = 0
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { tags }] of Object.entries(methods)) {
      if (tags.includes('Compatibility') && path.startsWith('/compat/')) continue
      const isOpen = method === 'get' && OPEN.includes(path)
      const response = await fetch(`${app.app.url}/k/${KEY}${filled(path)}`, {
        method: method.toUpperCase(),
        headers: { 'x-api-key': app.key, authorization: `Bearer ${app.key}` },
      })
      const text = await response.text()
      assert.ok(!text.includes(KEY), path)
      if (isOpen) assert.notEqual(response.status, 404, path)
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

test('what is in no description is nothing there either', async () => {
  const headers = { 'x-api-key': app.key, accept: 'text/html' }
  for (const path of [
    '/',
    '/docs',
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

test('a path of dots does not lead out of a shape', async () => {
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

test('each shape, the spreadsheet and the four reading routes are there', async () => {
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
