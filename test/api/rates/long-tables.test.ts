// Long tables, sent in parts, with the ETag and the compression of other answers (decisions#csv).

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { openApp, send } from '../support.ts'

const app = await openApp({ backfillFrom: '2023-03-01' })
await app.sync()
const QUERY = '?base=EUR&quote=CRC&from=2023-03-01'
const PATHS = [`/api/v1/history.csv${QUERY}`, `/api/v1/history.ndjson${QUERY}`]

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(app.app.url + path, { method, headers: { 'x-api-key': app.key, ...headers } })

test('a long table has all rows of the JSON', async () => {
  const { points } = await app.json<{ points: object[] }>(`/api/v1/history${QUERY}`)
  const [csv, ndjson] = await Promise.all(PATHS.map((path) => ask(path)))
  const rows = String(ndjson?.bytes).trimEnd().split('\n')
  assert.deepEqual(
    rows.map((row) => JSON.parse(row)),
    points,
  )
  assert.equal(String(csv?.bytes).split('\n').length, points.length + 2)
})

for (const path of PATHS) {
  test(`${path} is sent in parts, and is the same each time`, async () => {
    const plain = await ask(path)
    assert.ok(plain.bytes.length > 32 * 1024)
    assert.equal(plain.headers['content-length'], undefined)
    assert.equal(plain.headers['content-encoding'], undefined)
    const packed = await ask(path, { 'accept-encoding': 'gzip' })
    assert.equal(packed.headers['content-encoding'], 'gzip')
    assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
    assert.deepEqual((await ask(path, { 'accept-encoding': 'gzip' })).bytes, packed.bytes)
    assert.notEqual(packed.headers.etag, plain.headers.etag)
    assert.equal(packed.headers.vary, 'Accept, Accept-Encoding')
    for (const { headers } of [plain, packed]) {
      const revalidation = await ask(path, { 'if-none-match': String(headers.etag) })
      assert.deepEqual(
        [revalidation.status, revalidation.headers.etag, revalidation.bytes.length],
        [304, headers.etag, 0],
      )
    }
    assert.equal((await ask(path, { 'if-none-match': '*' })).status, 304)
  })

  test(`HEAD of ${path} has the headers, without a length`, async () => {
    const plain = await ask(path)
    const head = await ask(path, {}, 'HEAD')
    assert.deepEqual([head.status, head.bytes.length], [200, 0])
    for (const name of ['etag', 'content-type', 'vary', 'content-length']) {
      assert.equal(head.headers[name], plain.headers[name], name)
    }
  })
}

test('a short table has a length', async () => {
  const short = await ask('/api/v1/history.csv?base=EUR&quote=CRC&from=2026-03-01')
  assert.equal(Number(short.headers['content-length']), short.bytes.length)
})

test('clients that do not read, or disconnect, delay no other client', async () => {
  const request = `GET ${PATHS[1]} HTTP/1.1\r\nHost: a\r\nX-API-Key: ${app.key}\r\n\r\n`
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(Number(new URL(app.app.url).port), '127.0.0.1', () =>
      socket.write(request.repeat(20)),
    )
    return socket
  })
  await Promise.all(sockets.map((socket) => once(socket, 'readable'))) // the rest is not read
  assert.equal((await ask(PATHS[1] ?? '')).status, 200)
  for (const socket of sockets) socket.destroy()
  assert.equal((await ask(PATHS[0] ?? '')).status, 200)
})
