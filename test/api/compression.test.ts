import assert from 'node:assert/strict'
import { before, type TestContext, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { startTestApp, type TestApp } from '../support/app.ts'
import { send } from './support.ts'

const HISTORY = '/api/v1/series/2/history?from=2026-01-01'

let app: TestApp
before(async (t) => {
  app = await startTestApp(t as TestContext)
  await app.sync()
})

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  send(app.app.url + path, { method, headers: { 'x-api-key': app.key, ...headers } })

test('a long answer is compressed for clients that accept it, with the same content', async () => {
  for (const path of [HISTORY, '/api/v1/rates', '/api/v1/series']) {
    const plain = await ask(path)
    assert.equal(plain.headers['content-encoding'], undefined)
    for (let time = 0; time < 2; time += 1) {
      const packed = await ask(path, { 'accept-encoding': 'br, gzip;q=0.5' })
      assert.equal(packed.headers['content-encoding'], 'gzip')
      assert.equal(Number(packed.headers['content-length']), packed.bytes.length)
      assert.ok(packed.bytes.length < plain.bytes.length / 2)
      assert.deepEqual(gunzipSync(packed.bytes), plain.bytes)
      assert.notEqual(packed.headers.etag, plain.headers.etag)
      assert.equal(packed.headers.vary, 'Accept, Accept-Encoding')
    }
  }
})

for (const accepted of ['identity', 'br', 'gzip;q=0', 'gzip; q=0.000', 'xgzip', '']) {
  test(`Accept-Encoding "${accepted}" gets the plain answer`, async () => {
    const answer = await ask(HISTORY, { 'accept-encoding': accepted })
    assert.equal(answer.headers['content-encoding'], undefined)
  })
}

test('a short answer is not compressed', async () => {
  const answer = await ask('/api/v1/rates/latest', { 'accept-encoding': 'gzip' })
  assert.equal(answer.headers['content-encoding'], undefined)
})

test('both the plain and the compressed ETag give 304', async () => {
  for (const coding of ['gzip', 'identity']) {
    const { headers } = await ask(HISTORY, { 'accept-encoding': coding })
    const again = await ask(HISTORY, { 'if-none-match': String(headers.etag), 'accept-encoding': 'gzip' })
    assert.equal(again.status, 304)
    assert.equal(again.headers.etag, headers.etag)
    assert.equal(again.bytes.length, 0)
  }
})

test('HEAD has the length of the compressed answer', async () => {
  const get = await ask(HISTORY, { 'accept-encoding': 'gzip' })
  const head = await ask(HISTORY, { 'accept-encoding': 'gzip' }, 'HEAD')
  assert.equal(head.headers['content-length'], get.headers['content-length'])
  assert.equal(head.headers['content-encoding'], 'gzip')
  assert.equal(head.bytes.length, 0)
})

test('a history has the published values, whatever range is requested', async () => {
  const all = JSON.parse(String((await ask(HISTORY)).bytes)) as { points: { rate_date: string }[] }
  for (const [from, to] of [
    ['2026-01-01', '2026-03-24'],
    ['2026-02-10', '2026-02-10'],
    ['2026-02-27', '2026-03-03'],
    ['2025-01-01', '2025-02-01'],
  ] as const) {
    const part = JSON.parse(String((await ask(`/api/v1/series/2/history?from=${from}&to=${to}`)).bytes))
    const expected = all.points.filter(({ rate_date }) => rate_date >= from && rate_date <= to)
    assert.deepEqual([part.points, part.count], [expected, expected.length])
  }
})
